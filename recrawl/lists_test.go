package recrawl

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/scope"
)

// listOf is a sitemap of an origin's pages, each with its date: "/a 2026-01-05".
func listOf(origin string, entries ...string) string {
	var b strings.Builder
	b.WriteString("<urlset>")
	for _, e := range entries {
		path, date, _ := strings.Cut(e, " ")
		if strings.HasPrefix(path, "/") {
			path = origin + path
		}
		fmt.Fprintf(&b, "<url><loc>%s</loc><lastmod>%s</lastmod></url>", path, date)
	}
	return b.String() + "</urlset>"
}

func xmlPage(body string) hostile.Answer { return page(body, "Content-Type", "application/xml") }

// linksOf are the paths of the links of an outcome.
func linksOf(out models.Outcome, origin string) []string {
	var paths []string
	for _, l := range out.Links {
		paths = append(paths, strings.TrimPrefix(l.URL, origin))
	}
	return paths
}

// listenLater starts an origin whose answers to some paths name it.
func listenLater(t *testing.T, later func(origin string) map[string]hostile.Answer, paths ...string) *hostile.Origin {
	t.Helper()
	var known map[string]hostile.Answer
	ready := make(chan struct{})
	answers := make(map[string]hostile.Answer)
	for _, path := range paths {
		answers[path] = func(c *hostile.Conn) {
			<-ready
			known[path](c)
		}
	}
	o := listen(t, answers)
	known = later(strings.TrimSuffix(o.URL("/"), "/"))
	close(ready)
	return o
}

// readTwice serves a list twice and returns what its visits find.
func readTwice(t *testing.T, edit func(*config.Settings), list func(origin string, n int) hostile.Answer) (o *hostile.Origin, first, second models.Outcome) {
	t.Helper()
	o = listenLater(t, func(origin string) map[string]hostile.Answer {
		return map[string]hostile.Answer{"/list": hostile.Then(list(origin, 0), list(origin, 1))}
	}, "/list")
	l := newLife(t, func(_ *Config, s *config.Settings) {
		if edit != nil {
			edit(s)
		}
	})
	return o, l.turn(o.URL("/list")), l.turn(o.URL("/list"))
}

// listReading is a list that is read twice, and what is made of it.
type listReading struct {
	list   func(origin string, n int) hostile.Answer
	edit   func(*config.Settings)
	kind   models.OutcomeKind // of the second reading
	first  []string           // found
	second []string
	told   []string
}

func (r listReading) check(t *testing.T) {
	t.Helper()
	o, first, second := readTwice(t, r.edit, r.list)
	origin := strings.TrimSuffix(o.URL("/"), "/")
	wantKind(t, first, models.First)
	wantKind(t, second, r.kind)
	for n, out := range []models.Outcome{first, second} {
		for _, link := range out.Links {
			if link.List != out.Listing.Index {
				t.Errorf("reading %d, of an index %v: %s is named as a list: %v", n, out.Listing.Index, link.URL, link.List)
			}
		}
		if out.LinksKnown || out.Listing == nil || out.Listing.Entries == 0 || n == 0 && len(out.Listing.Told) > 0 {
			t.Fatalf("reading %d: links known %v, %+v", n, out.LinksKnown, out.Listing)
		}
	}
	if diff := cmp.Diff([][]string{r.first, r.second}, [][]string{linksOf(first, origin), linksOf(second, origin)}); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	var want []int64
	for _, path := range r.told {
		want = append(want, models.PageID(origin+path))
	}
	var got []int64
	for _, told := range second.Listing.Told {
		got = append(got, told.PageID)
		if told.At > models.At(second.At) || told.Since > told.At {
			t.Errorf("told of a change between %v and %v at %v", told.Since, told.At, second.At)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func packed(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	fmt.Fprint(zip, s)
	if err := zip.Close(); err != nil {
		t.Error(err)
	}
	return b.String()
}

func TestListsAreRead(t *testing.T) {
	t.Parallel()
	two := func(one, other []string, dress func(string) hostile.Answer) func(string, int) hostile.Answer {
		return func(origin string, n int) hostile.Answer { return dress(listOf(origin, [][]string{one, other}[n]...)) }
	}
	for name, test := range map[string]listReading{
		"dates and pages": {list: two([]string{"/a 2025-12-01", "/b 2025-12-01"}, []string{"/c 2026-01-02", "/b 2026-01-02", "/a 2025-12-01"}, xmlPage),
			kind: models.Changed, first: []string{"/a", "/b"}, second: []string{"/c"}, told: []string{"/c", "/b"}},
		"changes alone": {list: two([]string{"/a 2025-12-01"}, []string{"/a 2026-01-02", "/c 2026-01-02"}, xmlPage),
			edit: func(s *config.Settings) { s.Lists = config.ListsChanges }, kind: models.Changed, told: []string{"/a", "/c"}},
		"another order": {list: two([]string{"/a 2025-12-01", "/b"}, []string{"/b", "/a 2025-12-01"}, xmlPage),
			kind: models.Noise, first: []string{"/a", "/b"}},
		"gzip'd": {list: two([]string{"/a 2025-12-01"}, []string{"/a 2026-01-02"}, func(s string) hostile.Answer {
			return page(packed(t, s), "Content-Type", "application/gzip")
		}), kind: models.Changed, first: []string{"/a"}, told: []string{"/a"}},
		"taken for a page": {list: two([]string{"/a 2025-12-01"}, []string{"/a 2026-01-02"}, func(s string) hostile.Answer { return page(s) }),
			kind: models.Changed, first: []string{"/a"}, told: []string{"/a"}},
		"campaigns, found anew when they are told of": {list: two([]string{"/a?utm_source=map 2025-12-01", "/b?gclid=1 2025-12-01", "/c"}, []string{"/a?utm_source=map 2026-01-02", "/b?gclid=1 2025-12-01", "/c"}, xmlPage),
			kind: models.Changed, first: []string{"/a", "/b", "/c"}, second: []string{"/a"}, told: []string{"/a"}},
		"other hosts": {list: two([]string{"/a"}, []string{"/a", "http://elsewhere.test/x 2026-01-02"}, xmlPage),
			kind: models.Changed, first: []string{"/a"}, second: []string{"http://elsewhere.test/x"}},
		"an index": {list: func(origin string, n int) hostile.Answer {
			return xmlPage(fmt.Sprintf("<sitemapindex><sitemap><loc>%s/1.xml</loc><lastmod>2026-01-0%d</lastmod></sitemap></sitemapindex>", origin, n+1))
		}, kind: models.Changed, first: []string{"/1.xml"}, told: []string{"/1.xml"}},
		"too many": {list: func(origin string, n int) hostile.Answer {
			var many []string
			for i := range 1000 {
				many = append(many, fmt.Sprintf("/%d 2026-01-0%d", i, n+1))
			}
			return xmlPage(listOf(origin, many...))
		}, edit: func(s *config.Settings) { s.ListEntries = 2 }, kind: models.Changed, first: []string{"/0", "/1"}, told: []string{"/0", "/1"}},
		"an entity bomb": {list: func(origin string, n int) hostile.Answer {
			return xmlPage(`<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>` + listOf(origin, "/a", fmt.Sprintf("/%d&b;", n)))
		}, kind: models.Changed, first: []string{"/a", "/0&b;"}, second: []string{"/1&b;"}, told: []string{"/1&b;"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.check(t)
		})
	}
}

// A list that is not read for what it says is a page like others, and so is what only looks like a list.
func TestWhatIsNoList(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"off": listOf("http://a.test", "/a"), "an image": "<svg/>", "text": "http://a.test/a\n", "nothing": "<urlset"} {
		o := listen(t, map[string]hostile.Answer{"/list": page(body, "Content-Type", "text/plain")})
		r := newRig(t, func(_ *Config, s *config.Settings) {
			if name == "off" {
				s.Lists = config.ListsOff
			}
		})
		out := r.fetch(o.URL("/list"))
		wantKind(t, out, models.First)
		if out.Listing != nil && name != "nothing" || len(out.Links) > 0 {
			t.Errorf("%s: read as %+v", name, out.Listing)
		}
	}
}

// The sitemaps that a robots.txt names come with it, as far as the site keeps them; a list without mark-up is one because it is
// named so.
func TestNamedLists(t *testing.T) {
	t.Parallel()
	var robots string
	o := listenLater(t, func(origin string) map[string]hostile.Answer {
		robots = "User-agent: *\nDisallow: /private/\nSitemap: " + origin + "/s.xml\nSitemap: /urls.txt\nSitemap: /private/s.xml\nSitemap: mailto:a\n"
		return map[string]hostile.Answer{"/robots.txt": page(robots, "Content-Type", "text/plain"),
			"/urls.txt": page("http://a.test/x\n", "Content-Type", "text/plain")}
	}, "/robots.txt", "/urls.txt")
	for _, lists := range []string{config.ListsPages, config.ListsOff} {
		r := newRig(t, func(_ *Config, s *config.Settings) { s.Lists = lists })
		out := r.turn(t.Context(), pageOf(t, o.URL("/")))
		wantKind(t, out, models.RobotsFetched)
		want := map[string][]string{config.ListsPages: {"/s.xml", "/urls.txt"}}[lists]
		if diff := cmp.Diff(want, linksOf(out, strings.TrimSuffix(o.URL("/"), "/"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", lists, diff)
		}
		if lists == config.ListsOff {
			continue
		}
		named := pageOf(t, o.URL("/urls.txt"))
		if out := r.turn(t.Context(), named, robotsRow(t, named, robots)); out.Listing == nil || len(out.Links) != 1 {
			t.Errorf("the list of URLs is read as %+v, %v", out.Listing, out.Links)
		}
	}
}

// unfollowed is of a site that follows no links, and has pages on all hosts.
func unfollowed(t *testing.T, start string) func(*Config, *config.Settings) {
	return func(c *Config, s *config.Settings) {
		s.Level, s.Scope = 0, []string{scope.Anywhere}
		looking(t, start)(c, s)
	}
}

// TestListsBeyondTheLevel: where no links are followed, lists are read for what they say of the pages that are known, where there are some, and
// add no page but lists, no more than may be worth it.
func TestListsBeyondTheLevel(t *testing.T) {
	t.Parallel()
	var robots string
	o := listenLater(t, func(origin string) map[string]hostile.Answer {
		robots = "Sitemap: " + origin + "/index.xml\n"
		index := "<sitemapindex>"
		for i := range 9 {
			index += fmt.Sprintf("<sitemap><loc>%s/s%d.xml</loc></sitemap>", origin, i)
		}
		return map[string]hostile.Answer{"/robots.txt": page(robots, "Content-Type", "text/plain"), "/index.xml": xmlPage(index + "</sitemapindex>"),
			"/s0.xml": xmlPage(listOf(origin, "/a 2026-01-01", "/b 2026-01-02", "http://else.test/c 2026-01-02"))}
	}, "/robots.txt", "/index.xml", "/s0.xml")
	origin := strings.TrimSuffix(o.URL("/"), "/")
	r := newRig(t, unfollowed(t, o.URL("/start")))
	turn := func(path string, known int32) models.Outcome {
		p := pageOf(t, o.URL(path))
		var rules []models.Robots
		if path != "/" {
			rules = append(rules, robotsRow(t, p, robots))
		}
		return r.Visit(t.Context(), models.Turn{Host: models.Host{Pages: known}, Robots: rules, Page: models.LeasedPage{Page: p}, Now: r.clock.Now()})
	}
	if out := turn("/", fewestTold-1); len(out.Links) > 0 {
		t.Errorf("for a few known pages these lists are read: %v", linksOf(out, origin))
	}
	if out := turn("/", fewestTold); !slices.Equal(linksOf(out, origin), []string{"/index.xml"}) {
		t.Errorf("robots.txt leads to %v", linksOf(out, origin))
	}
	if out := turn("/index.xml", 6); len(out.Links) != 6 || !out.Links[0].List || out.Listing.Named != nil {
		t.Errorf("an index of nine lists leads to %v on a host of which six pages are known, %+v", linksOf(out, origin), out.Listing)
	}
	out := turn("/s0.xml", 6)
	if want := []int64{models.PageID(origin + "/a"), models.PageID(origin + "/b")}; len(out.Links) > 0 || !slices.Equal(out.Listing.Named, want) {
		t.Errorf("a list leads to %v and names %v, want no links and %v", linksOf(out, origin), out.Listing.Named, want)
	}
}

// TestListsThatAreNotForKnownPages: beyond the level a list is a page like others where few pages are known, and so is a feed that robots.txt does not name,
// which is there for its own sake; lists of other hosts say nothing of the pages of this one.
func TestListsThatAreNotForKnownPages(t *testing.T) {
	t.Parallel()
	var robots string
	o := listenLater(t, func(origin string) map[string]hostile.Answer {
		robots = "Sitemap: http://else.test/s.xml\nSitemap: " + origin + "/named.xml\n"
		feed := func(path string) hostile.Answer {
			return xmlPage("<rss><channel><item><link>" + origin + path + "</link></item></channel></rss>")
		}
		return map[string]hostile.Answer{"/robots.txt": page(robots, "Content-Type", "text/plain"), "/feed.xml": feed("/a"), "/named.xml": feed("/a"), "/s.xml": xmlPage(listOf(origin, "/a 2026-01-01")),
			"/index.xml": xmlPage("<sitemapindex><sitemap><loc>http://else.test/t.xml</loc></sitemap><sitemap><loc>" + origin + "/t.xml</loc></sitemap></sitemapindex>")}
	}, "/robots.txt", "/feed.xml", "/named.xml", "/s.xml", "/index.xml")
	origin := strings.TrimSuffix(o.URL("/"), "/")
	r := newRig(t, unfollowed(t, o.URL("/start")))
	for _, test := range []struct {
		path  string
		known int32
		links []string
		named int // -1: it is a page like others
	}{
		{"/", 9, []string{"/named.xml"}, -1},
		{"/index.xml", fewestTold - 1, nil, -1},
		{"/index.xml", fewestTold, []string{"/t.xml"}, -1},
		{"/s.xml", fewestTold - 1, nil, -1},
		{"/s.xml", fewestTold, nil, 1},
		{"/feed.xml", 9, nil, -1},
		{"/named.xml", 9, nil, 1},
	} {
		p := pageOf(t, o.URL(test.path))
		var rules []models.Robots
		if test.path != "/" {
			rules = append(rules, robotsRow(t, p, robots))
		}
		out := r.Visit(t.Context(), models.Turn{Host: models.Host{Pages: test.known}, Robots: rules, Page: models.LeasedPage{Page: p}, Now: r.clock.Now()})
		named := -1
		if l := out.Listing; l != nil && l.Named != nil {
			named = len(l.Named)
		}
		if !slices.Equal(linksOf(out, origin), test.links) || named != test.named {
			t.Errorf("%s on a host of which %d pages are known leads to %v and names %d known ones at most, want %v and %d", test.path, test.known, linksOf(out, origin), named, test.links, test.named)
		}
	}
}

// TestListsThatAreKnownBeyondTheLevel: a list that is known goes on being read where the level is lowered, what is no list does not.
func TestListsThatAreKnownBeyondTheLevel(t *testing.T) {
	t.Parallel()
	o := listenLater(t, func(origin string) map[string]hostile.Answer {
		return map[string]hostile.Answer{"/s.xml": xmlPage(listOf(origin, "/a 2026-01-01"))}
	}, "/s.xml")
	r := newRig(t, unfollowed(t, o.URL("/")))
	for _, test := range []struct {
		page models.Page
		want models.OutcomeKind
	}{
		{models.Page{Entries: 1, Version: 1, State: models.StateLive}, models.First},
		{models.Page{Rule: models.RuleList, State: models.StateNew}, models.First},
		{models.Page{Rule: models.RuleList, State: models.StateLive}, models.Excluded}, // it leads to new pages
		{models.Page{State: models.StateNew}, models.Excluded},
	} {
		p := pageOf(t, o.URL("/s.xml"))
		p.Level, p.Entries, p.Version, p.State, p.Rule = 2, test.page.Entries, test.page.Version, test.page.State, test.page.Rule
		out := r.Visit(t.Context(), models.Turn{Host: models.Host{Pages: fewestTold}, Robots: []models.Robots{robotsRow(t, p, "")}, Page: models.LeasedPage{Page: p}, Now: r.clock.Now()})
		if out.Kind != test.want {
			t.Errorf("a page of level 2 with %d entries, %v by %v, where the limit is 0: %v (%s), want %v", p.Entries, p.State, p.Rule, out.Kind, out.Detail, test.want)
		}
	}
}

// TestListsThatRedirect: where a sitemap that is named leads is read as one, before the pages that wait, on whatever level it is named: as the
// customary http of a site at https does, or an index that names its files by another host name.
func TestListsThatRedirect(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/s.xml": hostile.Redirect(301, "/urls.txt"), "/urls.txt": page("http://a.test/x\n", "Content-Type", "text/plain"),
		"/": hostile.Redirect(301, "/elsewhere")})
	for name, test := range map[string]struct {
		rules string
		edit  func(*models.Page)
	}{
		"named by robots.txt": {"Sitemap: /s.xml\n", func(p *models.Page) { p.State, p.Stats.Records = models.StateMoved, 3 }},
		"named by an index":   {"", func(p *models.Page) { p.Rule = models.RuleList }},
		"a list until now":    {"", func(p *models.Page) { p.State, p.Entries = models.StateLive, 7 }},
	} {
		r := newRig(t, nil)
		p := pageOf(t, o.URL("/s.xml"))
		test.edit(&p)
		out := r.turn(t.Context(), p, robotsRow(t, p, test.rules))
		wantKind(t, out, models.Moved)
		if len(out.Links) != 1 || !out.Links[0].List {
			t.Errorf("%s: what it leads to is %+v, want a list", name, out.Links)
		}
		target := pageOf(t, o.URL("/urls.txt"))
		target.Chain = []int64{p.ID}
		if out := r.turn(t.Context(), target, robotsRow(t, p, test.rules)); (out.Listing != nil) != (test.rules != "") {
			t.Errorf("%s: what it leads to, without mark-up, is read as %+v", name, out.Listing)
		}
	}
	if out := newRig(t, nil).fetch(o.URL("/")); len(out.Links) != 1 || out.Links[0].List {
		t.Errorf("a page that redirects leads to %+v, want no list", out.Links)
	}
}
