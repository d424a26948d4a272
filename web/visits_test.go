package web

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestVisitsAreAskedFor: by whoever has the token, in the address or in a form, for some pages at a time.
func TestVisitsAreAskedFor(t *testing.T) {
	t.Parallel()
	base := startWith(t, shelf{}) + "/v1/visits"
	many := strings.Repeat("&url=http://h/", mostVisits)
	for name, test := range map[string]struct {
		query, kind, body string
		status            int
		says              string
	}{
		"in the address":     {"?url=http://h/a&url=http://h/b", "", "", 200, "http://h/b"},
		"in a form":          {"", form, url.Values{"url": {"http://h/?a&b", "http://h/c"}}.Encode(), 200, "http://h/c"},
		"in both":            {"?url=http://h/a", form, "url=http://h/b", 200, "http://h/a"},
		"as many as may be":  {"?" + many[1:], "", "", 200, "http://h/"},
		"too many":           {"?url=x" + many, "", "", 400, "101 pages are too many at once: at most 100"},
		"none":               {"", "", "", 400, "url is missing"},
		"as JSON":            {"", "application/json", `{"url": "http://h/"}`, 400, "in a form"},
		"something else":     {"?url=x&site=docs", "", "", 400, `there is no parameter "site"`},
		"a form that is not": {"", form, "url=%zz", 400, "the parameters are no such"},
		"far too long":       {"", form, "url=" + strings.Repeat("x", mostVisitsBody), 400, "the parameters are no such"},
	} {
		status, body := post(t, base+test.query, test.kind, test.body, http.Header{"Authorization": {"Bearer " + token}})
		if status != test.status || !strings.Contains(body, test.says) || len(body) > 10_000 {
			t.Errorf("%s = %d %.300s, want %d and %q", name, status, body, test.status, test.says)
		}
	}
	cookie := cookieOf(base) + "=" + token
	for name, header := range map[string]http.Header{"its cookie": {"Cookie": {cookie}}, "another header beside it": {"Cookie": {cookie}, "Authorization": {"Basic eDp5"}}} {
		if status, body := post(t, base+"?url=x", "", "", header); status != http.StatusUnauthorized {
			t.Errorf("a browser that was let in may ask for visits with %s: %d %s", name, status, body)
		}
	}
	if status, body := request(t, "GET", base+"?url=x", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("GET = %d %s, want %d", status, body, http.StatusMethodNotAllowed)
	}
}

const form = "application/x-www-form-urlencoded"

// post sends a body.
func post(t *testing.T, address, kind, body string, header http.Header) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
