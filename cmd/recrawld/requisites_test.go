package main

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/pgtest"
	"recrawld/models"
)

// lender is a host that takes down when it is asked for what.
type lender struct {
	*httptest.Server
	files map[string]string // by path; set before anybody asks

	mu    sync.Mutex
	asked []string      // guarded by mu
	ended time.Time     // guarded by mu; the last request
	least time.Duration // guarded by mu; between the end of a request and the next
}

// lend starts a host. What it has is filled in by the caller.
func lend(t *testing.T) *lender {
	t.Helper()
	l := &lender{files: make(map[string]string), least: time.Hour}
	l.Server = httptest.NewServer(l)
	t.Cleanup(l.Close)
	return l
}

func (l *lender) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := (clock.System{}).Now(); !l.ended.IsZero() {
		l.least = min(l.least, now.Sub(l.ended))
	}
	defer func() { l.ended = clock.System{}.Now() }()
	l.asked = append(l.asked, r.URL.Path)
	body, known := l.files[r.URL.Path]
	if to, leads := strings.CutPrefix(body, "to "); leads {
		http.Redirect(w, r, to, http.StatusFound)
		return
	}
	if !known {
		http.NotFound(w, r)
		return
	}
	media := map[string]string{".css": "text/css", ".png": "image/png", ".js": "text/javascript", ".woff2": "font/woff2", ".txt": "text/plain"}[filepath.Ext(r.URL.Path)]
	if media == "" || strings.HasPrefix(body, "<") {
		media = "text/html"
	}
	w.Header().Set("Content-Type", media)
	tag := fmt.Sprintf(`"%d"`, len(body))
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	fmt.Fprint(w, body)
}

// has tells whether all of these paths were asked for.
func (l *lender) has(paths ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !slices.ContainsFunc(paths, func(p string) bool { return !slices.Contains(l.asked, p) })
}

// lentSite is a site in /docs/ whose pages need what lies elsewhere on its host and on another one.
func lentSite(t *testing.T) (site, cdn *lender) {
	site, cdn = lend(t), lend(t)
	at := func(text string) string { return strings.ReplaceAll(text, "CDN", cdn.URL) }
	for path, body := range map[string]string{
		"/docs/": `<title>One</title><link rel=stylesheet href=/static/main.css><script src=CDN/app.js></script><a href=two>two</a><a href=/no>no</a>
			<img src=/img/a.png srcset="/img/a.png 1x, CDN/big,w_2.png 2x"><a href=CDN/no>no</a>`,
		"/docs/two":        `<title>Two</title><p style="background:url(CDN/bg.png)"><img src=two.png><img src=CDN/private/c.png><img src=CDN/moved.png><img src=CDN/error.png>`,
		"/docs/two.png":    "the image of page two",
		"/img/a.png":       "an image",
		"/static/main.css": `@import "more.css"; @font-face { src: url(CDN/fonts/f.woff2) }`,
		"/static/more.css": `a { background: url("more.png") }`,
		"/static/more.png": "more of an image",
	} {
		site.files[path] = at(body)
	}
	for path, body := range map[string]string{
		"/robots.txt": "User-agent: *\nDisallow: /private/\nSitemap: CDN/no.xml\n",
		"/app.js":     "import './part.js'; script()", "/part.js": "import('CDN/app.js')", "/big,w_2.png": "a big image", "/bg.png": "a background", "/fonts/f.woff2": "a font",
		"/moved.png": "to /final.png", "/final.png": "an image elsewhere",
		"/error.png": `<title>Error</title><a href=/no>no</a><img src=/no.png><link rel=stylesheet href=no.css>`,
	} {
		cdn.files[path] = at(body)
	}
	return site, cdn
}

// ofSite and ofCDN are what is asked for of a lentSite with requisites: all.
var (
	ofSite = []string{"/docs/", "/docs/two", "/docs/two.png", "/img/a.png", "/robots.txt", "/static/main.css", "/static/more.css", "/static/more.png"}
	ofCDN  = []string{"/app.js", "/bg.png", "/big,w_2.png", "/error.png", "/final.png", "/fonts/f.woff2", "/moved.png", "/part.js", "/robots.txt"}
)

// wantAsked checks that these paths were asked for, and no others.
func (l *lender) wantAsked(t *testing.T, name string, want []string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := slices.Clone(l.asked)
	slices.Sort(asked)
	if asked = slices.Compact(asked); !slices.Equal(asked, want) {
		t.Errorf("of %s was asked for %v, want %v", name, asked, want)
	}
}

// TestPagesAreKeptWhole runs the daemon on a site with what its pages need on two hosts: all of it is in the mirror and in the
// archive, the robots.txt and the delay of the other host are kept, and nothing else of it is visited.
func TestPagesAreKeptWhole(t *testing.T) {
	t.Parallel()
	site, cdn := lentSite(t)
	const delay = 100 * time.Millisecond
	path, data := configure(t, fmt.Sprintf("sites:\n  - {url: %q, name: docs, requisites: all, delay: %s}\n", site.URL+"/docs/", delay))
	mirror := filepath.Join(data, "mirror")
	runUntil(t, func() bool {
		return site.has(ofSite...) && cdn.has(ofCDN...) && len(lacking(t, mirror, site, cdn)) == 0
	}, "run", "-c", path)
	if lacks := lacking(t, mirror, site, cdn); len(lacks) > 0 {
		t.Errorf("the mirror lacks %v", lacks)
	}
	site.wantAsked(t, "the site", ofSite)
	cdn.wantAsked(t, "the other host", ofCDN)
	for name, l := range map[string]*lender{"site": site, "other host": cdn} {
		if l.least < delay-time.Millisecond { // the database keeps whole ones
			t.Errorf("the %s was asked again after %s, want %s at least", name, l.least, delay)
		}
	}
	d := dumpOf(t, data)
	for _, l := range []*lender{site, cdn} {
		for path := range l.kept() {
			page := pageIn(t, d, l.URL+path)
			if page.Version != 1 {
				t.Errorf("of %s there are %d versions, want 1", path, page.Version)
			}
			if needed := path != "/docs/" && path != "/docs/two"; page.Requisite != needed {
				t.Errorf("%s is a requisite: %v, want %v", path, page.Requisite, needed)
			}
		}
	}
	if answer := must(t, "verify", "-c", path); !strings.Contains(answer, "archive") {
		t.Errorf("verify: %s", answer)
	}
	if level := pageIn(t, d, cdn.URL+"/fonts/f.woff2").Level; level != 2 {
		t.Errorf("the font of a style of the start page is at level %d, want 2", level)
	}
}

// kept are the files of a host that are pages, with their contents.
func (l *lender) kept() map[string]string {
	files := maps.Clone(l.files)
	maps.DeleteFunc(files, func(path, body string) bool { return path == "/robots.txt" || strings.HasPrefix(body, "to ") })
	return files
}

// lacking are the paths of the files of some hosts whose contents are not in a mirror.
func lacking(t *testing.T, mirror string, hosts ...*lender) []string {
	t.Helper()
	bodies := make(map[string]bool)
	err := filepath.WalkDir(mirror, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		bodies[string(body)] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var lacks []string
	for _, l := range hosts {
		for path, body := range l.kept() {
			if !bodies[body] {
				lacks = append(lacks, path)
			}
		}
	}
	return lacks
}

// TestRequisitesTurnedOnLater: pages that stand still are not read again by visits, but their copies are.
func TestRequisitesTurnedOnLater(t *testing.T) {
	t.Parallel()
	site, cdn := lentSite(t)
	sites := func(requisites string) string {
		return fmt.Sprintf("sites:\n  - {url: %q, name: docs, requisites: %s}\n", site.URL+"/docs/", requisites)
	}
	path, data := configure(t, sites("off"))
	runUntil(t, func() bool { return copied(t, path, site.URL+"/docs/", site.URL+"/docs/two") }, "run", "-c", path)
	site.wantAsked(t, "the site", []string{"/docs/", "/docs/two", "/robots.txt"})
	cdn.wantAsked(t, "the other host", nil)

	writeConfig(t, path, data, sites("site"))
	runUntil(t, func() bool { return site.has(ofSite...) }, "run", "-c", path)
	site.wantAsked(t, "the site", ofSite)
	cdn.wantAsked(t, "the other host", nil)

	writeConfig(t, path, data, sites("all"))
	runUntil(t, func() bool { return cdn.has(ofCDN...) }, "run", "-c", path)
	cdn.wantAsked(t, "the other host", ofCDN)
	site.wantAsked(t, "the site", ofSite)
	pages := 0
	for _, asked := range site.asked {
		if asked == "/docs/two" {
			pages++
		}
	}
	if pages != 1 {
		t.Errorf("a page that stood still was asked for %d times, want once", pages)
	}
}

// TestRequisitesTurnedOnAgain: what a site did not keep for a while comes back at once, not when its rules are looked at again, in a month.
func TestRequisitesTurnedOnAgain(t *testing.T) {
	t.Parallel()
	site, cdn := lentSite(t)
	sites := func(requisites string) string {
		return fmt.Sprintf("sites:\n  - {url: %q, name: docs, requisites: %s}\n", site.URL+"/docs/", requisites)
	}
	path, data := configure(t, sites("all"))
	script := cdn.URL + "/app.js"
	state := func() models.PageState { return pageIn(t, dumpOf(t, data), script).State }
	runUntil(t, func() bool { return site.has(ofSite...) && cdn.has(ofCDN...) }, "run", "-c", path)
	writeConfig(t, path, data, sites("off"))
	must(t, "visit", "-c", path, script)
	must(t, "run", "-c", path, "--for", "2s")
	if got := state(); got != models.StateExcluded {
		t.Fatalf("%s is %s while its site keeps no requisites, want it excluded", script, got)
	}
	writeConfig(t, path, data, sites("all"))
	must(t, "run", "-c", path, "--for", "3s")
	if got := state(); got != models.StateLive {
		t.Errorf("%s is %s when its site keeps requisites again, want it live", script, got)
	}
}

// TestRequisitesOfARemovedSite: what two sites need is a page of one of them, and of the other when that is removed.
func TestRequisitesOfARemovedSite(t *testing.T) {
	t.Parallel()
	one, two, cdn := lend(t), lend(t), lend(t)
	cdn.files["/app.js"] = "script()"
	for _, site := range []*lender{one, two} {
		site.files["/docs/"] = "<title>Docs of " + site.URL + "</title><script src=" + cdn.URL + "/app.js></script>"
	}
	path, data := configure(t, fmt.Sprintf("sites:\n  - {url: %q, name: one, requisites: all}\n", one.URL+"/docs/"))
	runUntil(t, func() bool { return cdn.has("/app.js") }, "run", "-c", path)
	writeConfig(t, path, data, fmt.Sprintf("sites:\n  - {url: %q, name: two, requisites: all}\n", two.URL+"/docs/"))
	runUntil(t, func() bool { return copied(t, path, two.URL+"/docs/") }, "run", "-c", path)
	must(t, "remove", "-c", path, "one", "--yes")
	must(t, "run", "-c", path, "--for", "3s")
	if p := pageIn(t, dumpOf(t, data), cdn.URL+"/app.js"); p.SiteID == 1 || p.Version != 1 {
		t.Errorf("what the removed site had and another needs is of site %d with version %d, want it kept by the other", p.SiteID, p.Version)
	}
}

// TestRequisitesTurns is of the agreement between workers: who reads, from where, and for which sites.
func TestRequisitesTurns(t *testing.T) {
	t.Parallel()
	now := importanceNow
	all, site := needsOf{Mode: config.RequisitesAll, Filter: "off"}, needsOf{Mode: config.RequisitesSite, Filter: "off", Scope: "a"}
	var turn requisitesTurn
	removed := map[int32]bool{}
	claim := func(worker string, wanted map[int32]needsOf) bool {
		turn = fromNote[requisitesTurn](toNote(turn))
		return turn.claim(wanted, func(id int32) bool { return !removed[id] }, worker, now, time.Minute)
	}
	if claim("a", nil) {
		t.Error("no site keeps any, and they are looked for")
	}
	if !claim("a", map[int32]needsOf{1: all, 2: site}) || claim("b", map[int32]needsOf{1: all, 2: site}) {
		t.Error("two workers read at once, or none")
	}
	turn.Until = models.At(now.AddDate(4, 0, 0)) // by a clock that was ahead
	if !claim("b", map[int32]needsOf{1: all, 2: site}) {
		t.Error("for years nobody reads, since a worker whose clock was ahead began to")
	}
	turn.By, turn.Bucket, turn.After = "a", 7, 5
	now = now.Add(time.Hour)
	if !claim("b", map[int32]needsOf{1: all, 2: site}) || turn.Bucket != 7 || turn.After != 5 {
		t.Errorf("another worker goes on at %d %d, want where the first ended", turn.Bucket, turn.After)
	}
	if !claim("b", map[int32]needsOf{1: all, 2: all}) || turn.Bucket != 0 || turn.After != -1 {
		t.Errorf("with another setting it goes on at %d %d, want from the beginning", turn.Bucket, turn.After)
	}
	turn.Of = map[int32]needsOf{1: all, 2: all}
	if claim("b", map[int32]needsOf{1: all, 2: site}) || turn.Of[2] != site {
		t.Error("a site that keeps less is read, or not taken note of")
	}
	if claim("b", map[int32]needsOf{1: all}) || !claim("b", map[int32]needsOf{1: all, 2: site}) || len(turn.Reading) != 1 {
		t.Error("a site that kept none for a while is not read")
	}
	turn.Of, turn.Reading, removed[1] = map[int32]needsOf{1: all, 2: all, 3: site}, nil, true
	for range 2 {
		if !claim("b", map[int32]needsOf{2: all, 3: site}) || len(turn.Reading) != 2 {
			t.Errorf("%d sites are read once another is removed, which may have had what they need, want both", len(turn.Reading))
		}
	}
}

func TestWiderNeeds(t *testing.T) {
	t.Parallel()
	all, site := needsOf{"all", "off", "", 0}, needsOf{"site", "off", "a", 0}
	for _, c := range []struct {
		before, now needsOf
		want        bool
	}{
		{needsOf{}, site, true}, {needsOf{}, all, true}, {site, all, true}, {all, site, false}, {all, all, false}, {all, needsOf{}, false},
		{site, needsOf{"site", "off", "a b", 0}, true}, {all, needsOf{"all", "x", "", 0}, false}, {needsOf{"all", "x", "", 0}, all, true},
		{needsOf{"all", "x", "", 0}, needsOf{"all", "y", "", 0}, true}, {needsOf{"all", "x", "", 0}, site, true},
		{all, needsOf{"site", "off", "a", 1}, true},
	} {
		if got := c.now.widerThan(c.before); got != c.want {
			t.Errorf("%v after %v is wider: %v, want %v", c.now, c.before, got, c.want)
		}
	}
	var kept preparedSite
	kept.site.Settings.Requisites = config.RequisitesAll
	if now := needsWanted(&inForce{sites: map[int32]preparedSite{1: kept}})[1]; !now.widerThan(needsOf{Mode: now.Mode, Filter: now.Filter}) {
		t.Error("a release that finds more reads nothing for it")
	}
}

// TestRequisitesOfAnotherArchive: of workers with archives of their own each reads what lies in its own.
func TestRequisitesOfAnotherArchive(t *testing.T) {
	t.Parallel()
	site := lend(t)
	site.files["/docs/"], site.files["/a.png"] = `<title>One</title><img src=/a.png>`, "an image"
	store := "store: \"" + pgtest.DSN(t) + "\"\n"
	of := func(worker, requisites string) string {
		return fmt.Sprintf("%sworker: {name: %s}\nsites:\n  - {url: %q, name: docs, requisites: %s}\n", store, worker, site.URL+"/docs/", requisites)
	}
	near, nearData := configure(t, of("near", "off"))
	far, farData := configure(t, of("far", "off"))
	runUntil(t, func() bool { return copied(t, far, site.URL+"/docs/") }, "run", "-c", far)
	writeConfig(t, near, nearData, of("near", "all"))
	writeConfig(t, far, farData, of("far", "all"))
	must(t, "run", "-c", near, "--for", "2s")
	if site.has("/a.png") {
		t.Error("a worker read what lies in the archive of another")
	}
	runUntil(t, func() bool { return site.has("/a.png") }, "run", "-c", far)
}
