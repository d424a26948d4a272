package changerate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// F(1) = 1 − 1/e and A(1) = 1/2 − 1 + 1 − 1/e of an interval, from the formulas at λI = 1.
func TestFreshnessAndAgeKnownValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		perDay          float64
		every           time.Duration
		fresh, ageShare float64
	}{
		{1, day, 1 - 1/math.E, 0.5 - 1/math.E},
		{0.5, 2 * day, 1 - 1/math.E, 0.5 - 1/math.E},
		{0, day, 1, 0},
		{-1, day, 1, 0},
		{1, 0, 1, 0},
		{math.NaN(), day, 1, 0},
		{math.Inf(1), day, 0, 0.5},
		{1e300, math.MaxInt64, 0, 0.5},
		{1e-12, day, 1, 1e-12 / 6},
	}
	for _, tt := range tests {
		if got := Freshness(tt.perDay, tt.every); math.Abs(got-tt.fresh) > 1e-9 {
			t.Errorf("Freshness(%v, %v) = %v, want %v", tt.perDay, tt.every, got, tt.fresh)
		}
		want := tt.ageShare * float64(tt.every)
		if got := Age(tt.perDay, tt.every); math.Abs(float64(got)-want) > 1+1e-9*want {
			t.Errorf("Age(%v, %v) = %v, want %v", tt.perDay, tt.every, got, time.Duration(want))
		}
	}
}

func TestAgeSeriesMeetsClosedForm(t *testing.T) {
	t.Parallel()
	below, above := ageShare(seriesBelow*(1-1e-9)), ageShare(seriesBelow)
	if !near(below, above, 1e-8) {
		t.Errorf("age share jumps from %v to %v at %v", below, above, seriesBelow)
	}
}

func TestFreshnessFallsAndAgeRisesWithTheInterval(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		perDay := rapid.Float64Range(1e-9, 1e4).Draw(t, "perDay")
		every := time.Duration(rapid.Int64Range(1, int64(4000*day)).Draw(t, "every"))
		f, a := Freshness(perDay, every), Age(perDay, every)
		if f < 0 || f > 1 || a < 0 || a > every/2 {
			t.Fatalf("freshness %v, age %v of %v, want in [0, 1] and [0, half]", f, a, every)
		}
		if Freshness(perDay, every*2) > f || Age(perDay, every*2) < a {
			t.Fatalf("twice the interval gives freshness %v after %v, age %v after %v", Freshness(perDay, every*2), f,
				Age(perDay, every*2), a)
		}
	})
}

// A simulated page, looked at 200,000 times at random moments, is as fresh and as old as the formulas say.
func TestFreshnessAndAgeBySimulation(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	for _, perDay := range []float64{0.1, 1, 5} {
		const looks, every = 200000, 2.0
		fresh, age := 0, 0.0
		for range looks {
			since := rng.Float64() * every     // days since the last visit
			first := rng.ExpFloat64() / perDay // the first change after that visit
			if first >= since {
				fresh++
			} else {
				age += since - first
			}
		}
		if got, want := float64(fresh)/looks, Freshness(perDay, 2*day); math.Abs(got-want) > 0.005 {
			t.Errorf("rate %v: fresh in %.4f of looks, want %.4f", perDay, got, want)
		}
		if got, want := age/looks, Age(perDay, 2*day).Hours()/24; math.Abs(got-want) > 0.01 {
			t.Errorf("rate %v: mean age %.4f d, want %.4f d", perDay, got, want)
		}
	}
}
