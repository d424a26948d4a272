package content

import (
	"testing"
)

// TestWithoutReturn: a log-in is one address, whichever page it would lead back to; whatever else it is told, and what is no log-in, stays.
func TestWithoutReturn(t *testing.T) {
	t.Parallel()
	from := parsed(t, "/forum/topic?id=7")
	for link, want := range map[string]string{
		"/login?redirect_to=%2fforum%2ftopic%3Fid%3D7":                        "/login",
		"/login?redirect_to=%2Fforum%2Ftopic":                                 "/login",
		"/user/sign_in?a=1&return=/forum/topic":                               "/user/sign_in?a=1",
		"/login?next=/forum/other":                                            "/login?next=/forum/other",
		"/login?client=/forum/topic":                                          "/login?client=/forum/topic",
		"/about-login?next=/forum/topic":                                      "/about-login?next=/forum/topic",
		"/login?next=https://shop.example/forum/topic?id=7&next=/forum/topic": "/login",
		"/login": "/login",
	} {
		if got := WithoutReturn(from, parsed(t, link)); got != parsed(t, want) {
			t.Errorf("%s is kept as %s, want %s", link, got, want)
		}
	}
}
