package scheduler

import (
	"context"
	"errors"
	"math"
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
		a.judged.Add(0.3, changerate.Correction{}, i%3 == 0)
		b.judged.Add(0.8, changerate.Correction{}, i%5 > 0)
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

// A worker corrects its forecasts by what others and those before it saw, from its first sync on, and counts nothing twice.
func TestForecastsAreCorrectedByWhatAllSaw(t *testing.T) {
	t.Parallel()
	store := &notes{notes: map[string][]byte{}}
	before := NewMind(store)
	for i := range 3000 {
		before.judged.Add(0.5, changerate.Correction{}, i%10 < 7) // 20 points too few
	}
	if err := before.sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := NewMind(store)
	for range 3 { // the second and the third find nothing new
		if err := m.sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := m.correction.Of(0.5); math.Abs(got-0.7) > 0.02 || m.others.Visits() != 3000 {
			t.Errorf("0.5 is corrected to %.3f by %d visits, want some 0.7 by 3000", got, m.others.Visits())
		}
		if got := before.correction; got != m.correction {
			t.Errorf("another worker corrects by %+v, this one by %+v", got, m.correction)
		}
	}
	m.mu.Lock()
	for range correctEvery - 1 {
		m.judge(changerate.Forecast{Rate: changerate.Gamma{Shape: 1, Days: 1}, Elapsed: 1}, false)
	}
	held := m.correction
	m.judge(changerate.Forecast{Rate: changerate.Gamma{Shape: 1, Days: 1}, Elapsed: 1}, false)
	moved := m.correction
	m.mu.Unlock()
	if held != before.correction || moved == held || moved.Of(0.5) > held.Of(0.5) {
		t.Errorf("after %d visits without a change the correction went from %+v over %+v to %+v", correctEvery, before.correction, held, moved)
	}
}

// A note that is lost, or that somebody replaced, takes none of what others write from then on, and none of it is taken twice.
func TestForecastsOfOthersOutliveALostNote(t *testing.T) {
	t.Parallel()
	store := &notes{notes: map[string][]byte{}}
	a, b := NewMind(store), NewMind(store)
	judge := func(m *Mind, visits int, others int64) {
		t.Helper()
		for range visits {
			m.judged.Add(0.5, changerate.Correction{}, true)
		}
		if err := m.sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := m.others.Visits(); got != others {
			t.Errorf("%d visits of others are known, want %d", got, others)
		}
	}
	judge(a, 1000, 0)
	judge(b, 1000, 1000)
	delete(store.notes, noteForecasts())
	judge(b, 500, 0)
	judge(a, 10, 500)
	judge(b, 10, 10)
	store.notes[noteForecasts()] = []byte("of another release")
	judge(a, 10, 0)
	judge(b, 10, 10)
	judge(a, 10, 10)
}
