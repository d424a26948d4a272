package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const publisher = "0123-the-publishers-key"

// TestPublishersAnnounce: whoever has a key, without the token, by GET or POST as search engines are told.
func TestPublishersAnnounce(t *testing.T) {
	t.Parallel()
	base := startWith(t, shelf{}) + "/indexnow"
	urls := func(n int) string { return `"http://h/"` + strings.Repeat(`,"http://h/"`, n-1) }
	for name, test := range map[string]struct {
		method, query, body string
		status              int
		says                string
	}{
		"one":               {"GET", "?url=http%3A%2F%2Fh%2F%3Fa%26b&key=" + publisher, "", 200, `"next": 1`},
		"where the key is":  {"GET", "?url=http://h/&key=" + publisher + "&keyLocation=http://h/k.txt", "", 200, `"next": 1`},
		"several":           {"POST", "", `{"host":"h","key":"` + publisher + `","keyLocation":"http://h/k.txt","urlList":[` + urls(3) + `]}`, 200, `"left_out": 1`},
		"as many as may be": {"POST", "", `{"key":"` + publisher + `","urlList":[` + urls(mostAnnounced) + `]}`, 200, `"next": 10000`},
		"too many":          {"POST", "", `{"key":"` + publisher + `","urlList":[` + urls(mostAnnounced+1) + `]}`, 422, "more than 10000 pages"},
		"no page":           {"POST", "", `{"host":"h","key":"` + publisher + `","urlList":[]}`, 400, "there is no page"},
		"no page by GET":    {"GET", "?key=" + publisher, "", 400, "there is no page"},
		"no key":            {"GET", "?url=http://h/", "", 422, "the key is missing"},
		"a key of no form":  {"GET", "?url=http://h/&key=under_score", "", 422, "the key is missing, or is not"},
		"another's key":     {"GET", "?url=http://h/&key=another-key", "", 403, "no site has this key"},
		"no JSON":           {"POST", "", "url=http://h/", 400, "the body is not"},
		"another JSON":      {"POST", "", `[1]`, 400, "the body is not"},
		"a list of none":    {"POST", "", `{"key":"` + publisher + `","urlList":null}`, 400, "there is no page"},
		"no list":           {"POST", "", `{"key":"` + publisher + `","urlList":"http://h/"}`, 400, "the body is not"},
		"numbers":           {"POST", "", `{"key":"` + publisher + `","urlList":[1]}`, 400, "the body is not"},
		"far too long":      {"POST", "", `{"key":"` + strings.Repeat("x", mostAnnouncedBody), 413, "the body is not"},
		"far too many":      {"POST", "", `{"key":"` + publisher + `","urlList":[""` + strings.Repeat(`,""`, mostAnnouncedBody/3-100) + `]}`, 422, "more than 10000 pages"},
		"another method":    {"PUT", "", `{}`, 405, ""},
	} {
		ask := func() (int, string) { return post(t, base+test.query, "", test.body, http.Header{}) }
		if test.method != http.MethodPost {
			ask = func() (int, string) { return ask401(t, test.method, base+test.query, nil) }
		}
		if status, body := ask(); status != test.status || !strings.Contains(body, test.says) || len(body) > 1000 {
			t.Errorf("%s = %d %.300s, want %d and %q", name, status, body, test.status, test.says)
		}
	}
}

// TestAddressesAreReadAsFarAsTheyMayBe: what a body of the longest holds is not all kept: anybody can send one.
func TestAddressesAreReadAsFarAsTheyMayBe(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/indexnow", strings.NewReader(`{"urlList":[""`+strings.Repeat(`,""`, mostAnnouncedBody/3-100)+`],"key":"`+publisher+`"}`))
	r.Header.Set("Content-Type", "application/json")
	a, err := readAnnouncement(r)
	if err == nil || len(a.URLs) > mostAnnounced+1 {
		t.Errorf("%d addresses are kept, %v", len(a.URLs), err)
	}
}
