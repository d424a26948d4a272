package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
)

// hasRequisites has the counts say that a site has so many requisites more, which are not there.
func hasRequisites(t *testing.T, db *sql.DB, site int32, n int) {
	t.Helper()
	if _, err := db.Exec(`INSERT INTO page_counts (bucket, site_id, state, pages, failing, requisites) VALUES (0, $1, $2, $3, 0, $3)
		ON CONFLICT (bucket, site_id, state) DO UPDATE SET pages = page_counts.pages + excluded.pages,
		requisites = page_counts.requisites + excluded.requisites`, site, models.StateLive, n); err != nil {
		t.Fatal(err)
	}
}

// A site that has as many requisites as it may gather is told of with the way out: in status at once, once by the daemon, and by why of what it
// does not keep because of that.
func TestAFullSiteIsTold(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t, `sites: [{url: "http://127.0.0.1:1/", requisites: all, scope: ["https://cdn.example/"]}]`)
	site := l.force.Load().rows[0].ID
	const needed = "https://cdn.example/style.css?cb=1"
	hasRequisites(t, l.db, site, models.LeastRequisites-1)
	l.looks(l.now.Add(unusualEvery))
	if out := must(t, "status", "-c", l.path); strings.Contains(out, "no new ones are kept") {
		t.Errorf("with room for one, status says\n%s", out)
	}
	if text := whyOf(t, l.path, needed); !strings.Contains(text, "it would be kept if it were found;") || strings.Contains(text, "needs to be shown") {
		t.Errorf("with room for one, why says\n%s", text)
	}
	hasRequisites(t, l.db, site, 1)
	want := "10,000 requisites for 1 page: no new ones are kept"
	if text := whyOf(t, l.path, needed); !strings.Contains(text, "it would be kept if a page linked to it;") ||
		!strings.Contains(text, "as something that a page needs to be shown forbidden: "+want) {
		t.Errorf("why says\n%s", text)
	}
	if text := whyOf(t, l.path, "https://far.example/a.png"); !strings.Contains(text, "also as something that a page needs to be shown: "+want) ||
		!strings.Contains(text, "it would not be visited") {
		t.Errorf("why of another host says\n%s", text)
	}
	var s status
	told := func(wants ...string) {
		t.Helper()
		if err := json.Unmarshal([]byte(must(t, "status", "-c", l.path, "--json")), &s); err != nil || len(s.Unusual) != 1 || s.Unusual[0].Kind != report.Requisites {
			t.Fatalf("status --json has %+v, %v", s.Unusual, err)
		}
		out := strings.Join(strings.Fields(must(t, "status", "-c", l.path)), " ")
		for _, w := range wants {
			if !strings.Contains(out, w) || !strings.Contains(s.Unusual[0].Words, w) {
				t.Errorf("status says\n%s\nwant %s", out, w)
			}
		}
	}
	told(want, "requisites_filter says which are, such as { not: { param: [cb] } }")
	if err := l.store.CountRequisites(t.Context()); err != nil {
		t.Fatal(err)
	}
	var found []models.Discovery
	for i := range 20 {
		found = append(found, models.Discovery{Host: "127.0.0.1", Page: models.Page{URL: fmt.Sprintf("http://127.0.0.1:1/a.css?token=%d", i), SiteID: site, Requisite: true}})
	}
	if added, err := l.store.AddPages(t.Context(), l.now, found, 0); err != nil || added.Dropped != len(found) {
		t.Fatalf("of new requisites of a full site are added %+v, %v, want none", added, err)
	}
	l.looks(l.now.Add(2 * unusualEvery))
	text, sites := l.looks(l.now.Add(3 * unusualEvery))
	if strings.Count(text, "a site is unusual") != 1 || !strings.Contains(text, "what=requisites") || sites != 1 {
		t.Errorf("%v sites are unusual, said\n%s", sites, text)
	}
	told(want, "requisites_filter: { not: { param: [token] } } leaves out those whose query has token, as 20 of the last 20 that were not kept have")
	hasRequisites(t, l.db, site, -models.LeastRequisites)
	if out := must(t, "status", "-c", l.path); strings.Contains(out, "no new ones") {
		t.Errorf("status says of a site that is full no more\n%s", out)
	}
	if text, sites := l.looks(l.now.Add(4 * unusualEvery)); !strings.Contains(text, "as usual again") || sites != 0 {
		t.Errorf("%v sites are unusual, said\n%s", sites, text)
	}
}

// whyOf is what why says of an address that is not known.
func whyOf(t *testing.T, path, url string) string {
	t.Helper()
	code, out, _ := command(t, "why", "-c", path, url)
	if code != exitNotFound {
		t.Fatalf("why %s: exit code %d, %s", url, code, out)
	}
	return strings.Join(strings.Fields(out), " ")
}

// TestRequisitesOfAFullSite: the copies of a site that is full give it no requisites more, and are read again once there is room.
func TestRequisitesOfAFullSite(t *testing.T) {
	t.Parallel()
	site := lend(t)
	site.files["/docs/"], site.files["/a.png"] = `<title>One</title><img src=/a.png>`, "an image"
	sites := func(requisites string) string {
		return fmt.Sprintf("sites:\n  - {url: %q, name: docs, requisites: %s}\n", site.URL+"/docs/", requisites)
	}
	path, data := configure(t, sites("off"))
	runUntil(t, func() bool { return copied(t, path, site.URL+"/docs/") }, "run", "-c", path)
	db, err := sql.Open("sqlite", filepath.Join(data, databaseFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	hasRequisites(t, db, 1, models.LeastRequisites)
	writeConfig(t, path, data, sites("all"))
	must(t, "run", "-c", path, "--for", "3s")
	site.wantAsked(t, "the site", []string{"/docs/", "/robots.txt"})
	hasRequisites(t, db, 1, -models.LeastRequisites)
	runUntil(t, func() bool { return site.has("/a.png") }, "run", "-c", path)
}

// What had no room is looked for again once there is room for a tenth of what the site may gather, and once.
func TestCopiesOfFullSitesAreReadAgain(t *testing.T) {
	t.Parallel()
	all := needsOf{Mode: config.RequisitesAll, Filter: "off"}
	wanted := map[int32]needsOf{1: all}
	turn := requisitesTurn{Of: map[int32]needsOf{1: all, 2: all}}
	for _, c := range []struct {
		kept int64
		want bool
	}{{9_999, false}, {5, false}, {10_000, false}, {9_001, false}, {9_000, true}, {9_000, false}, {0, false}} {
		turn = fromNote[requisitesTurn](toNote(turn))
		turn.readAgain(wanted, map[int32]models.SiteRequisites{1: {Kept: c.kept}, 2: {Kept: 20_000}})
		reads := turn.follow(wanted, func(int32) bool { return true })
		if _, got := reads[1]; got != c.want || len(reads) > 1 {
			t.Errorf("with %d requisites the copies are read: %v, want %v", c.kept, reads, c.want)
		}
		turn.Of[1] = all // as when they were read
	}
}
