package scheduler_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"recrawld/config"
)

// TestWhatWasLearnedIsLeftBehind: a worker that ends leaves with the database what every visit taught of all pages together, those of its last moments
// too. One that is alone on it writes that now and then while it runs, after some thousand lessons.
func TestWhatWasLearnedIsLeftBehind(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Cycle = "24h"
	c.Budget.Requests = config.Rate{PerDay: 12}
	settings := c.Defaults
	settings.Policy = "adaptive"
	c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://h0.test/", Settings: settings}}
	_, store := overHosts(t, &c, 6, 2, 60, false)
	dump, err := store.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, lessons, last := 0.0, 0, map[int64]time.Time{}
	for _, v := range dump.Visits {
		if !v.Kind.Observed() {
			continue
		}
		if before, again := last[v.PageID]; again {
			want, lessons = want+v.At.Time().Sub(before).Hours()/24, lessons+1
		}
		last[v.PageID] = v.At.Time()
	}
	var note []byte
	if err := store.Merge(t.Context(), "weights", func(old []byte) []byte { note = slices.Clone(old); return nil }); err != nil {
		t.Fatal(err)
	}
	if lessons < 50 || len(note) < 21 {
		t.Fatalf("%d visits taught something, the note has %d bytes: nothing was tried", lessons, len(note))
	}
	if got := float(note[13:]); math.Abs(got/want-1) > 0.01 { // as TestTwoWorkersAndOneAgree reads it
		t.Errorf("the weights were learned from %.1f page-days, want the %.1f between %d visits", got, want, lessons)
	}
}
