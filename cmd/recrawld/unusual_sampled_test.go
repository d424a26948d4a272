package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawld/models"
	"recrawld/report"
)

// A site that has its pages once more for printers is told of, in status and once by the daemon, with the filter that leaves them out. Once that is
// in force nothing is said, though what it leaves out waits to be excluded; and what becomes so is found a day later.
func TestVariantsAreTold(t *testing.T) {
	t.Parallel()
	const site = `sites: [{url: "http://127.0.0.1:1/"`
	l := looksForUnusual(t, site+"}]")
	l.looks(l.now)
	var found []models.Discovery
	for i := range 50 {
		for _, form := range []string{"http://127.0.0.1:1/%d", "http://127.0.0.1:1/%d?print=1"} {
			found = append(found, models.Discovery{Host: "127.0.0.1:1", Page: models.Page{URL: fmt.Sprintf(form, i), SiteID: l.force.Load().rows[0].ID}})
		}
	}
	if _, err := l.store.AddPages(t.Context(), l.now, found, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := l.db.Exec(`UPDATE pages SET state = $1, visits = 2, records = 2, duplicate_of = CASE WHEN url LIKE '%?print=1' THEN replace(url, '?print=1', '') ELSE '' END
		WHERE url <> 'http://127.0.0.1:1/'`, models.StateLive); err != nil {
		t.Fatal(err)
	}
	if said, _ := l.looks(l.now.Add(23 * time.Hour)); strings.Contains(said, "variants") {
		t.Errorf("within a day of the last look, by how many pages are counted as visited, is said\n%s", said)
	}
	if _, err := l.db.Exec(`UPDATE page_counts SET state = $1`, models.StateLive); err != nil {
		t.Fatal(err)
	}
	l.looks(l.now.Add(23*time.Hour + unusualEvery))
	said, sites := l.looks(l.now.Add(26 * time.Hour))
	if strings.Count(said, "a site is unusual") != 1 || !strings.Contains(said, "what=variants") || sites != 1 {
		t.Errorf("%v sites are unusual, said\n%s", sites, said)
	}
	const filter = "filter: {not: {param: print}}"
	var s status
	if err := json.Unmarshal([]byte(must(t, "status", "-c", l.path, "--json")), &s); err != nil || len(s.Unusual) != 1 || s.Unusual[0].Kind != report.Variants ||
		!strings.Contains(s.Unusual[0].Words, "50 of 101 pages have ?print= ") || !strings.Contains(s.Unusual[0].Words, filter) {
		t.Errorf("status --json has %+v, %v", s.Unusual, err)
	}
	writeConfig(t, l.path, l.start.Data, site+", "+filter+"}]")
	if out := must(t, "status", "-c", l.path); strings.Contains(out, "print") {
		t.Errorf("with the filter status says\n%s", out)
	}
	if err := l.reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, sites := l.looks(l.now.Add(27 * time.Hour)); sites != 0 {
		t.Errorf("with the filter %v sites are unusual, said\n%s", sites, text)
	}
}

// A site that shows its pages at each of many states, so that new ones wait for years, is told of with the filter that leaves these out; nothing is
// said of one whose pages were just found, that is paused, or where nobody was at work.
func TestABacklogIsTold(t *testing.T) {
	t.Parallel()
	const site = `sites: [{url: "http://127.0.0.1:1/"`
	l := looksForUnusual(t, site+"}]")
	var found []models.Discovery
	for i := range 50 {
		for at := range 25 {
			url := strings.TrimSuffix(fmt.Sprintf("http://127.0.0.1:1/%d?at=%d", i, at), "?at=24") // once without
			found = append(found, models.Discovery{Host: "127.0.0.1:1", Page: models.Page{URL: url, SiteID: l.force.Load().rows[0].ID}})
		}
	}
	if _, err := l.store.AddPages(t.Context(), l.now, found, 0); err != nil {
		t.Fatal(err)
	}
	pause := func(paused bool) {
		t.Helper()
		if _, err := l.db.Exec(`UPDATE sites SET paused = $1`, paused); err != nil {
			t.Fatal(err)
		}
		if err := l.reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.db.Exec(`UPDATE pages SET visits = 0`); err != nil { // of the start page it depended on the machine
		t.Fatal(err)
	}
	at := l.now
	daily := func(days int) (said string, unusual float64) {
		t.Helper()
		for range days {
			said, unusual = l.looks(at)
			at = at.Add(25 * time.Hour)
		}
		return said, unusual
	}
	if said, _ := daily(7); strings.Contains(said, "backlog") {
		t.Errorf("within a week after all was found is said\n%s", said)
	}
	pause(true)
	if said, _ := daily(3); strings.Contains(said, "backlog") {
		t.Errorf("of a paused site is said\n%s", said)
	}
	pause(false)
	daily(1)
	at = at.Add(7 * 24 * time.Hour)
	if said, _ := daily(1); strings.Contains(said, "backlog") {
		t.Errorf("after a week in which nobody looked is said\n%s", said)
	}
	said, unusual := daily(9)
	const words = "1,251 of 1,251 pages wait for their first visit, and none of them had it in the last 7 days; 96 % of them have ?at= in their address"
	if strings.Count(said, "a site is unusual") != 1 || !strings.Contains(said, words) || unusual != 1 {
		t.Errorf("%v sites are unusual, said\n%s", unusual, said)
	}
	const filter = "filter: {not: {param: at}}"
	if out := strings.Join(strings.Fields(must(t, "status", "-c", l.path)), " "); !strings.Contains(out, filter+" leaves out") {
		t.Errorf("status says\n%s", out)
	}
	writeConfig(t, l.path, l.start.Data, site+", "+filter+"}]")
	if out := must(t, "status", "-c", l.path); strings.Contains(out, "?at=") {
		t.Errorf("with the filter status says\n%s", out)
	}
	if err := l.reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, unusual := l.looks(at); unusual != 0 {
		t.Errorf("with the filter %v sites are unusual, said\n%s", unusual, text)
	}
}

// What came of visits that may have been first ones counts as such; of a site that fails nothing does.
func TestVisitsThatMayBeFirst(t *testing.T) {
	t.Parallel()
	for of, want := range map[models.Daily]int64{{Asked: 90, First: 10, Moved: 5, Gone: 2, Failed: 45}: 17, {Asked: 90, First: 10, Failed: 46}: -1, {}: 0} {
		if got := mayBeFirst(of); got != want {
			t.Errorf("of %+v %d may be first, want %d", of, got, want)
		}
	}
}
