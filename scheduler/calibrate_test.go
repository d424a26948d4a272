package scheduler

import (
	"context"
	"errors"
	"testing"

	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// away is a store of notes that cannot always be asked.
type away struct {
	*notes
	err error
}

// Merge implements Learning.
func (a *away) Merge(ctx context.Context, name string, merge func([]byte) []byte) error {
	if a.err != nil {
		return a.err
	}
	return a.notes.Merge(ctx, name, merge)
}

// What two workers judged adds up, once, also where the database was away in between.
func TestJudgedAddsUp(t *testing.T) {
	t.Parallel()
	store := &away{notes: &notes{notes: map[string][]byte{models.NoteCalibration: []byte("of another release")}}}
	a, b := NewMind(store), NewMind(store)
	sync := func(m *Mind, want error) {
		t.Helper()
		if err := m.sync(t.Context()); !errors.Is(err, want) {
			t.Fatalf("sync = %v, want %v", err, want)
		}
	}
	for i := range 30 {
		a.judged.Add(0.3, i%3 == 0)
		b.judged.Add(0.8, i%5 > 0)
		switch i {
		case 10:
			sync(a, nil)
		case 20:
			store.err = context.DeadlineExceeded
			sync(a, context.DeadlineExceeded)
			store.err = nil
			sync(b, nil)
		}
	}
	sync(a, nil)
	sync(b, nil)
	sync(b, nil)
	var sum changerate.Calibration
	if err := sum.UnmarshalBinary(store.notes.notes[models.NoteCalibration]); err != nil {
		t.Fatal(err)
	}
	if low, high := sum.Deciles[3], sum.Deciles[8]; low.Visits != 30 || low.Changed != 10 || high.Visits != 30 || high.Changed != 24 {
		t.Errorf("the note has %+v and %+v, want 30 visits with 10 changes and 30 with 24", low, high)
	}
}
