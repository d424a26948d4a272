package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"recrawld/models"
)

// What was counted is kept for others for an hour of the machine's time, and is read again as it was.
func TestCountedPagesAreShared(t *testing.T) {
	t.Parallel()
	store, err := models.Open(t.Context(), liteFile(t), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	if err := store.Migrate(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if _, fresh, err := lastCounted(t.Context(), store, now); fresh || err != nil {
		t.Errorf("counted before anything was: %v, %v", fresh, err)
	}
	want := counted{At: models.At(now), Real: models.At(now), States: []models.SiteState{{SiteID: 3, State: models.StateLive, Pages: 10_000_000, PerDay: 7.5}}}
	if err := keepCounted(t.Context(), store, want); err != nil {
		t.Fatal(err)
	}
	for age, fresh := range map[time.Duration]bool{0: true, staleCount - time.Second: true, staleCount: false, -2 * staleCount: false} {
		got, ok, err := lastCounted(t.Context(), store, now.Add(age))
		if err != nil || ok != fresh || got.States[0] != want.States[0] {
			t.Errorf("%v later: %+v, fresh %v, %v, want %v", age, got, ok, err, fresh)
		}
	}
	f := newFigures(store, prometheus.NewRegistry())
	if err := f.read(t.Context(), now); err != nil {
		t.Error(err)
	}
	if got, _, err := lastCounted(t.Context(), store, now); err != nil || got.At != want.At {
		t.Errorf("a quick counting was kept: %+v, %v", got, err)
	}
}

// Of many pages, how many there are is always of now, and only what takes a look at all of them is what was counted before.
func TestManyPagesAreNotCountedForALook(t *testing.T) {
	t.Parallel()
	before := []models.SiteState{{SiteID: 1, State: models.StateLive, Pages: 900, Failing: 4, Due: 7, PerDay: 2.5, NextAt: 12, PutOff: 3},
		{SiteID: 1, State: models.StateGone, Pages: 5}}
	now := []models.SiteState{{SiteID: 1, State: models.StateNew, Pages: 50}, {SiteID: 1, State: models.StateLive, Pages: 1000, Failing: 1, Requisites: 300}}
	want := []models.SiteState{{SiteID: 1, State: models.StateNew, Pages: 50},
		{SiteID: 1, State: models.StateLive, Pages: 1000, Failing: 1, Requisites: 300, Due: 7, PerDay: 2.5, NextAt: 12, PutOff: 3}}
	if diff := cmp.Diff(want, withCounts(before, now)); diff != "" {
		t.Errorf("withCounts (-want +got):\n%s", diff)
	}
}
