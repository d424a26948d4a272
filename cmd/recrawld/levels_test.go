package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// promises puts a service level of the only site in force, which is as old as the window, by a reload.
func (l *unusualLook) promises(level string) {
	l.t.Helper()
	if _, err := l.db.Exec(`UPDATE sites SET created_at = $1`, models.At(l.now.Add(-40*day))); err != nil {
		l.t.Fatal(err)
	}
	writeConfig(l.t, l.path, filepath.Join(filepath.Dir(l.path), "data"), "sites: [{url: http://127.0.0.1:1/, slo: "+level+"}]\n")
	if err := l.reload(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

// finds adds changes to the log that visits found so long ago, each so long after the visit before.
func (l *unusualLook) finds(n int, ago, gap time.Duration) {
	l.t.Helper()
	at := models.At(l.now.Add(-ago))
	for range n {
		_, err := l.db.Exec(`INSERT INTO events (bucket, seq, at, kind, site_id, page_id, url, version, previous, not_before, not_after, status,
			content_type, last_modified, bytes, redirect_to, record_file, record_offset, record_length)
			SELECT 3, next_seq, $1, $2, $3, 1, 'http://127.0.0.1:1/', 2, 1, $4, $1, 200, '', '', 1, '', '', 0, 0 FROM buckets WHERE bucket = 3`,
			at, models.EventChanged, l.force.Load().rows[0].ID, at-models.Instant(gap.Milliseconds()))
		if err == nil {
			_, err = l.db.Exec(`UPDATE buckets SET next_seq = next_seq + 1 WHERE bucket = 3`)
		}
		if err != nil {
			l.t.Fatal(err)
		}
	}
}

// A promise that is put in force is measured at once, over what is in the log, and told of in status, the report, the metrics and the
// log of the daemon, when it is missed and when it is kept again.
func TestServiceLevelIsMeasured(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	look := func(now time.Time) string {
		t.Helper()
		if err := chore(t, l.daemon, "unusual")(now); err != nil {
			t.Fatal(err)
		}
		return l.said.String()
	}
	look(l.now)
	l.finds(18, 5*day, 3*time.Hour)
	l.finds(2, 2*time.Hour, 24*time.Hour) // 0.75 of each is too late
	l.promises("90% within 6h")
	if said := look(l.now.Add(time.Minute)); strings.Contains(said, "what=slo") {
		t.Errorf("missed with 0.75 of the error budget used:\n%s", said)
	}
	const kept = "92.5 % of 20 changes seen within 6h in 30 days, 90 % promised; 25 % of the error budget left"
	if out := strings.Join(strings.Fields(must(t, "status", "-c", l.path)), " "); !strings.Contains(out, "slo 127.0.0.1:1: "+kept) {
		t.Errorf("status says\n%s", out)
	}
	if left := sum(l.registry, "recrawld_slo_error_budget_left"); math.Abs(left-0.25) > 1e-9 || math.Abs(sum(l.registry, "recrawld_slo_attained")-0.925) > 1e-9 ||
		sum(l.registry, "recrawld_slo_promised") != 0.9 {
		t.Errorf("metrics: %v of the error budget left", left)
	}
	if csv := must(t, "report", "slo", "-c", l.path, "--format", "csv"); !strings.Contains(csv, "127.0.0.1:1,90% of changes seen within 6h,0.9,21600,0.925,0.9,1,") {
		t.Errorf("report slo as CSV:\n%s", csv)
	}

	l.finds(1, time.Hour, 48*time.Hour) // 0.875 more: 2.375 of the 2.1 that may be late
	look(l.now.Add(time.Hour / 2))      // not due yet
	for range 2 {
		look(l.now.Add(2 * time.Hour))
	}
	look(l.now.Add(3 * time.Hour))
	if said := l.said.String(); strings.Count(said, "what=slo") != 1 || !strings.Contains(said, "88.6 % of 21 changes seen within 6h in 30 days, 90 % promised; 1.1 times the error budget used") {
		t.Errorf("said\n%s", said)
	}
	if out := must(t, "status", "-c", l.path); strings.Count(out, "88.6 %") != 1 {
		t.Errorf("status says\n%s", out)
	}
	var s status
	if err := json.Unmarshal([]byte(must(t, "status", "-c", l.path, "--json")), &s); err != nil || len(s.Levels) != 1 || s.Levels[0].Changes != 21 || len(s.Unusual) != 1 {
		t.Errorf("status --json has %+v and %+v, %v", s.Levels, s.Unusual, err)
	}
	l.finds(10, 30*time.Minute, time.Hour)
	if said := look(l.now.Add(4 * time.Hour)); !strings.Contains(said, "as usual again") || sum(l.registry, "recrawld_unusual_sites") != 0 {
		t.Errorf("kept again, said\n%s", said)
	}
	l.promises("off")
	look(l.now.Add(4*time.Hour + time.Minute))
	if sum(l.registry, "recrawld_slo_promised") != 0 || strings.Contains(must(t, "status", "-c", l.path), "changes seen within") {
		t.Error("what is not promised any more is told of")
	}
}

// Two workers with different service levels in their files have both measured on: neither reads the log anew for its own, and a level
// that is missed is told of once, and not taken for kept by the worker that promises another one, or none.
func TestServiceLevelsOfTwoWorkers(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	l.finds(25, time.Hour, 12*time.Hour)
	at := l.now
	for i, turn := range []struct{ worker, level string }{
		{"one", "95% within 6h"}, {"two", "10% within 6h"}, {"three", "off"}, {"one", "95% within 6h"}, {"two", "10% within 6h"}, {"three", "off"},
	} {
		l.start.Worker.Name = turn.worker
		l.promises(turn.level)
		l.looks(at)
		if i == 1 { // what is measured anew from now on finds none of them
			if _, err := l.db.Exec(`DELETE FROM events`); err != nil {
				t.Fatal(err)
			}
		}
		at = at.Add(unusualEvery)
	}
	levels, err := lastLevels(t.Context(), l.store)
	if err != nil || len(levels.Sites) != 2 {
		t.Fatalf("%+v is measured, %v, want two levels", levels, err)
	}
	for _, level := range levels.Sites {
		if len(level.Days) != 1 || level.Days[0].Changes != 25 {
			t.Errorf("%s: %+v, want 25 changes", level.Goal, level.Days)
		}
	}
	if said := l.said.String(); strings.Count(said, "what=slo") != 1 || strings.Contains(said, "as usual again") {
		t.Errorf("said\n%s", said)
	}
}

// The note goes back to a checkpoint with the log, whose numbers are then given again: all is measured anew.
func TestServiceLevelAfterARestore(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	l.promises("95% within 6h")
	l.finds(4, time.Hour, time.Hour)
	l.looks(l.now)
	if err := l.store.NoteRestored(t.Context(), l.now); err != nil {
		t.Fatal(err)
	}
	l.finds(2, time.Hour, time.Hour)
	l.looks(l.now.Add(unusualEvery))
	levels, err := lastLevels(t.Context(), l.store)
	if err != nil || len(levels.Sites) != 1 || levels.Sites[0].Days[0].Changes != 6 {
		t.Errorf("%+v is measured, %v, want 6 changes", levels, err)
	}
}

// Without a daemon the report measures by itself, and says what is to be done where nothing is promised.
func TestReportOfServiceLevels(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	if out := must(t, "report", "slo", "-c", l.path); !strings.Contains(out, "Nothing is promised: write slo:") {
		t.Errorf("report slo says\n%s", out)
	}
	l.promises("95% within 6h")
	l.finds(25, time.Hour, 12*time.Hour)
	if out := must(t, "report", "slo", "-c", l.path, "--format", "json"); !strings.Contains(out, `"attained":0.5`) && !strings.Contains(out, `"attained": 0.5`) {
		t.Errorf("report slo says\n%s", out)
	}
	if out := must(t, "report", "slo", "-c", l.path, "--site", "127.0.0.1:1"); !strings.Contains(out, "1 site with a service level, 1 missed") {
		t.Errorf("report slo says\n%s", out)
	}
}

// The plan of a site takes the service level that it is promised.
func TestPlanOfAPromise(t *testing.T) {
	t.Parallel()
	l := looksForUnusual(t)
	if code, _, stderr := command(t, "plan", "127.0.0.1:1", "-c", l.path); code != exitUsage || !strings.Contains(stderr, "or slo: of the site") {
		t.Errorf("plan without a level: %d, %s", code, stderr)
	}
	l.promises("60% within 3d")
	if out := must(t, "plan", "127.0.0.1:1", "-c", l.path); !strings.Contains(out, "To see 60% of the changes within 3d") {
		t.Errorf("plan says\n%s", out)
	}
}
