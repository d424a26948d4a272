package simulate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestInverseGInvertsG(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-12, 3.3).Draw(t, "ln x"))
		if got := inverseG(gOf(x)); math.Abs(got-x) > 1e-6*x {
			t.Fatalf("inverseG(g(%v)) = %v", x, got)
		}
	})
}

// Pages that are all alike share the budget evenly, and the freshness is that of the formula.
func TestKnownRatesOfEqualPages(t *testing.T) {
	t.Parallel()
	pages := make([]Source, 50)
	for i := range pages {
		pages[i] = Source{PerDay: 0.5, Weight: 1}
	}
	got := KnownRates(pages, 25, nil) // every two days: λI = 1
	want := 1 - math.Exp(-1)
	if math.Abs(got.Freshness-want) > 1e-6 || math.Abs(got.PerDay-25) > 1e-6 {
		t.Errorf("KnownRates = %+v, want freshness %v at 25 a day", got, want)
	}
	if price := gOf(1) / 0.5; math.Abs(got.Price-price) > 1e-6 {
		t.Errorf("price %v, want %v", got.Price, price)
	}
}

// Two pages: the optimum is at least as good as every other way to share the budget.
func TestKnownRatesIsTheBestSplit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := Source{PerDay: math.Exp(rapid.Float64Range(-4, 2).Draw(t, "a")), Weight: math.Exp(rapid.Float64Range(-2, 2).Draw(t, "wa"))}
		b := Source{PerDay: math.Exp(rapid.Float64Range(-4, 2).Draw(t, "b")), Weight: math.Exp(rapid.Float64Range(-2, 2).Draw(t, "wb"))}
		perDay := math.Exp(rapid.Float64Range(-2, 1).Draw(t, "budget"))
		got := KnownRates([]Source{a, b}, perDay, nil)
		fresh := func(s Source, share float64) float64 {
			if share == 0 {
				return 0
			}
			x := s.PerDay / (share * perDay)
			return s.Weight * -math.Expm1(-x) / x
		}
		best := 0.0
		for i := 0; i <= 1000; i++ {
			share := float64(i) / 1000
			best = max(best, (fresh(a, share)+fresh(b, 1-share))/(a.Weight+b.Weight))
		}
		// At the edge where a page just drops out the demand jumps; the price is then that of the lower demand.
		if got.Freshness < best-1e-4 && got.PerDay > perDay*(1-1e-6) {
			t.Fatalf("KnownRates(%+v, %+v, %v) = %+v, a grid finds %v", a, b, perDay, got, best)
		}
		if got.PerDay > perDay*(1+1e-6) {
			t.Fatalf("KnownRates spends %v of %v", got.PerDay, perDay)
		}
	})
}

// A host's bound is kept, and what it cannot take goes to the others.
func TestKnownRatesKeepsHostBounds(t *testing.T) {
	t.Parallel()
	pages := []Source{{PerDay: 1, Weight: 1, Host: 0}, {PerDay: 1, Weight: 1, Host: 1}}
	free := KnownRates(pages, 2, nil)
	bound := KnownRates(pages, 2, []float64{0.5, math.Inf(1)})
	want := (0.5*(1-math.Exp(-2)) + 1.5*(1-math.Exp(-1/1.5))) / 2
	if math.Abs(bound.Freshness-want) > 1e-6 || bound.Freshness >= free.Freshness {
		t.Errorf("with a bound %+v, want freshness %v, below %v", bound, want, free.Freshness)
	}
}
