package recrawl

import (
	"net/http"
	"strings"
	"testing"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
)

func TestFault_036_RedirectLoops(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/self": hostile.Redirect(302, "/self#again"), "/a": hostile.Redirect(302, "/b"), "/b": hostile.Redirect(301, "/a"),
	})
	r := newRig(t, nil)
	wantFailed(t, r.fetch(o.URL("/self")), models.RedirectLoop)

	a := pageOf(t, o.URL("/a"))
	out := r.visit(a)
	wantKind(t, out, models.Moved)
	b := pageOf(t, out.RedirectTo)
	b.Chain = []int64{a.ID}
	back := r.visit(b)
	if wantFailed(t, back, models.RedirectLoop); back.RedirectTo != a.URL {
		t.Errorf("the way leads back to %q, want %q: that it did so before is known by that", back.RedirectTo, a.URL)
	}
	if n := len(o.Requests()); n != 3 {
		t.Errorf("3 visits made %d requests: a redirect was followed", n)
	}
}

func TestFault_037_RedirectChains(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Redirect(307, "/next")})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/"))
	page.Chain = make([]int64, maxHops-1)
	wantKind(t, r.visit(page), models.Moved)
	page.Chain = make([]int64, maxHops)
	wantFailed(t, r.visit(page), models.RedirectTooMany)
}

func TestFault_038_RedirectsThatLeadInside(t *testing.T) {
	t.Parallel()
	for target, class := range map[string]models.ErrorClass{
		"file:///etc/passwd":         models.RedirectBlocked,
		"javascript:alert(1)":        models.RedirectBlocked,
		"data:text/html,x":           models.RedirectBlocked,
		"ftp://example.org/":         models.RedirectBlocked,
		"http://10.0.0.1/":           models.RedirectBlocked,
		"http://169.254.169.254/":    models.RedirectBlocked,
		"http://[::ffff:10.0.0.1]/":  models.RedirectBlocked,
		"http://0x0a000001/":         models.RedirectBlocked,
		"https://8.8.8.8:25/":        models.RedirectBlocked,
		"http://":                    models.RedirectBad,
		"http://exa mple.org/":       models.RedirectBad,
		"https://user:pw@8.8.8.8/in": models.ClassNone,
		"https://example.org:443/x":  models.ClassNone,
	} {
		o := listen(t, map[string]hostile.Answer{"/": hostile.Redirect(302, target)})
		out := newRig(t, nil).fetch(o.URL("/"))
		if class != models.ClassNone {
			wantFailed(t, out, class)
			continue
		}
		wantKind(t, out, models.Moved)
		if strings.Contains(out.RedirectTo, "pw") || strings.Contains(out.RedirectTo, ":443") {
			t.Errorf("redirect to %s is followed as %s", target, out.RedirectTo)
		}
	}
}

func TestFault_039_Locations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		targets []string
		want    string // the end of the target; "": none
	}{
		{"missing", nil, ""},
		{"empty", []string{""}, ""},
		{"relative", []string{"b/c?d"}, "/dir/b/c?d"},
		{"parent", []string{"../up"}, "/up"},
		{"two that agree", []string{"/x", "/x"}, "/x"},
		{"two that differ", []string{"/x", "/y"}, ""},
		{"UTF-8", []string{"/straße"}, "/stra%C3%9Fe"},
		{"Latin-1", []string{"/stra\xdfe"}, "/stra%DFe"},
		{"space", []string{"/a b"}, "/a%20b"},
		{"a bare %", []string{"/100%"}, "/100%"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := listen(t, map[string]hostile.Answer{"/dir/a": hostile.Redirect(http.StatusFound, test.targets...)})
			out := newRig(t, nil).fetch(o.URL("/dir/a"))
			if test.want == "" {
				wantFailed(t, out, models.RedirectBad)
				return
			}
			wantKind(t, out, models.Moved)
			if out.RedirectTo != o.URL(test.want) {
				t.Errorf("RedirectTo = %q, want %q", out.RedirectTo, o.URL(test.want))
			}
		})
	}
}

func TestRedirectStatuses(t *testing.T) {
	t.Parallel()
	for status, permanent := range map[int]bool{301: true, 302: false, 303: false, 307: false, 308: true} {
		o := listen(t, map[string]hostile.Answer{"/": hostile.Redirect(status, "/there")})
		out := newRig(t, nil).fetch(o.URL("/"))
		wantKind(t, out, models.Moved)
		if out.Permanent != permanent {
			t.Errorf("%d: Permanent = %v, want %v", status, out.Permanent, permanent)
		}
	}
}

func TestRedirectTargetIsALinkIfItMayBeVisited(t *testing.T) {
	t.Parallel()
	for target, links := range map[string]int{"/b": 1, "/private": 0, "http://other.test/": 0} {
		o := listen(t, map[string]hostile.Answer{"/": hostile.Redirect(301, target)})
		r := newRig(t, nil)
		site := config.Site{Name: "here", URL: o.URL("/"), Settings: r.settings}
		pages, err := scope.Compile(site)
		if err != nil {
			t.Fatal(err)
		}
		r.sites = func(int32) (config.Site, *scope.Scope, *content.Rules) { return site, pages, nil }
		page := pageOf(t, o.URL("/"))
		out := r.turn(t.Context(), page, robotsRow(t, page, "User-agent: *\nDisallow: /private"))
		wantKind(t, out, models.Moved)
		if len(out.Links) != links || links == 1 && out.Links[0].URL != out.RedirectTo {
			t.Errorf("redirect to %s: links %v, want %d", target, out.Links, links)
		}
	}
}

// TestFault_046_CookieTrap redirects until a cookie comes back, which it never does.
func TestFault_046_CookieTrap(t *testing.T) {
	t.Parallel()
	trap := func(c *hostile.Conn) {
		if c.Header.Get("Cookie") != "" {
			hostile.Whole(200, nil, "in")(c)
			return
		}
		c.Send("HTTP/1.1 302 Found\r\nSet-Cookie: a=b\r\nLocation: /check\r\nContent-Length: 0\r\n\r\n")
	}
	o := listen(t, map[string]hostile.Answer{"/": trap, "/check": trap})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/"))
	wantKind(t, r.visit(page), models.Moved)
	check := pageOf(t, o.URL("/check"))
	check.Chain = []int64{page.ID}
	wantFailed(t, r.visit(check), models.RedirectLoop)
}
