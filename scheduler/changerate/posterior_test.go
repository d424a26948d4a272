package changerate

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// anyNumber draws every kind of number there is.
func anyNumber(low, high float64) *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Float64Range(low, high),
		rapid.SampledFrom([]float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64}),
	)
}

// someGamma draws shapes and days over all scales that occur.
func someGamma() *rapid.Generator[Gamma] {
	return rapid.Custom(func(t *rapid.T) Gamma {
		return Gamma{
			Shape: math.Exp(rapid.Float64Range(-4, 8).Draw(t, "log shape")),
			Days:  math.Exp(rapid.Float64Range(-6, 10).Draw(t, "log days")),
		}
	})
}

// someDays draws times from seconds to centuries.
func someDays(name string, t *rapid.T) float64 {
	return math.Exp(rapid.Float64Range(-11, 11).Draw(t, name))
}

// integral of f over [low, high] by Simpson's rule.
func integral(low, high float64, f func(float64) float64) float64 {
	const steps = 20000
	width, sum := (high-low)/steps, f(low)+f(high)
	for i := 1; i < steps; i++ {
		sum += f(low+float64(i)*width) * float64(2+2*(i%2))
	}
	return sum * width / 3
}

// density of λ = e^s for the integrals below, in which s is integrated over.
func (g Gamma) density(s float64) float64 {
	logGamma, _ := math.Lgamma(g.Shape)
	return math.Exp(g.Shape*(s+math.Log(g.Days)) - math.Exp(s)*g.Days - logGamma)
}

// The posteriors must have the moments of prior × likelihood, integrated numerically.
func TestPosteriorMoments(t *testing.T) {
	t.Parallel()
	for _, g := range []Gamma{{0.4, 2}, {1, 1}, {3, 40}, {25, 10}} {
		for _, days := range []float64{0.01, 0.5, 4, 60} {
			tests := map[string]struct {
				got        Gamma
				likelihood func(rate float64) float64
			}{
				"unchanged": {g.Unchanged(days), func(rate float64) float64 { return math.Exp(-rate * days) }},
				"changed":   {g.Changed(days), func(rate float64) float64 { return -math.Expm1(-rate * days) }},
				"dated":     {g.Dated(days), func(rate float64) float64 { return rate * math.Exp(-rate*days) }},
				"counted":   {g.Counted(3, days), func(rate float64) float64 { return rate * rate * rate * math.Exp(-rate*days) }},
			}
			for name, tt := range tests {
				moment := func(k float64) float64 {
					return integral(-60, 12, func(s float64) float64 {
						return g.density(s) * tt.likelihood(math.Exp(s)) * math.Exp(k*s)
					})
				}
				mean := moment(1) / moment(0)
				variance := moment(2)/moment(0) - mean*mean
				if !near(tt.got.Mean(), mean, 1e-6) {
					t.Errorf("%v %s after %v days: mean %v, want %v", g, name, days, tt.got.Mean(), mean)
				}
				if got := tt.got.Shape / (tt.got.Days * tt.got.Days); !near(got, variance, 1e-5) {
					t.Errorf("%v %s after %v days: variance %v, want %v", g, name, days, got, variance)
				}
			}
		}
	}
}

func TestUtilityIsTheIntegral(t *testing.T) {
	t.Parallel()
	for _, shape := range []float64{0.01, 0.5, 0.999999, 1, 1.000001, 1.7, 12} {
		g := Gamma{Shape: shape, Days: 7}
		for _, days := range []float64{1e-4, 0.003, 0.1, 2, 30, 900} {
			want := integral(0, days, g.Survival) - days*g.Survival(days)
			if got := g.Utility(days); !near(got, want, 1e-6) && math.Abs(got-want) > 1e-9 {
				t.Errorf("%v.Utility(%v) = %v, want %v", g, days, got, want)
			}
		}
	}
}

// With a large shape the rate is known, and the utility is that of a Poisson process, (1 − e^{−x}(1 + x))/λ at x = λt
// (Cho & Garcia-Molina 2003; Olston & Pandey 2008).
func TestUtilityOfAKnownRate(t *testing.T) {
	t.Parallel()
	const rate = 0.3
	g := Gamma{Shape: 1e8, Days: 1e8 / rate}
	for _, days := range []float64{0.1, 1, 5, 40} {
		x := rate * days
		if got, want := g.Utility(days), (1-math.Exp(-x)*(1+x))/rate; !near(got, want, 1e-5) {
			t.Errorf("Utility(%v) = %v, want %v", days, got, want)
		}
	}
}

func TestDueInvertsUtility(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, days := someGamma().Draw(t, "posterior"), someDays("days", t)
		value := g.Utility(days)
		due := g.Due(value)
		if back := g.Utility(due); !near(back, value, 1e-7) {
			t.Fatalf("%v: after %v days a visit is worth %v; due for that after %v, worth %v", g, days, value, due, back)
		}
	})
}

func TestDueGrowsWithTheValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, value := someGamma().Draw(t, "posterior"), someDays("value", t)
		more := value * rapid.Float64Range(1, 10).Draw(t, "more")
		if first, second := g.Due(value), g.Due(more); !(first <= second) || !(first > 0) {
			t.Fatalf("%v: due for %v after %v days, for %v after %v", g, value, first, more, second)
		}
	})
}

func TestDueAtTheEnds(t *testing.T) {
	t.Parallel()
	g := Gamma{Shape: 3, Days: 10} // never worth more than 5 days
	for _, tt := range []struct{ value, want float64 }{
		{0, 0}, {-1, 0}, {math.Inf(-1), 0}, {5, math.Inf(1)}, {6, math.Inf(1)}, {math.Inf(1), math.Inf(1)},
		{math.NaN(), math.Inf(1)},
	} {
		if got := g.Due(tt.value); got != tt.want {
			t.Errorf("Due(%v) = %v, want %v", tt.value, got, tt.want)
		}
	}
	if got := g.Due(4.999999); !(got > 1000) || math.IsInf(got, 1) {
		t.Errorf("just under the bound: due after %v days", got)
	}
}

func TestPosteriorIsFiniteForAnyInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := Gamma{Shape: anyNumber(0, 100).Draw(t, "shape"), Days: anyNumber(0, 1000).Draw(t, "days")}
		x := anyNumber(0, 1000).Draw(t, "x")
		for name, after := range map[string]Gamma{
			"unchanged": g.Unchanged(x), "changed": g.Changed(x), "dated": g.Dated(x), "counted": g.Counted(x, x),
		} {
			if !(after.Shape > 0) || !(after.Days > 0) || math.IsInf(after.Shape+after.Days, 0) {
				t.Fatalf("%v %s over %v: %v", g, name, x, after)
			}
		}
		for name, got := range map[string]float64{"mean": g.Mean(), "survival": g.Survival(x), "utility": g.Utility(x)} {
			if !(got >= 0) || math.IsInf(got, 0) {
				t.Fatalf("%s of %v at %v is %v", name, g, x, got)
			}
		}
		if due := g.Due(x); !(due >= 0) {
			t.Fatalf("%v.Due(%v) = %v", g, x, due)
		}
	})
}

func TestPosteriorFollowsWhatWasSeen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, days := someGamma().Draw(t, "prior"), someDays("days", t)
		const rounding = 1e-6
		if after := g.Unchanged(days); after.Mean() > g.Mean() {
			t.Fatalf("%v unchanged after %v days: mean %v, before %v", g, days, after.Mean(), g.Mean())
		}
		if after := g.Changed(days); after.Mean() < g.Mean()*(1-rounding) {
			t.Fatalf("%v changed within %v days: mean %v, before %v", g, days, after.Mean(), g.Mean())
		}
		if soon, late := g.Changed(days), g.Changed(2*days); soon.Mean() < late.Mean()*(1-rounding) {
			t.Fatalf("%v changed within %v days: mean %v, within twice that %v", g, days, soon.Mean(), late.Mean())
		}
	})
}

// Quantiles of the χ² distribution with 2·shape degrees of freedom, from its tables.
func TestIntervalKnownValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ shape, low, high float64 }{
		{0.5, 0.000982, 5.0239}, {1, 0.05064, 7.3778}, {2.5, 0.83121, 12.8325}, {5, 3.24697, 20.4832}, {50, 74.2219, 129.561},
	} {
		low, high := Gamma{Shape: tt.shape, Days: 0.5}.Interval(0.95)
		if !near(low, tt.low, 1e-3) || !near(high, tt.high, 1e-4) {
			t.Errorf("shape %v: [%v, %v], want [%v, %v]", tt.shape, low, high, tt.low, tt.high)
		}
	}
}

func TestIntervalHoldsTheMedian(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := someGamma().Draw(t, "posterior")
		low, high := g.Interval(0.9)
		inner, outer := g.Interval(0.5)
		if !(0 <= low && low <= inner && inner <= outer && outer <= high) || math.IsInf(high, 1) {
			t.Fatalf("%v: 90 %% in [%v, %v], 50 %% in [%v, %v]", g, low, high, inner, outer)
		}
	})
	if low, high := (Gamma{Shape: math.NaN(), Days: math.Inf(1)}).Interval(math.NaN()); math.IsNaN(low + high) {
		t.Errorf("interval of nothing [%v, %v]", low, high)
	}
}

func BenchmarkDue(b *testing.B) {
	for _, shape := range []float64{0.3, 2, 40} {
		g := Gamma{Shape: shape, Days: 20}
		values := []float64{0.001, 0.1, 0.4, 0.9 * g.Utility(1e6), 0.999 * g.Utility(1e4)}
		b.Run(fmt.Sprintf("shape=%v", shape), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				g.Due(values[i%len(values)])
			}
		})
	}
}
