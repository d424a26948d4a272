package recrawl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
)

// looking is of a site as it is visited, with a scope.
func looking(t *testing.T, start string) func(*Config, *config.Settings) {
	return func(c *Config, s *config.Settings) {
		probing(start)(c, s)
		site := config.Site{Name: "test", URL: start, Settings: *s}
		pages, err := scope.Compile(site)
		if err != nil {
			t.Fatal(err)
		}
		c.Sites = func(int32) (config.Site, *scope.Scope, *content.Rules) { return site, pages, nil }
	}
}

// TestSitemapThatNobodyNames: where robots.txt names no sitemap /sitemap.xml is looked for now and then, by one request in a page's turn, until
// it is there; and then it is a page of the site, and not looked for any more.
func TestSitemapThatNobodyNames(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": page(edition(1))})
	l := newLife(t, looking(t, o.URL("/")))
	looks := func() (n int, out models.Outcome) {
		for range 90 {
			if got := l.turn(o.URL("/")); lastAsked(t, o).Path == "/sitemap.xml" {
				n, out = n+1, got
			}
		}
		return n, out
	}
	n, out := looks()
	if n != 3 || out.Kind != models.Probed || out.Status != 404 || len(out.Links) != 0 || out.Sent != 1 || l.host.Trials.SitemapFound {
		t.Errorf("looked %d times in 90 days, and found %+v; want 3 times, and nothing", n, out)
	}
	o.Set("/sitemap.xml", page(edition(2))) // a server that answers 200 to everything
	if n, out = looks(); n != 3 || len(out.Links) != 0 {
		t.Errorf("looked %d times, and took a page for a list: %+v", n, out.Links)
	}
	o.Set("/sitemap.xml", hostile.Whole(200, map[string]string{"Content-Type": "application/xml"},
		`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>`+o.URL("/a")+`</loc></url></urlset>`))
	n, out = looks()
	if n != 1 || len(out.Links) != 1 || out.Links[0].URL != o.URL("/sitemap.xml") || !out.Links[0].List || !l.host.Trials.SitemapFound || out.Body != nil {
		t.Errorf("looked %d times, and found %+v, want it once", n, out.Links)
	}
}

// TestSitemapIsLookedForOnceInATurn: the start URL may lead from http to https, and all pages with it. Where it is the sitemap whose turn it is, that is
// asked for as a page, not for a look beside.
func TestSitemapIsLookedForOnceInATurn(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": page(edition(1)), "/sitemap.xml": hostile.Whole(200, map[string]string{"Content-Type": "application/xml"},
		`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>`)})
	l := newLife(t, looking(t, strings.Replace(o.URL("/"), "http:", "https:", 1)))
	for range 5 {
		if out := l.turn(o.URL("/sitemap.xml")); out.Looked {
			t.Errorf("the sitemap itself was looked for in its turn: %+v", out)
		}
	}
	looked := false
	for range 5 {
		looked = l.turn(o.URL("/")).Looked || looked
	}
	if !looked {
		t.Error("no sitemap was looked for on the host of the start URL, of another scheme")
	}
}

// TestSitemapThatLeadsElsewhere: WordPress and its extensions answer for /sitemap.xml with a redirect to where theirs is. That is followed, a request a
// turn, if scope and robots.txt keep it; only a list that stands at its end is one, and comes as a page together with what led to it.
func TestSitemapThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	xml := hostile.Whole(200, map[string]string{"Content-Type": "application/xml"}, `<sitemapindex><sitemap><loc>/a.xml</loc></sitemap></sitemapindex>`)
	for name, test := range map[string]struct {
		answers map[string]hostile.Answer
		asked   []string // beside the page itself, in its turns
		found   []string
	}{
		"to a list":        {map[string]hostile.Answer{"/sitemap.xml": hostile.Redirect(301, "/wp-sitemap.xml"), "/wp-sitemap.xml": xml}, []string{"/sitemap.xml", "/wp-sitemap.xml"}, []string{"/sitemap.xml", "/wp-sitemap.xml"}},
		"twice":            {map[string]hostile.Answer{"/sitemap.xml": hostile.Redirect(302, "/s"), "/s": hostile.Redirect(308, "/s.xml"), "/s.xml": xml}, []string{"/sitemap.xml", "/s", "/s.xml"}, []string{"/sitemap.xml", "/s.xml"}},
		"to a page":        {map[string]hostile.Answer{"/sitemap.xml": hostile.Redirect(301, "/missing"), "/missing": page(edition(2))}, []string{"/sitemap.xml", "/missing"}, nil},
		"to the home page": {map[string]hostile.Answer{"/sitemap.xml": hostile.Redirect(301, "/")}, []string{"/sitemap.xml"}, nil},
		"to itself":        {map[string]hostile.Answer{"/sitemap.xml": hostile.Redirect(302, "/sitemap.xml")}, []string{"/sitemap.xml"}, nil},
		"in a circle": {map[string]hostile.Answer{"/sitemap.xml": hostile.Redirect(302, "/s"), "/s": hostile.Redirect(302, "/sitemap.xml")},
			[]string{"/sitemap.xml", "/s", "/sitemap.xml", "/s", "/sitemap.xml", "/s"}, nil},
		"out of scope":     {map[string]hostile.Answer{"/sitemap.xml": hostile.Redirect(301, "http://elsewhere.test/s.xml")}, []string{"/sitemap.xml"}, nil},
		"what is kept out": {map[string]hostile.Answer{"/sitemap.xml": hostile.Redirect(301, "/closed/s.xml")}, []string{"/sitemap.xml"}, nil},
		"nowhere":          {map[string]hostile.Answer{"/sitemap.xml": hostile.Redirect(301, "/gone.xml")}, []string{"/sitemap.xml", "/gone.xml"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.answers["/"] = page(edition(1))
			o := listen(t, test.answers)
			l := newLife(t, looking(t, o.URL("/")))
			l.rules = "User-agent: *\nDisallow: /closed/\n"
			var asked, found []string
			for range 20 {
				out := l.turn(o.URL("/"))
				if path := lastAsked(t, o).Path; path != "/" && !strings.HasPrefix(path, "/"+probeName) {
					asked = append(asked, path)
				}
				if len(out.Links) > 0 && out.Looked {
					found = linksOf(out, strings.TrimSuffix(o.URL("/"), "/"))
				}
				if out.Sent != 1 || out.Looked && out.Body != nil {
					t.Errorf("%d requests in a turn, a body of %d bytes, looked %v", out.Sent, len(out.Body), out.Looked)
				}
			}
			if diff := cmp.Diff([][]string{test.asked, test.found}, [][]string{asked, found}); diff != "" || l.host.Trials.SitemapFound != (len(found) > 0) || l.host.Trials.SitemapTo != "" {
				t.Errorf("asked and found (-want +got), and remembered as %+v:\n%s", l.host.Trials, diff)
			}
		})
	}
}

// TestASitemapIsLookedForAgainWhereWhatItLedToIsKeptOut: what was to be asked next when robots.txt, or the scope, came to keep it out is given up, and the
// customary place is looked at when its time comes.
func TestASitemapIsLookedForAgainWhereWhatItLedToIsKeptOut(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": page(edition(1)), "/sitemap.xml": hostile.Whole(404, nil, "")})
	l := newLife(t, looking(t, o.URL("/")))
	l.rules = "User-agent: *\nDisallow: /closed/\n"
	l.turn(o.URL("/"))
	l.host.Trials.SitemapTo, l.host.Trials.SitemapHops, l.host.Trials.SitemapAt = o.URL("/closed/s.xml"), 1, models.At(l.clock.Now())
	asked := 0
	for range 80 { // days, of which each 30th is one to look
		l.turn(o.URL("/"))
		if path := lastAsked(t, o).Path; path == "/sitemap.xml" {
			asked++
		} else if strings.HasPrefix(path, "/closed/") {
			t.Fatalf("%s is asked for", path)
		}
	}
	if asked < 2 || asked > 3 || l.host.Trials.SitemapTo != "" {
		t.Errorf("the customary place is looked at %d times in 80 days, and %+v is remembered", asked, l.host.Trials)
	}
}

// TestSitemapIsLookedForWhereTheStartPageLeads: many a site's start URL is the bare name, and all its pages are at www.
func TestSitemapIsLookedForWhereTheStartPageLeads(t *testing.T) {
	t.Parallel()
	for start, want := range map[string]bool{"http://www.site.test/": true, "http://site.test/": true, "http://docs.site.test/": false} {
		at, err := canon.Parse("http://site.test/page")
		if err != nil {
			t.Fatal(err)
		}
		if got := (&visit{start: start, url: at}).ofStart(); got != want {
			t.Errorf("%s is of the start URL %s: %v, want %v", at, start, got, want)
		}
	}
}
