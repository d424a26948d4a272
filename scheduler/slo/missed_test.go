package slo

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMissed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		d      Delay
		within time.Duration
		want   Missed
	}{
		{Delay{Most: 6 * time.Hour}, 6 * time.Hour, Missed{1, 1, 0, 0, 0}},
		{Delay{Most: day}, 6 * time.Hour, Missed{1, 1, 0, 0.75, 1}},
		{Delay{time.Hour, day, true, 0}, 6 * time.Hour, Missed{1, 1, 0, 0, 0}},
		{Delay{7 * time.Hour, day, true, 0}, 6 * time.Hour, Missed{1, 1, 1, 1, 1}},
		{Delay{12 * time.Hour, day, true, 2}, 18 * time.Hour, Missed{1, 2, 0, 0.5, 1}}, // one more in the first half of the day
		{Delay{0, day, true, 1e9}, 6 * time.Hour, Missed{1, 5, 0, 3, 4}},
		{Delay{Most: day, Rate: 1}, 6 * time.Hour, Missed{1, 1.581976707, 0, 1.18648253, 1.581976707}}, // 1/(1 − 1/e) changes
		{Delay{Most: day, Rate: 1e9}, 6 * time.Hour, Missed{1, 5, 0, 3.75, 5}},
		{Delay{Most: 2 * day}, 0, Missed{1, 1, 0, 1, 2}}, // days out of date
		{Delay{day, 2 * day, true, 0}, 0, Missed{1, 1, 1, 1, 2}},
		{Delay{0, day, true, 1}, 0, Missed{1, 2, 0, 0.367879441, 1}},
		{Delay{Most: day, Rate: 1}, 0, Missed{1, 1.581976707, 0, 0.581976707, 1}},
		{Delay{Most: day, Rate: 1e-9}, 0, Missed{1, 1, 0, 0.5, 1}},
		{Delay{}, time.Hour, Missed{1, 1, 0, 0, 0}},
	} {
		var got Missed
		got.Add(test.d, test.within)
		if w := test.want; got.Changes != w.Changes || !near(got.Expected, w.Expected, 1e-6) || got.AtBest != w.AtBest ||
			!near(got.Likely, w.Likely, 1e-6) || !near(got.AtWorst, w.AtWorst, 1e-6) {
			t.Errorf("Add(%v, %v) = %+v, want %+v", test.d, test.within, got, w)
		}
	}
}

func TestAttained(t *testing.T) {
	t.Parallel()
	m := Missed{Changes: 180, Expected: 200, AtBest: 2, Likely: 5, AtWorst: 20}
	got := m.Attained(m.Expected)
	if !near(got.AtWorst, 0.9, 1e-12) || !near(got.Likely, 0.975, 1e-12) || !near(got.AtBest, 0.99, 1e-12) || !near(got.BudgetUsed(0.95), 0.5, 1e-9) {
		t.Errorf("Attained = %+v with %v of the error budget used", got, got.BudgetUsed(0.95))
	}
	if got := (Missed{}).Attained(0); got != (Attained{1, 1, 1}) || got.BudgetUsed(0.95) != 0 {
		t.Errorf("of no changes %+v is attained", got)
	}
	if got := (Missed{Likely: 4, AtWorst: 8}).Attained(5); got.AtWorst != 0 || !near(got.Likely, 0.2, 1e-9) { // more days than pages have that there are now
		t.Errorf("Attained(5) = %+v", got)
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
			m.Add(Delay{least, least + time.Duration(rapid.IntRange(0, 200).Draw(t, "more"))*time.Hour,
				rapid.Bool().Draw(t, "dated"), rapid.Float64Range(0, 100).Draw(t, "rate")}, within)
		}
		a := m.Attained(m.Expected)
		if m.AtBest > m.Likely+1e-9 || m.Likely > m.AtWorst+1e-9 || within > 0 && m.AtWorst > m.Expected ||
			a.AtWorst < 0 || a.AtWorst > a.Likely+1e-9 || a.Likely > a.AtBest+1e-9 || a.AtBest > 1 {
			t.Errorf("%+v is missed, %+v attained", m, a)
		}
	})
}

// Of pages that change as a Poisson process does, what is estimated is the truth, whether the last change is dated or not, and whether a page
// changes rarely or three times between two visits.
func TestMissedIsTheTruth(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(3, 9))
	for _, rate := range []float64{0.01, 0.3, 1, 3} { // changes between two visits, a day apart
		for _, dated := range []bool{false, true} {
			const within, visits = 6 * time.Hour, 60_000
			var inTime, fresh Missed
			late, stale := 0.0, 0.0
			for range visits {
				least, changed := day, false
				for at := draw.ExpFloat64() / rate; at < 1; at += draw.ExpFloat64() / rate {
					least = time.Duration((1 - at) * float64(day))
					if least > within {
						late++
					}
					if !changed {
						changed, stale = true, stale+1-at
					}
				}
				d := Delay{Least: least, Most: day, Dated: dated, Rate: rate}
				if !dated {
					d.Least = 0
				}
				if changed {
					inTime.Add(d, within)
					fresh.Add(d, 0)
				}
			}
			off := 3 * math.Sqrt(visits*rate) // by chance
			if math.Abs(inTime.Likely-late) > off || math.Abs(inTime.Expected-rate*visits) > off || math.Abs(fresh.Likely-stale) > off {
				t.Errorf("%v changes a visit, dated %v: late %.0f, stale %.0f of %d: %+v, %+v", rate, dated, late, stale, visits, inTime, fresh)
			}
		}
	}
}
