package main

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// TestSelfCheck: once a week a sample is looked at; damage is told of in the log, the status and a metric, until it is mended.
func TestSelfCheck(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	store, err := models.Open(t.Context(), filepath.Join(dir, databaseFile), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	kept, err := openPast(store, &config.Config{Data: dir}, clock.System{}.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.close()
	var log bytes.Buffer
	d := &daemon{store: store, log: slog.New(slog.NewTextHandler(&log, nil)), past: kept, clock: clock.System{},
		start: config.Config{Data: dir, Store: "sqlite", Worker: config.Worker{Name: "w"}}, registry: prometheus.NewRegistry()}
	d.figures = newFigures(store, d.registry)
	checks := func(days int, wantBad int64, says string) {
		t.Helper()
		log.Reset()
		if err := chore(t, d, "self-check")(filledNow.AddDate(0, 0, days)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), says) || says == "" && log.Len() > 0 {
			t.Errorf("on day %d the log says %q, want %q", days, log.String(), says)
		}
		found, err := selfChecks(t.Context(), store)
		if err != nil || len(found) != 1 || found[0].Bad != wantBad || found[0].Versions < 10 || found[0].Versions != found[0].Of {
			t.Errorf("on day %d is kept %+v, %v; want %d bad of all", days, found, err, wantBad)
		}
		if err := d.figures.archived(t.Context(), "w"); err != nil || sum(d.registry, "recrawld_archive_sample_lost") != float64(wantBad) {
			t.Errorf("on day %d the metric is %v (%v), want %d", days, sum(d.registry, "recrawld_archive_sample_lost"), err, wantBad)
		}
		answer, _, _ := desk(t, dir, "status")
		if told := strings.Contains(answer, "of a sample of"); told != (wantBad > 0) {
			t.Errorf("on day %d the status says so: %v\n%s", days, told, answer)
		}
	}
	checks(0, 0, "is right")
	damages(t, dir, versionIn(t, dumpOf(t, dir), docsSite+"install", 2))
	checks(6, 0, "")
	checks(7, 1, "recrawld verify says where")
	if _, says, code := desk(t, dir, "verify", "--only", "archive", "--mend"); code != exitFailed {
		t.Errorf("exit code %d: %s", code, says)
	}
	checks(8, 0, "")
	checks(14, 0, "is right")
}

// TestSelfCheckOfNothing: where nothing is archived nothing is said.
func TestSelfCheckOfNothing(t *testing.T) {
	t.Parallel()
	store, now := emptyStore(t)
	d := &daemon{store: store, log: slog.New(slog.DiscardHandler), clock: clock.System{}, start: config.Config{Data: t.TempDir(), Worker: config.Worker{Name: "w"}}}
	d.past = &past{store: store}
	if err := chore(t, d, "self-check")(now); err != nil {
		t.Fatal(err)
	}
	if found, err := selfChecks(t.Context(), store); err != nil || len(found) > 0 {
		t.Errorf("kept %+v, %v, want nothing", found, err)
	}
}
