package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/internal/shared"
	"recrawld/models"
	"recrawld/report"
	"recrawld/simulate"
)

// unusualLook is a daemon that looks for what is unusual of a site.
type unusualLook struct {
	*daemon
	t    *testing.T
	path string // of the configuration
	now  time.Time
	said bytes.Buffer // its log
	db   *sql.DB
}

func looksForUnusual(t *testing.T) *unusualLook {
	t.Helper()
	path, data := configure(t, "")
	must(t, "run", "-c", path, "--for", "100ms", "http://127.0.0.1:1/")
	l := &unusualLook{daemon: built(t, path), t: t, path: path}
	l.log, l.now = slog.New(slog.NewTextHandler(&l.said, nil)), l.clock.Now()
	var err error
	if l.db, err = sql.Open("sqlite", filepath.Join(data, databaseFile)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.db.Close() })
	return l
}

// visits adds visits to a site so many days ago.
func (l *unusualLook) visits(site int32, ago, asked, failed int) {
	l.t.Helper()
	_, err := l.db.Exec(`INSERT INTO daily (bucket, site_id, day, asked, failed, not_modified, same, changed, first, moved, gone, robots, skipped, bytes,
		bytes_saved) VALUES (0, $1, $2, $3, $4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		ON CONFLICT (bucket, site_id, day) DO UPDATE SET asked = daily.asked + excluded.asked, failed = daily.failed + excluded.failed`,
		site, int(report.DayNumber(l.now))-ago, asked, failed)
	if err != nil {
		l.t.Fatal(err)
	}
}

// looks looks at a moment and returns all that was ever said, and the metric.
func (l *unusualLook) looks(at time.Time) (said string, sites float64) {
	l.t.Helper()
	if err := l.lookForUnusual(l.t.Context(), at); err != nil {
		l.t.Fatal(err)
	}
	return l.said.String(), sum(l.registry, "recrawld_unusual_sites")
}

// A site that begins to fail is told of in the log once, by one of two workers, in status and in the metric of both, and is not any
// more when it is as usual again.
func TestWhatIsUnusualIsTold(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	site := l.force.Load().rows[0].ID
	for ago := 3; ago < 20; ago++ {
		l.visits(site, ago, 10, 0)
	}
	l.looks(l.now)
	l.visits(site, 0, 40, 40)
	if text, _ := l.looks(l.now.Add(time.Minute)); strings.Contains(text, "unusual") { // somebody looked a moment ago
		t.Errorf("said too early:\n%s", text)
	}
	l.looks(l.now.Add(unusualEvery))
	text, sites := l.looks(l.now.Add(2 * unusualEvery))
	if strings.Count(text, "a site is unusual") != 1 || !strings.Contains(text, "what=failing") || sites != 1 {
		t.Errorf("%v sites are unusual, said\n%s", sites, text)
	}
	if out := must(t, "status", "-c", l.path); !strings.Contains(out, "unusual") || !strings.Contains(out, "since yesterday failed, 0 % in the 28 days before ") {
		t.Errorf("status says\n%s", out)
	}
	var s status
	if err := json.Unmarshal([]byte(must(t, "status", "-c", l.path, "--json")), &s); err != nil || len(s.Unusual) != 1 || s.Unusual[0].Kind != report.Failing {
		t.Errorf("status --json has %+v, %v", s.Unusual, err)
	}
	l.visits(site, 0, 400, 0)
	if text, sites := l.looks(l.now.Add(3 * unusualEvery)); !strings.Contains(text, "as usual again") || sites != 0 {
		t.Errorf("%v sites are unusual, said\n%s", sites, text)
	}
}

// Of two workers that look at the same moment, and have both read what there was before, the first to note what it found tells of it; the
// other one takes that over.
func TestWhatIsUnusualIsNotedOnce(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	before := unusual{At: models.At(l.now)}
	found := func(site int32) unusual {
		return unusual{At: models.At(l.now.Add(unusualEvery)), Sites: []report.Unusual{{Site: site, Kind: report.Failing}}}
	}
	for range 2 { // nothing was noted; and something was
		old, err := lastUnusual(t.Context(), l.store)
		if err != nil {
			t.Fatal(err)
		}
		if noted, mine, err := l.noteUnusual(t.Context(), old, before); !mine || err != nil || len(noted.Sites) != 0 {
			t.Errorf("the first notes %+v, %t, %v", noted, mine, err)
		}
		if _, mine, err := l.noteUnusual(t.Context(), before, found(1)); !mine || err != nil {
			t.Errorf("the next notes it: %t, %v", mine, err)
		}
		if noted, mine, err := l.noteUnusual(t.Context(), before, found(2)); mine || err != nil || len(noted.Sites) != 1 || noted.Sites[0].Site != 1 {
			t.Errorf("another at the same moment notes %+v, %t, %v, want what was noted before", noted, mine, err)
		}
	}
}

// Of a site that was removed nothing is told, also where a visit that was written meanwhile left sums of it.
func TestARemovedSiteIsNotUnusual(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	const site = 100
	for ago := range 20 {
		l.visits(site, ago, 100, 100*(3-min(ago, 3))/3)
	}
	note := fmt.Sprintf(`{"At":%d,"Sites":[{"site_id":%d,"kind":"failing","words":"w"}]}`, models.At(l.now), site)
	if err := l.store.Merge(t.Context(), noteUnusual, func([]byte) []byte { return []byte(note) }); err != nil {
		t.Fatal(err)
	}
	if text, sites := l.looks(l.now.Add(unusualEvery)); text != "" || sites != 0 {
		t.Errorf("%v sites are unusual, said\n%s", sites, text)
	}
}

// On real histories, visited once a day, nobody is called out for nothing: the quiet alone that is unusual comes in years.
func TestUnusualIsRareOnRealHistories(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ota-contrib", "rss-feeds", "ruby-www"} {
		trace, err := simulate.ReadTrace(shared.Path(t, "traces/"+name+".csv.gz"), true)
		if err != nil {
			t.Fatal(err)
		}
		days := dailyVisits(trace)
		told, before := 0, false
		for i := range days {
			found := report.FindUnusual(days[max(0, i+1-report.UnusualDays):i+1], days[i].Day)
			if len(found) > 0 && !before {
				told++
			}
			before = len(found) > 0
		}
		if years := float64(len(days)) / 365; float64(told) > max(1, years/2) {
			t.Errorf("%s: told %d times in %.1f years", name, told, years)
		}
	}
}

// dailyVisits is what a visit a day to each page finds.
func dailyVisits(trace *simulate.Trace) []models.Daily {
	first, last := models.DayOf(trace.From), models.DayOf(trace.To)
	days := make([]models.Daily, last-first+1)
	for i := range days {
		days[i] = models.Daily{SiteID: 1, Day: first + int32(i)}
	}
	for _, p := range trace.Pages {
		for day := max(models.DayOf(p.Born), first); day <= last; day++ {
			days[day-first].Asked++
		}
		seen := int32(-1)
		for _, at := range p.Changes {
			if day := models.DayOf(at); day != seen && day >= first && day <= last {
				days[day-first].Changed++
				seen = day
			}
		}
	}
	return days
}
