package recrawl

import (
	"strings"
	"testing"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
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
