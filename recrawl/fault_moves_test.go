package recrawl

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"recrawld/internal/hostile"
	"recrawld/models"
)

// wantCopy checks that a page's good copy is the first one still, and that the page has a next visit.
func (l *life) wantCopy(url, body string, state models.PageState) {
	l.t.Helper()
	p := l.pages[url]
	if p.State != state || p.Version != 1 || p.Digest != models.DigestOf([]byte(body)) || p.DueAt == 0 {
		l.t.Errorf("%s is %v with version %d, digest %.12s, due %v; want %v, its only version, and a next visit", url, p.State,
			p.Version, p.Digest.String(), p.DueAt, state)
	}
}

// TestFault_040_RedirectThatFlips: a page answers in turn itself and with a permanent redirect. It stays a page of its own,
// keeps its copy, and is itself again whenever it answers.
func TestFault_040_RedirectThatFlips(t *testing.T) {
	t.Parallel()
	o, l := listen(t, nil), newLife(t, nil)
	url, body := o.URL("/docs/terms"), framed("Terms", terms("12 pounds"), 1)
	for n := range 12 {
		want := models.SameBytes
		switch {
		case n%2 == 1:
			o.Set("/docs/terms", hostile.Redirect(301, "/docs/elsewhere"))
			out := l.turn(url)
			wantKind(t, out, models.Moved)
			if len(out.Links) != 1 || out.RedirectTo != o.URL("/docs/elsewhere") {
				t.Errorf("redirect %d leads to %q and finds %v", n, out.RedirectTo, out.Links)
			}
			l.wantCopy(url, body, models.StateMoved)
			continue
		case n == 0:
			want = models.First
		}
		o.Set("/docs/terms", page(body))
		wantKind(t, l.turn(url), want)
		l.wantCopy(url, body, models.StateLive)
	}
	if p := l.pages[url]; p.RedirectTo == "" || p.Failures != 0 {
		t.Errorf("the last answer was a redirect: it leads to %q, %d failures", p.RedirectTo, p.Failures)
	}
}

// TestFault_041_ALogInThatIsNamedSo: for a while every page of a host redirects to an address that is named for a log-in, with or without being told
// where the reader came from, on that host or another one. Nothing is moved or lost, from the first page on: each is in an error state that names the
// log-in, its copy stays, the form becomes no page, and the next answer with the content ends it. What moves there for good, and a page that
// showed nothing yet, are where they lead.
func TestFault_041_ALogInThatIsNamedSo(t *testing.T) {
	t.Parallel()
	o, l := listen(t, nil), newLife(t, nil)
	forms := []string{"/login?next=%2Fdocs%2F0", "/users/sign_in", "/wp-login.php?redirect_to=x&reauth=1", "/cas/login/", "https://login.example.org/x?id=7", "/login;jsessionid=1A2B",
		"/session/new", "/auth?next=%2Fdocs%2F7", "https://id.example.org/?rm=GET&rd=" + url.QueryEscape(o.URL("/docs/8")), "/gate?returnTo=/docs/9", "/sso-1?RelayState=/docs/10&a=1",
		"https://id.example.org/realms/x/auth?client_id=docs&response_type=code&state=7", "https://id.example.org/x?SAMLRequest=fZ&SigAlg=a"}
	body := func(i int) string { return framed(fmt.Sprint("Terms ", i), terms(fmt.Sprint(i, " pounds")), i) }
	path := func(i int) string { return fmt.Sprint("/docs/", i) }
	for i := range forms {
		o.Set(path(i), page(body(i)))
		wantKind(t, l.turn(o.URL(path(i))), models.First)
		o.Set(path(i), hostile.Redirect(302, forms[i]))
	}
	for range 9 {
		for i := range forms {
			out := l.turn(o.URL(path(i)))
			wantFailed(t, out, models.LoginWall)
			if len(out.Links) != 0 || !strings.Contains(out.Detail, "headers:") || strings.Contains(out.Detail, "?") {
				t.Errorf("to %s: links %v, says %q", forms[i], out.Links, out.Detail)
			}
			l.wantCopy(o.URL(path(i)), body(i), models.StateLive)
		}
	}
	for i := range forms {
		o.Set(path(i), page(body(i)))
		wantKind(t, l.turn(o.URL(path(i))), models.SameBytes)
		l.wantCopy(o.URL(path(i)), body(i), models.StateLive)
	}
	for to, status := range map[string]int{"/login?next=x": 301, "/docs/login-forms": 302, "/docs/7?back=/login": 302, "/gate?next=/docs/0": 308,
		"/gate?next=/docs/1": 302, "/index?page=/docs/0": 302, "/search?q=/docs/0": 307, "/docs/0/?next=/docs/0": 302, "/app?client_id=7": 302} {
		o.Set(path(0), hostile.Redirect(status, to))
		wantKind(t, l.turn(o.URL(path(0))), models.Moved)
	}
	o.Set("/new", hostile.Redirect(302, forms[0]))
	wantKind(t, l.turn(o.URL("/new")), models.Moved)
}

// TestFault_041_RedirectsToALogIn: for a while every page of a host redirects to its log-in form, at an address that is not named for it. None loses its copy, the
// form is one more page and none of theirs, and all are themselves again afterwards. The first one counts as moved there, the others after it
// lead where another page leads and count as lost, until they do so again a day later: so few of them nobody guards.
func TestFault_041_RedirectsToALogIn(t *testing.T) {
	t.Parallel()
	o, l := listen(t, nil), newLife(t, nil)
	const pages = 5
	body := func(i int) string { return framed(fmt.Sprint("Terms ", i), terms(fmt.Sprint(i, " pounds")), i) }
	path := func(i int) string { return fmt.Sprint("/docs/", i) }
	for i := range pages {
		o.Set(path(i), page(body(i)))
		wantKind(t, l.turn(o.URL(path(i))), models.First)
	}
	o.SetDefault(page(framed("Sign in", `<form action=/login method=post><input name=user><input type=password name=password></form>`, 1)))
	for i := range pages {
		o.Set(path(i), hostile.Redirect(302, "/entrance?page="+path(i)))
	}
	for n := range 4 { // what looks the same three times in a row is taken for the page, but these are no pages
		for i := range pages {
			want := models.StateMoved
			if n == 0 && i > 0 {
				want = models.StateMissing
			}
			wantKind(t, l.turn(o.URL(path(i))), models.Moved)
			l.wantCopy(o.URL(path(i)), body(i), want)
		}
	}
	for i := range pages {
		o.Set(path(i), page(body(i)))
		wantKind(t, l.turn(o.URL(path(i))), models.SameBytes)
		l.wantCopy(o.URL(path(i)), body(i), models.StateLive)
	}
}

// TestFault_041_AllOfAHostRedirectToALogIn: where the host has more pages its guard sees to it that none but the first counts as moved, however
// long it lasts; and all are themselves again afterwards.
func TestFault_041_AllOfAHostRedirectToALogIn(t *testing.T) {
	t.Parallel()
	o, l := listen(t, nil), newLife(t, nil)
	l.step = time.Hour
	const pages = 14
	body := func(i int) string { return framed(fmt.Sprint("Terms ", i), terms(fmt.Sprint(i, " pounds")), i) }
	path := func(i int) string { return fmt.Sprint("/docs/", i) }
	for i := range pages {
		o.Set(path(i), page(body(i)))
		wantKind(t, l.turn(o.URL(path(i))), models.First)
		o.Set(path(i), hostile.Redirect(302, "/entrance?page="+path(i)))
	}
	for range 8 {
		for i := range pages {
			want := models.StateMissing
			if i == 0 {
				want = models.StateMoved
			}
			wantKind(t, l.turn(o.URL(path(i))), models.Moved)
			l.wantCopy(o.URL(path(i)), body(i), want)
		}
	}
	if l.host.GuardedAt == 0 {
		t.Error("the host is not guarded")
	}
	for i := range pages {
		o.Set(path(i), page(body(i)))
		wantKind(t, l.turn(o.URL(path(i))), models.SameBytes)
		l.wantCopy(o.URL(path(i)), body(i), models.StateLive)
	}
	if l.host.GuardedAt != 0 {
		t.Error("the host is guarded when its pages are back")
	}
}
