package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
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

func looksForUnusual(t *testing.T, lines ...string) *unusualLook {
	t.Helper()
	path, data := configure(t, strings.Join(lines, "\n"))
	must(t, "run", "-c", path, "--for", "100ms", "http://127.0.0.1:1/")
	l := &unusualLook{daemon: built(t, path), t: t, path: path}
	l.log, l.now = slog.New(slog.NewTextHandler(&l.said, nil)), l.clock.Now()
	var err error
	if l.db, err = sql.Open("sqlite", filepath.Join(data, databaseFile)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.db.Close() })
	// Whether the daemon came to a look, and to a visit, depended on the machine.
	for _, table := range []string{"daily", "notes"} {
		if _, err := l.db.Exec("DELETE FROM " + table); err != nil {
			t.Fatal(err)
		}
	}
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

// TestAYoungSiteThatMostlyFailsIsTold: on its first day already, with why most pages do and with the command that shows more; where it is
// said otherwise already, once.
func TestAYoungSiteThatMostlyFailsIsTold(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	site := l.force.Load().rows[0]
	l.visits(site.ID, 0, 100, 90)
	if _, err := l.db.Exec("UPDATE pages SET failures = 3, class = $1", models.ServerError); err != nil {
		t.Fatal(err)
	}
	status := func(wants ...string) {
		t.Helper()
		out := must(t, "status", "-c", l.path)
		if strings.Count(out, " since yesterday failed") != 1 || slices.ContainsFunc(wants, func(want string) bool { return !strings.Contains(out, want) }) {
			t.Errorf("status does not say once %q:\n%s", wants, out)
		}
	}
	status("unusual  "+site.Name+": 90 % of 10", " visits since yesterday failed, most pages with server-error: recrawld report responses --site "+site.Name+"\n")
	for ago := 3; ago < 20; ago++ {
		l.visits(site.ID, ago, 10, 0)
	}
	l.looks(l.now.Add(unusualEvery))
	status(" in the 28 days before ")
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
			found := report.FindUnusual(days[max(0, i+1-report.UnusualDays):i+1], days[i].Day, before)
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

// looksAtPages enters pages with a copy that were looked at so many days ago, found or lost.
func (l *unusualLook) looksAtPages(site int32, ago, found, lost int) {
	l.t.Helper()
	l.visits(site, ago, found+lost, 0)
	_, err := l.db.Exec(`UPDATE daily SET found = found + $3, lost = lost + $4, found_days = found_days + $3, lost_days = lost_days + $4 WHERE bucket = 0 AND site_id = $1 AND day = $2`,
		site, int(report.DayNumber(l.now))-ago, found, lost)
	if err != nil {
		l.t.Fatal(err)
	}
}

// hears takes over what the database says of the sites, as the running daemon does every few seconds, and returns what the planner makes of
// a page that answers 410.
func (l *unusualLook) hears(missingSince models.Instant) models.PageState {
	l.t.Helper()
	if err := l.followSites(l.t.Context(), l.now); err != nil {
		l.t.Fatal(err)
	}
	page := models.Page{SiteID: l.force.Load().rows[0].ID, State: models.StateMissing, Version: 1, FRMax: 4, MissingSince: missingSince, MissingVisits: 1}
	later := missingSince.Time().Add(3 * time.Hour) // and was missing the first time
	if later.Before(l.now) {
		later = l.now
	}
	out := models.Outcome{Kind: models.Gone, Status: 410, Sent: 1, At: later}
	return l.force.Load().planner.Plan(&models.Lease{}, page, &out, later).Page.State
}

// A site whose pages vanish is guarded: none counts as gone until they are back, or somebody approves, and then those alone that were
// missing by then. Where its guard is off it is told of, and they are gone.
func TestSiteWhosePagesVanishIsGuarded(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	l.now = l.now.Add(-3 * time.Hour) // commands go by the present
	site := l.force.Load().rows[0]
	for ago := 1; ago < 30; ago++ {
		l.looksAtPages(site.ID, ago, 30, 0)
	}
	l.looks(l.now)
	early := models.At(l.now)
	if got := l.hears(early); got != models.StateGone {
		t.Errorf("of a site that is as usual, what answers 410 is %v, want it gone", got)
	}
	l.looksAtPages(site.ID, 0, 20, 25)
	said, sites := l.looks(l.now.Add(unusualEvery))
	if sites != 1 || !strings.Contains(said, "what=vanishing") {
		t.Errorf("%v sites are unusual, said\n%s", sites, said)
	}
	if got := l.hears(early); got != models.StateMissing {
		t.Errorf("of a site whose pages vanish, what answers 410 is %v, want it missing", got)
	}
	if out := must(t, "status", "-c", l.path); !strings.Contains(out, "25 pages not found any more since") || !strings.Contains(out, "recrawld approve "+site.Name) {
		t.Errorf("status says\n%s", out)
	}
	if out := must(t, "approve", "-c", l.path, site.Name); !strings.Contains(out, "nothing is held back yet; what is missing by now is gone") {
		t.Errorf("approve says %q", out)
	}
	if before, after := l.hears(early), l.hears(models.At(l.clock.Now())+1000); before != models.StateGone || after != models.StateMissing {
		t.Errorf("after that what was missing before is %v, and what is missing since is %v; want gone and missing", before, after)
	}
	if out := must(t, "status", "-c", l.path); !strings.Contains(out, "counts as gone, as you said") {
		t.Errorf("then status says\n%s", out)
	}
	l.looksAtPages(site.ID, 0, 400, 0)
	if said, sites := l.looks(l.now.Add(2 * unusualEvery)); sites != 0 || !strings.Contains(said, "as usual again") {
		t.Errorf("%v sites are unusual when pages are back, said\n%s", sites, said)
	}
	if got := l.hears(models.At(l.clock.Now()) + 1000); got != models.StateGone {
		t.Errorf("when the pages are back, what answers 410 is %v, want it gone", got)
	}
	if out := must(t, "approve", "-c", l.path, site.Name); !strings.Contains(out, "nothing of "+site.Name+" is held back") {
		t.Errorf("then approve says %q", out)
	}
	if code, _, stderr := command(t, "approve", "-c", l.path, "nobody"); code != exitNotFound {
		t.Errorf("approve of no site: %d, %s", code, stderr)
	}
}

// A host that is guarded by itself is told of, with its site, what it lost and what to do; and that somebody looked up to an hour ago.
func TestGuardedHostIsTold(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	l.now = l.now.Add(-3 * time.Hour)
	trials := models.Trials{Losses: models.Losses{Since: models.At(l.now), Lost: 12, Found: 3}}
	blob, err := trials.Value()
	if err != nil {
		t.Fatal(err)
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := l.db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`UPDATE hosts SET trials = $1, guarded_at = $2`, blob, int64(models.At(l.now)))
	exec(`UPDATE pages SET state = $1, due_at = $2`, models.StateMissing, int64(models.At(l.now)))
	said, sites := l.looks(l.now)
	words := "12 pages of 127.0.0.1:1 not found any more since " + l.now.Format("2 January") + ", 80 % of those looked at; none of such a host counts as gone"
	if sites != 1 || !strings.Contains(said, words) {
		t.Errorf("%v sites are unusual, said\n%s", sites, said)
	}
	if out := must(t, "status", "-c", l.path); !strings.Contains(out, words) || !strings.Contains(out, "(as of "+report.Moment(l.clock.Now(), l.now)) {
		t.Errorf("status says\n%s", out)
	}
	exec(`UPDATE hosts SET guarded_at = 0`)
	if said, sites := l.looks(l.now.Add(unusualEvery)); sites != 0 || !strings.Contains(said, "as usual again") {
		t.Errorf("%v sites are unusual when it is over, said\n%s", sites, said)
	}
}

// What is usual of a site is noted, roughly, and only where it matters: each change of it is a new configuration.
func TestWhatIsUsualIsNoted(t *testing.T) {
	t.Parallel()
	for perDay, want := range map[float64]float32{0: 0, 0.001: 0, 0.0101: 0.02, 0.1: 0.1, 0.1234: 0.2, 1: 1} {
		if got := noted(perDay); got != want {
			t.Errorf("noted(%v) = %v, want %v", perDay, got, want)
		}
	}
	l := looksForUnusual(t)
	site := l.force.Load().rows[0]
	for ago := 20; ago < 60; ago++ {
		l.looksAtPages(site.ID, ago, 27, 3)
	}
	l.looks(l.now.Add(unusualEvery))
	if err := l.followSites(t.Context(), l.now); err != nil {
		t.Fatal(err)
	}
	if row := l.force.Load().rows[0]; row.LossPerDay != 0.1 || row.GuardedAt != 0 || strings.Contains(l.said.String(), "site changed") {
		t.Errorf("%+v, want that a tenth is lost in a day; said\n%s", row, l.said.String())
	}
}

// Of requisites nobody says that they are missing: what a guard goes by are the other pages.
func TestGuardLeavesRequisitesOut(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	site := l.force.Load().rows[0]
	before, err := l.guards(t.Context(), l.force.Load().rows)
	if err != nil {
		t.Fatal(err)
	}
	for state, n := range map[models.PageState]int{models.StateMissing: 25, models.StateLive: 40, models.StateMoved: 9} {
		if _, err := l.db.Exec(`INSERT INTO page_counts (bucket, site_id, state, pages, failing, requisites) VALUES (300, $1, $2, $3, 0, $4)`, site.ID,
			state, n, n-2); err != nil {
			t.Fatal(err)
		}
	}
	after, err := l.guards(t.Context(), l.force.Load().rows)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := before[site.ID], after[site.ID]; b.Missing-a.Missing != 2 || b.There-a.There != 4 {
		t.Errorf("%d missing and %d there, of before %d and %d, want 2 and 4 more", b.Missing, b.There, a.Missing, a.There)
	}
}

// A site that another worker began to guard a moment ago goes on being guarded since then; and so it does, named in status, when for longer
// than the daily sums reach back nobody has visited it, as long as anything of it is missing.
func TestGuardIsNotForgotten(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	site := l.force.Load().rows[0]
	since := models.At(l.now.Add(-time.Minute))
	if err := l.store.SetGuarded(t.Context(), site.ID, since, 0); err != nil {
		t.Fatal(err)
	}
	l.looksAtPages(site.ID, 0, 20, 25)
	if _, err := l.db.Exec(`INSERT INTO page_counts (bucket, site_id, state, pages, failing) VALUES (0, $1, $2, 25, 0)`, site.ID, models.StateMissing); err != nil {
		t.Fatal(err)
	}
	guardedAt := func() models.Instant {
		t.Helper()
		rows, err := l.store.Sites(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return rows[0].GuardedAt
	}
	if l.looks(l.now); guardedAt() != since {
		t.Errorf("guarded since %v, want %v, as the other worker said", guardedAt(), since)
	}
	later := l.now.Add(200 * 24 * time.Hour)
	if said, sites := l.looks(later); sites != 1 || guardedAt() != since || strings.Contains(said, "as usual again") {
		t.Errorf("%v sites are unusual and it is guarded since %v, said\n%s", sites, guardedAt(), said)
	}
	if out := must(t, "status", "-c", l.path, "--json"); !strings.Contains(out, "after many were lost at once") {
		t.Errorf("status says\n%s", out)
	}
}
