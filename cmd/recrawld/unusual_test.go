package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
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

// A site that begins to fail is told of in the log once, by one of two workers, in status and in the metric of both, and is not any
// more when it is as usual again.
func TestWhatIsUnusualIsTold(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "")
	must(t, "run", "-c", path, "--for", "100ms", "http://127.0.0.1:1/")
	d := built(t, path)
	var log bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&log, nil))
	db, err := sql.Open("sqlite", filepath.Join(data, databaseFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	now := d.clock.Now()
	visits := func(ago, asked, failed int) {
		t.Helper()
		_, err := db.Exec(`INSERT INTO daily (bucket, site_id, day, asked, failed, not_modified, same, changed, first, moved, gone, robots, skipped, bytes,
			bytes_saved) VALUES (0, $1, $2, $3, $4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
			ON CONFLICT (bucket, site_id, day) DO UPDATE SET asked = daily.asked + excluded.asked, failed = daily.failed + excluded.failed`,
			d.force.Load().rows[0].ID, int(report.DayNumber(now))-ago, asked, failed)
		if err != nil {
			t.Fatal(err)
		}
	}
	for ago := 3; ago < 20; ago++ {
		visits(ago, 10, 0)
	}
	look := func(at time.Time) {
		t.Helper()
		if err := d.lookForUnusual(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	look(now)
	visits(0, 40, 40)
	look(now.Add(time.Minute)) // somebody looked a moment ago
	if text := log.String(); strings.Contains(text, "unusual") {
		t.Errorf("said too early:\n%s", text)
	}
	look(now.Add(unusualEvery))
	look(now.Add(2 * unusualEvery))
	if text := log.String(); strings.Count(text, "a site is unusual") != 1 || !strings.Contains(text, "what=failing") {
		t.Errorf("said\n%s", text)
	}
	if out := must(t, "status", "-c", path); !strings.Contains(out, "unusual") || !strings.Contains(out, "since yesterday failed, 0 % in the 28 days before ") {
		t.Errorf("status says\n%s", out)
	}
	var s status
	if err := json.Unmarshal([]byte(must(t, "status", "-c", path, "--json")), &s); err != nil || len(s.Unusual) != 1 || s.Unusual[0].Kind != report.Failing {
		t.Errorf("status --json has %+v, %v", s.Unusual, err)
	}
	if got := sum(d.registry, "recrawld_unusual_sites"); got != 1 {
		t.Errorf("the metric is %v, want 1", got)
	}
	visits(0, 400, 0)
	look(now.Add(3 * unusualEvery))
	if text := log.String(); !strings.Contains(text, "as usual again") || sum(d.registry, "recrawld_unusual_sites") != 0 {
		t.Errorf("said\n%s", text)
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
