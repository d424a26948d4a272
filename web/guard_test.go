package web

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// sheetOf is a sheet that says the same to everybody.
func sheetOf(name, text string) Sheet {
	return Sheet{Name: name, Menu: name, Hint: "what there is", Print: func(_ context.Context, out io.Writer, _ url.Values) error {
		_, err := io.WriteString(out, text)
		return err
	}}
}

// cookieOf is the name of the cookie of a server.
func cookieOf(base string) string {
	at, _ := url.Parse(base)
	return "recrawld-" + at.Port()
}

// TestFault_101_OnlyWithTheToken: what is known of pages is told to nobody without the token, with a wrong one, or with part of it,
// whatever the route and the method. How the daemon is, is told to all.
func TestFault_101_OnlyWithTheToken(t *testing.T) {
	t.Parallel()
	base := startFull(t, Options{Checks: []Check{{"store", well}}, Sheets: []Sheet{sheetOf("status", "secret"), sheetOf("report/daily", "secret")}})
	headers := map[string]http.Header{
		"nothing":                          {},
		"no token":                         {"Authorization": {"Bearer"}},
		"an empty token":                   {"Authorization": {"Bearer "}},
		"a wrong token":                    {"Authorization": {"Bearer " + token + "x"}},
		"part of the token":                {"Authorization": {"Bearer " + token[:len(token)-1]}},
		"another scheme":                   {"Authorization": {"Basic " + token}},
		"no scheme":                        {"Authorization": {token}},
		"a wrong cookie":                   {"Cookie": {cookieOf(base) + "=x"}},
		"an empty cookie":                  {"Cookie": {cookieOf(base) + "="}},
		"another cookie":                   {"Cookie": {"recrawld=" + token}},
		"a wrong header beside the cookie": {"Authorization": {"Bearer x"}, "Cookie": {cookieOf(base) + "=" + token}},
	}
	for _, path := range []string{"/v1/changes?after=now", "/v1/pages?url=http://h/", "/v1/visits?url=http://h/", "/v1/", "/v1/none", "/status", "/report/daily", "/status?token=" + token, "/feed", "/feed?token=" + token} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} {
			for what, header := range headers {
				if status, body := ask401(t, method, base+path, header); status != http.StatusUnauthorized || strings.Contains(body, "secret") {
					t.Errorf("%s %s with %s = %d %s, want %d", method, path, what, status, body, http.StatusUnauthorized)
				}
			}
		}
	}
	for _, path := range []string{"/", "/healthz", "/metrics"} {
		if status, body := ask401(t, "GET", base+path, nil); status != http.StatusOK || strings.Contains(body, token) {
			t.Errorf("%s without a token = %d %s", path, status, body)
		}
	}
	for what, header := range map[string]http.Header{
		"the token":  {"Authorization": {"Bearer " + token}},
		"lower case": {"Authorization": {"bearer  " + token}},
		"the cookie": {"Cookie": {"a=b; " + cookieOf(base) + "=" + token}},
		"the cookie behind one that another server of this machine set for a path": {"Cookie": {cookieOf(base) + "=x; " + cookieOf(base) + "=" + token}},
	} {
		if status, body := ask401(t, "GET", base+"/status", header); status != http.StatusOK || !strings.Contains(body, "secret") {
			t.Errorf("with %s = %d %s", what, status, body)
		}
	}
}

// ask401 sends a request with these headers and follows nothing.
func ask401(t *testing.T, method, address string, header http.Header) (int, string) {
	t.Helper()
	answer, body := exchange(t, method, address, header)
	return answer.StatusCode, body
}

// exchange is ask401 with the whole answer.
func exchange(t *testing.T, method, address string, header http.Header) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

// TestWithoutATokenNobodyIsLetIn: a server that was given none does not take an empty one for it.
func TestWithoutATokenNobodyIsLetIn(t *testing.T) {
	t.Parallel()
	g := newGuard(Options{}, addressOf("127.0.0.1:1"))
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1:1/status", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ")
	r.AddCookie(&http.Cookie{Name: g.cookie})
	if g.knows(r) || g.holds("") {
		t.Error("the empty token opens a server that has none")
	}
}

type addressOf string

func (addressOf) Network() string  { return "tcp" }
func (a addressOf) String() string { return string(a) }

// goesOn leads a browser from the link to the first sheet, as from a page of ours.
const goesOn = `<meta http-equiv="refresh" content="0;url=/status">`

// TestABrowserIsLetIn: by a link with the token or by typing it, from then on by a cookie that scripts and other sites do not get. A
// browser that knows nothing is asked.
func TestABrowserIsLetIn(t *testing.T) {
	t.Parallel()
	base := startFull(t, Options{Sheets: []Sheet{sheetOf("status", "secret")}})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	status, body := ask401(t, "GET", base+"/status", http.Header{"Accept": {"text/html,*/*"}})
	if status != http.StatusUnauthorized || !strings.Contains(body, `<form method="post" action="/open">`) || !strings.Contains(body, "/data/web.token") {
		t.Errorf("a browser without a token gets %d %s", status, body)
	}
	visit := func(answer *http.Response, err error) (int, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	if status, body := visit(browser.PostForm(base+"/open", url.Values{"token": {"guess"}})); status != http.StatusUnauthorized || !strings.Contains(body, "That is not the token.") {
		t.Errorf("a guess = %d %s", status, body)
	}
	if status, body := visit(browser.PostForm(base+"/open", url.Values{"token": {token}})); status != http.StatusOK || !strings.Contains(body, goesOn) {
		t.Errorf("the token typed = %d %s", status, body)
	}
	if status, body := visit(browser.Get(base + "/status")); status != http.StatusOK || !strings.Contains(body, "secret") {
		t.Errorf("afterwards = %d %s", status, body)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", base+"/open?token="+token, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	cookies := answer.Cookies()
	if status, body := visit(answer, nil); status != http.StatusOK || !strings.Contains(body, goesOn) || len(cookies) != 1 ||
		!cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || answer.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("the link = %d %s with %v, %v", status, body, cookies, answer.Header)
	}
}
