package changerate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestPaysAgreesWithDueIn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := Forecast{
			Rate:    Gamma{Shape: rapid.Float64Range(0.1, 20).Draw(t, "shape"), Days: rapid.Float64Range(0.1, 1e4).Draw(t, "days")},
			Elapsed: rapid.Float64Range(0, 1000).Draw(t, "elapsed"), Passed: rapid.Float64Range(0, 1000).Draw(t, "passed"),
			Noise: rapid.SampledFrom([]float64{0, 0, 0.3, 1}).Draw(t, "noise"), Cycle: rapid.Float64Range(0.1, 100).Draw(t, "cycle"),
		}
		price := rapid.Float64Range(1e-6, 100).Draw(t, "price")
		due := f.DueIn(price)
		if due > 1e5 { // centuries: nobody looks so far
			if f.Pays(1.01*price, 1e4) {
				t.Fatalf("pays a good deal more than its price in a while, but is due in %v days", due)
			}
			return
		}
		if !f.Pays(price, due*1.001+1e-6) || due > 0.01 && f.Pays(price, due*0.99-1e-3) {
			t.Fatalf("due in %v days does not agree with when it pays", due)
		}
	})
}

// Fresh is the integral of the survival, and grows with the days up to the mean time until a change.
func TestFreshIsTheIntegralOfSurvival(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := Gamma{Shape: rapid.SampledFrom([]float64{0.02, 0.5, 1, 1 + 1e-12, 2, 30}).Draw(t, "shape"), Days: rapid.Float64Range(0.01, 1e3).Draw(t, "days")}
		until := rapid.Float64Range(0, 500).Draw(t, "until")
		const steps = 2000
		sum, past := 0.0, 0.0
		for i := range steps { // steps that grow, by the rule of trapezoids
			x := float64(i+1) / steps
			next := until * x * x * x
			sum += (next - past) * (g.Survival(past) + g.Survival(next)) / 2
			past = next
		}
		if got := g.Fresh(until); math.Abs(got-sum) > 1e-2*sum+1e-12 || got > until {
			t.Fatalf("fresh for %v of %v days, want %v", got, until, sum)
		}
	})
	for _, g := range []Gamma{{}, {Shape: math.NaN(), Days: math.Inf(1)}, {Shape: 1e300, Days: 1e-300}} {
		for _, days := range []float64{math.NaN(), -1, 0, 1, math.Inf(1)} {
			if got := g.Fresh(days); math.IsNaN(got) || math.IsInf(got, 0) || got < 0 {
				t.Errorf("%+v is fresh for %v of %v days", g, got, days)
			}
		}
	}
}

// What a visit must be worth, where changes cost something beside looks, is what it is worth at the interval that gains the most: found by trying them all.
func TestAskedGainsTheMost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := Gamma{Shape: rapid.Float64Range(0.1, 30).Draw(t, "shape"), Days: rapid.Float64Range(0.1, 500).Draw(t, "days")}
		price, fixed := rapid.Float64Range(1e-4, 10).Draw(t, "price"), rapid.Float64Range(1e-3, 1).Draw(t, "fixed")
		found := rapid.Float64Range(0, 50).Draw(t, "found")
		costs := func(days float64) float64 { return price * (fixed + found*(1-g.Survival(days))) / days }
		gains := func(days float64) float64 { return g.Fresh(days)/days - costs(days) } // a day
		best := 0.0                                                                     // that of no visit at all
		for days := 1e-3; days < 1e6; days *= 1.02 {
			best = max(best, gains(days))
		}
		every := min(g.Due(g.Asked(price, fixed, found)), 1e6) // what is later is never
		if got := gains(every); got < best-0.01*(best+costs(every))-costs(1e6) {
			t.Fatalf("every %v days gains %v, the best interval %v", every, got, best)
		}
	})
	for _, x := range []float64{0, math.Inf(1), math.NaN()} {
		for _, g := range []Gamma{{}, {Shape: 1, Days: 1}, {Shape: math.NaN(), Days: math.Inf(1)}} {
			if got := g.Found(x); !(got >= 0 && got <= 1) {
				t.Errorf("after %v days %+v finds %v", x, g, got)
			}
			if due := g.Due(g.Asked(x, 1, 1)); math.IsNaN(due) || due < 0 {
				t.Errorf("at the price of %v %+v is due after %v days", x, g, due)
			}
		}
	}
}

// At the interval that follows from what a visit must be worth it is worth what it costs, however much more the content of a page is than a look at it.
func TestAskedIsWhatAVisitCosts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		perDay := math.Pow(10, rapid.Float64Range(-3, 1).Draw(t, "changes a day"))
		g := Gamma{Shape: math.Pow(10, rapid.Float64Range(-1, 9).Draw(t, "shape"))}
		g.Days = g.Shape / perDay
		price, fixed := math.Pow(10, rapid.Float64Range(-3, 1).Draw(t, "price")), math.Pow(10, rapid.Float64Range(-4, 0).Draw(t, "fixed"))
		found := math.Pow(10, rapid.Float64Range(-2, 3).Draw(t, "found"))
		asked := g.Asked(price, fixed, found)
		every := g.Due(asked)
		if every > 1e5 { // never
			return
		}
		if costs := price * (fixed + found*g.Found(every)); asked < 0.99*costs || asked > 1.03*costs {
			t.Fatalf("every %v days a visit costs %v and is asked for %v", every, costs, asked)
		}
	})
}

func BenchmarkAsked(b *testing.B) {
	g, sum := Gamma{Shape: 0.7, Days: 30}, 0.0
	for i := range b.N {
		sum += g.Asked(0.1+float64(i%64)/100, 0.02, 1)
	}
	if math.IsNaN(sum) {
		b.Fatal(sum)
	}
}
