package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"recrawld/models"
	"recrawld/recrawl/canon"
)

// noisySite serves pages whose frame shows a counter, so that no two answers have the same bytes: /still never says
// anything else, /fee says another fee on each second request, and /wall asks for a password from the second one on. Its
// pages that do not exist answer 200.
func noisySite(t *testing.T) *httptest.Server {
	t.Helper()
	var all, fee, wall atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		title, main := "Library", `<p>Nothing that anybody has asked for can be found at this address. It may have been moved.`
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(w, r)
			return
		case "/":
			main = `<p>See <a href=/still>the rules</a>, <a href=/fee>the fees</a> and <a href=/wall>what members may read</a>.`
		case "/still":
			main = `<p>These rules hold for everybody who uses the library, on weekdays as well as on Sundays and holidays.`
		case "/fee":
			main = fmt.Sprintf(`<p>The fee for a year is %d pounds, to be paid at the desk on the first visit of each year.`, 10+fee.Add(1)/2)
		case "/wall":
			main = `<p>Members may read here what the committee decided in its last meeting, and who was there to decide it.
				<p>It met on the first Monday of the month, in the reading room. All members were there but for the treasurer, who
				was ill. The accounts of the last year were read and approved.<p>The opening hours in winter are to be as they were
				last year. The roof is to be mended before the rains begin, for no more than what the builder asked for in spring.`
			if wall.Add(1) > 1 {
				title, main = "Sign in", `<p>Please sign in.<form method=post><input name=user><input type=password name=password><button>Sign in</button></form>`
			}
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>%s</title><header><nav><ul><li><a href=/>Start</a></ul></nav></header>
<main><h1>Library</h1>%s</main><footer><p>%d visitors so far</p></footer>`, title, main, all.Add(1))
	}))
	t.Cleanup(server.Close)
	return server
}

// TestDaemonTellsContentFromNoise runs the daemon for some days of its own over a site of noise, through database and
// archive.
func TestDaemonTellsContentFromNoise(t *testing.T) {
	t.Parallel()
	site := noisySite(t)
	config, data := configure(t, "cycle: 1h\nsites: [{url: \""+site.URL+"\", fr: 1, fr_max: 4, lists: off}]\n") // so no sitemap is looked for
	kinds := func(path string) (models.Page, map[models.OutcomeKind]int) {
		store, err := models.Open(t.Context(), filepath.Join(data, databaseFile), models.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		u, err := canon.Parse(site.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		page, err := store.Page(t.Context(), models.BucketOf(u.HostName()), models.PageID(u.String()))
		if err != nil && !errors.Is(err, models.ErrNotFound) {
			t.Fatal(err)
		}
		visits, err := store.History(t.Context(), page.Bucket, page.ID, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[models.OutcomeKind]int)
		for _, v := range visits {
			seen[v.Kind]++
		}
		return page, seen
	}
	runUntil(t, func() bool {
		still, seen := kinds("/still")
		_, fee := kinds("/fee")
		_, wall := kinds("/wall")
		return seen[models.Noise]+seen[models.SameText] >= 3 && still.ByteChanges >= 3 && fee[models.Changed] >= 2 && fee[models.Noise] >= 1 &&
			wall[models.Failed] >= 1
	}, "run", "-c", config, "--speed", "20000")
	if page, seen := kinds("/still"); seen[models.Changed] > 0 {
		t.Errorf("a page that only counts: %v, %d changes of its bytes", seen, page.ByteChanges)
	}
	if page, seen := kinds("/wall"); page.Class != models.LoginWall && page.Failures > 0 {
		t.Errorf("a page behind a wall: %v, %v", seen, page.Class)
	}
	probes := 0
	for _, path := range []string{"/", "/still", "/fee", "/wall"} {
		_, seen := kinds(path)
		probes += seen[models.Probed]
	}
	if probes != 1 {
		t.Errorf("%d probes, want 1", probes)
	}
	if out := must(t, "diff", "-c", config, site.URL+"/fee", "1..2"); !strings.Contains(out, "pounds") {
		t.Errorf("diff says %q", out)
	}
}

// lyingSite serves one page with one tag for ever, and answers 304 to it, although the page says something else on each
// request: another word in another place, as no clock does.
func lyingSite(t *testing.T) *httptest.Server {
	t.Helper()
	words := strings.Fields("bread milk butter cheese apples pears plums grapes nuts honey")
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		n := int(asked.Add(1))
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("ETag", `"for-ever"`)
		if r.Header.Get("If-None-Match") == `"for-ever"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, "<!doctype html><title>Shop</title><main><h1>Shop</h1>")
		for i := range n {
			fmt.Fprintf(w, "<p>Since week %d the shop in the high street has %s from the farms around the town.</p>", i, words[i%len(words)])
		}
		fmt.Fprint(w, "</main>")
	}))
	t.Cleanup(server.Close)
	return server
}

// TestDaemonFindsLiars: audits find the tag out, and the report says so.
func TestDaemonFindsLiars(t *testing.T) {
	t.Parallel()
	site := lyingSite(t)
	config, _ := configure(t, "cycle: 1h\nsites: [{url: \""+site.URL+"\", fr: 1, fr_max: 2, audit: 50%, probe: off}]\n")
	runUntil(t, func() bool {
		return strings.Contains(must(t, "report", "hints", "-c", config), "ETag is not used") &&
			strings.Count(must(t, "changes", "-c", config), site.URL) >= 3
	}, "run", "-c", config, "--speed", "20000")
}
