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
