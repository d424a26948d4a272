package main

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"recrawld/models"
	"recrawld/scheduler"
)

// chore is what a daemon does as the chore of that name: one that is done by nobody fails the test.
func chore(t *testing.T, d *daemon, name string) func(now time.Time) error {
	t.Helper()
	jobs := d.jobs()
	i := slices.IndexFunc(jobs, func(j scheduler.Job) bool { return j.Name == name })
	if i < 0 {
		t.Fatalf("no chore is called %q", name)
	}
	return func(now time.Time) error { return jobs[i].Run(t.Context(), now) }
}

// A machine that is switched off every night, or a daemon that is started anew every day, must not keep its history for ever.
func TestOldRowsAreRemovedByADaemonThatRunsForHours(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	for _, name := range []string{"history", "events"} {
		jobs := d.jobs()
		i := slices.IndexFunc(jobs, func(j scheduler.Job) bool { return j.Name == name })
		began := d.clock.Now()
		first := jobs[i].Next(began)
		if wait := first.Sub(began); wait < time.Minute || wait > 2*time.Hour {
			t.Errorf("%s is done first %v after the start, want some minutes", name, wait)
		}
		if wait := jobs[i].Next(first).Sub(first); wait != 24*time.Hour {
			t.Errorf("%s is done again after %v, want a day", name, wait)
		}
	}
}

// openTables opens the database of a data directory beside a daemon.
func openTables(t *testing.T, data string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(data, databaseFile))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// Of a page's history a chore removes what is older than it is to be kept, but for the last visit.
func TestOldVisitsAreRemovedByAChore(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "history: {keep: 30d}\n")
	d, db := built(t, path), openTables(t, data)
	now := d.clock.Now()
	for i, ago := range []int{60, 40, 20, 10} {
		_, err := db.Exec(`INSERT INTO visits (bucket, page_id, number, at, kind, class, status, took, bytes, fr_max, version, rule)
			VALUES (3, 1, $1, $2, $3, 0, 200, 1, 1, 1, 1, 1), (3, 2, $1, $4, $3, 0, 200, 1, 1, 1, 1, 1)`,
			i+1, models.At(now.AddDate(0, 0, -ago)), models.SameBytes, models.At(now.AddDate(0, 0, -ago-100)))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := chore(t, d, "history")(now); err != nil {
		t.Fatal(err)
	}
	for page, want := range map[int]string{1: "3,4", 2: "4"} {
		var left string
		if err := db.QueryRow("SELECT GROUP_CONCAT(number) FROM (SELECT number FROM visits WHERE page_id = $1 ORDER BY number)", page).Scan(&left); err != nil || left != want {
			t.Errorf("of page %d visits %s are left (%v), want %s", page, left, err, want)
		}
	}
}

// What a commit found out for other buckets and its worker did not deliver is delivered by a chore, of whatever worker, soon after; what
// may be under way is left to it.
func TestWhatWasCutOffIsDeliveredByAChore(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "")
	d, db := built(t, path), openTables(t, data)
	now := d.clock.Now()
	for id, ago := range []time.Duration{time.Minute, time.Second} {
		if _, err := db.Exec("INSERT INTO outbox (bucket, id, target, at, body) VALUES (3, $1, 4, $2, $3)", id+1, models.At(now.Add(-ago)), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		at   time.Time
		left int
	}{{now, 1}, {now.Add(2 * outboxEvery), 0}} {
		if err := chore(t, d, "outbox")(test.at); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := db.QueryRow("SELECT COUNT(*) FROM outbox").Scan(&left); err != nil || left != test.left {
			t.Errorf("%d parcels are left at %v (%v), want %d", left, test.at.Sub(now), err, test.left)
		}
	}
}

// Which requisites no page names any more is looked for by a chore, once there are some.
func TestUnnamedRequisitesAreLookedForByAChore(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	page := scheduler.NewPage("http://127.0.0.1:9/a.css", "127.0.0.1:9", 1, 1, 4)
	page.Requisite = true
	for _, found := range [][]models.Discovery{nil, {{Page: page, Host: "127.0.0.1:9"}}} {
		if _, err := d.store.AddPages(t.Context(), d.clock.Now(), found, 0); err != nil {
			t.Fatal(err)
		}
		if err := chore(t, d, "unnamed")(d.clock.Now()); err != nil {
			t.Fatal(err)
		}
		note, err := d.store.Note(t.Context(), unnamedNote)
		if ended := fromNote[unnamedTurn](note).Ended != 0; err != nil || ended != (found != nil) {
			t.Errorf("with %d requisites a pass ended: %v (%v)", len(found), ended, err)
		}
	}
}

// What /metrics says from the first moment on is true: what is not read yet is not there, and it is read at the start.
func TestFiguresAreReadAtTheStart(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	read := []string{"recrawld_urls", "recrawld_due", "recrawld_failing", "recrawld_overdue_seconds_max", "recrawld_sink_buckets_behind",
		"recrawld_sink_withheld_pages", "recrawld_sink_trouble"}
	has := func(name string) bool {
		families, err := d.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == name })
	}
	for _, name := range read {
		if has(name) {
			t.Errorf("%s is there before it was read", name)
		}
	}
	jobs, began := d.jobs(), d.clock.Now()
	figures := jobs[slices.IndexFunc(jobs, func(j scheduler.Job) bool { return j.Name == "figures" })]
	if next := figures.Next(began); !next.Equal(began) {
		t.Errorf("the figures are read %v after the start, want at once", next.Sub(began))
	}
	sinks := jobs[slices.IndexFunc(jobs, func(j scheduler.Job) bool { return j.Name == "sinks" })]
	if next := sinks.Next(began); !next.Equal(began) || sinks.Next(began).Sub(began) > 10*time.Second {
		t.Errorf("what sinks are in is read %v after the start, want at once, and again within 10 s", next.Sub(began))
	}
	if err := errors.Join(figures.Run(t.Context(), began), sinks.Run(t.Context(), began)); err != nil {
		t.Fatal(err)
	}
	for _, name := range read {
		if !has(name) {
			t.Errorf("%s is not there after it was read", name)
		}
	}
	if wait := figures.Next(began).Sub(began); wait != time.Minute {
		t.Errorf("the figures are read again after %v, want a minute", wait)
	}
}

// metricName is how our metrics begin, where a document names them.
var metricName = regexp.MustCompile(`\brecrawld_[a-z_]+[a-z]\b`)

// Every metric that the documents name is there.
func TestMetricsOfTheDocuments(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	described := make(chan *prometheus.Desc)
	go func() {
		defer close(described)
		d.registry.Describe(described)
	}()
	var there []string
	for desc := range described {
		there = append(there, metricName.FindString(desc.String()))
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range metricName.FindAllString(string(text), -1) {
			if named++; !slices.Contains(there, name) {
				t.Errorf("%s names %s, which is no metric of ours", page, name)
			}
		}
	}
	if named < 8 {
		t.Errorf("the documents name %d metrics: read wrongly", named)
	}
}
