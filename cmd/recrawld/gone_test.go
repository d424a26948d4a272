package main

import (
	"encoding/json"
	"log/slog"
	"slices"
	"testing"
	"time"

	"recrawld/models"
)

// TestWorkersThatAreGoneForLong: what they left does not stay for ever, their rows, which every beat of the others reads, among it; what those left that live
// or ended lately does.
func TestWorkersThatAreGoneForLong(t *testing.T) {
	t.Parallel()
	store, now := emptyStore(t)
	d := &daemon{store: store, g: &globals{}, log: slog.New(slog.DiscardHandler)}
	long, lately := models.At(now.Add(-goneKept-time.Hour)), models.At(now.Add(-goneKept+time.Hour))
	for _, w := range []struct {
		name      string
		noted     models.Instant
		beat      models.Instant // 0: it has no row
		realBeats bool
	}{{"gone", long, 0, false}, {"silent", long, long, true}, {"ended", long, lately, false}, {"living", long, models.At(now), true}, {"new", lately, 0, false}} {
		text, err := json.Marshal(goesBy{Worker: w.name, At: w.noted})
		if err == nil {
			_, err = store.SetMeta(t.Context(), goesByPrefix+w.name, "", string(text))
		}
		if err == nil {
			err = keepSelfCheck(t.Context(), store, selfChecked{At: w.noted.Time(), Worker: w.name})
		}
		if err == nil {
			err = store.Merge(t.Context(), scheduledNote+":"+w.name, func([]byte) []byte { return toNote(pacings{1: "daily"}) })
		}
		if err == nil && w.beat > 0 {
			row := models.Worker{Name: w.name, BeatAt: w.beat}
			if w.realBeats {
				row.RealBeatAt = w.beat
			}
			err = store.Beat(t.Context(), row)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := d.forgetGone(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"ended", "living", "new"}
	for _, prefix := range []string{goesByPrefix, selfCheckPrefix} {
		keys, err := store.MetaKeys(t.Context(), prefix)
		for i := range keys {
			keys[i] = keys[i][len(prefix):]
		}
		if err != nil || !slices.Equal(keys, want) {
			t.Errorf("%s is left of %v, %v; want of %v", prefix, keys, err, want)
		}
	}
	for name, has := range map[string]bool{"gone": false, "silent": false, "ended": true, "living": true, "new": true} {
		if note, err := store.Note(t.Context(), scheduledNote+":"+name); err != nil || has != (note != nil) {
			t.Errorf("what due times of worker %s follow is left: %q, %v; want %v", name, note, err, has)
		}
	}
	var rows []string
	workers, err := store.Workers(t.Context())
	for _, w := range workers {
		rows = append(rows, w.Name)
	}
	if want := []string{"ended", "living"}; err != nil || !slices.Equal(rows, want) {
		t.Errorf("rows of %v are left, %v; want of %v", rows, err, want)
	}
}
