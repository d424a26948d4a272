package slo

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMissed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		d                       Delay
		within                  time.Duration
		atBest, likely, atWorst float64
	}{
		{Delay{0, 6 * time.Hour}, 6 * time.Hour, 0, 0, 0},
		{Delay{0, 24 * time.Hour}, 6 * time.Hour, 0, 0.75, 1},
		{Delay{time.Hour, time.Hour}, 6 * time.Hour, 0, 0, 0},
		{Delay{7 * time.Hour, 7 * time.Hour}, 6 * time.Hour, 1, 1, 1},
		{Delay{0, 2 * day}, 0, 0, 1, 2}, // days out of date
		{Delay{day, day}, 0, 1, 1, 1},
		{Delay{}, time.Hour, 0, 0, 0},
	} {
		var got Missed
		got.Add(test.d, test.within)
		if want := (Missed{1, test.atBest, test.likely, test.atWorst}); got != want {
			t.Errorf("Add(%v, %v) = %+v, want %+v", test.d, test.within, got, want)
		}
	}
}

func TestAttained(t *testing.T) {
	t.Parallel()
	m := Missed{Changes: 200, AtBest: 2, Likely: 5, AtWorst: 20}
	got := m.Of(200)
	if !near(got.AtWorst, 0.9, 1e-12) || !near(got.Likely, 0.975, 1e-12) || !near(got.AtBest, 0.99, 1e-12) || !near(got.BudgetUsed(0.95), 0.5, 1e-9) {
		t.Errorf("Of(200) = %+v with %v of the error budget used", got, got.BudgetUsed(0.95))
	}
	if got := (Missed{}).Of(0); got != (Attained{1, 1, 1}) || got.BudgetUsed(0.95) != 0 {
		t.Errorf("of no changes %+v is attained", got)
	}
	if got := (Missed{Likely: 4, AtWorst: 8}).Of(5); got.AtWorst != 0 || !near(got.Likely, 0.2, 1e-9) { // more days out of date than there are now pages for
		t.Errorf("Of(5) = %+v", got)
	}
}

// What is missed lies between its ends, and never is more than every change.
func TestMissedLiesBetweenItsEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		within := time.Duration(rapid.IntRange(0, 100).Draw(t, "within")) * time.Hour
		var m Missed
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			least := time.Duration(rapid.IntRange(0, 200).Draw(t, "least")) * time.Hour
			m.Add(Delay{least, least + time.Duration(rapid.IntRange(0, 200).Draw(t, "more"))*time.Hour}, within)
		}
		a := m.Of(float64(m.Changes))
		if m.AtBest > m.Likely+1e-9 || m.Likely > m.AtWorst+1e-9 || within > 0 && m.AtWorst > float64(m.Changes) ||
			a.AtWorst < 0 || a.AtWorst > a.Likely+1e-9 || a.Likely > a.AtBest+1e-9 || a.AtBest > 1 {
			t.Errorf("%+v is missed, %+v attained", m, a)
		}
	})
}
