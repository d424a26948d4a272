package changerate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The bound of the quick functions, as shares of what package math gives.
const quickly = 1e-15

func TestQuickFunctionsAreThoseOfMath(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(5, 6))
	across := func(least, most float64) float64 { // evenly over the magnitudes
		return math.Exp(math.Log(least) + dice.Float64()*(math.Log(most)-math.Log(least)))
	}
	for _, f := range []struct {
		name        string
		quick, math func(float64) float64
		argument    func() float64
	}{
		{"log", logOf, math.Log, func() float64 { return across(1e-300, 1e300) }},
		{"log near 1", logOf, math.Log, func() float64 { return 1 + (dice.Float64()-0.5)*across(1e-15, 1) }},
		{"log1p", log1pOf, math.Log1p, func() float64 { return across(1e-300, 1e300) }},
		{"log1p of small ones", log1pOf, math.Log1p, func() float64 { return across(1e-12, 4) }},
		{"exp", expOf, math.Exp, func() float64 { return across(1e-9, 705) * float64(2*dice.IntN(2)-1) }},
		{"expm1", expm1Of, math.Expm1, func() float64 { return across(1e-9, 705) * float64(2*dice.IntN(2)-1) }},
	} {
		worst, where := 0.0, 0.0
		for range 300_000 {
			x := f.argument()
			got, want := f.quick(x), f.math(x)
			if off := math.Abs(got-want) / max(math.Abs(want), 1e-300); got != want && !(off <= worst) {
				worst, where = off, x
			}
		}
		t.Logf("%s: off by %.2g at most, at %v", f.name, worst, where)
		if worst > quickly {
			t.Errorf("%s(%v) = %v, want %v: off by %.2g", f.name, where, f.quick(where), f.math(where), worst)
		}
	}
}

func TestQuickFunctionsAtTheEdges(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	edges := []float64{0, math.Copysign(0, -1), 1, -1, inf, -inf, nan, 5e-324, 1e-310, math.MaxFloat64, -math.MaxFloat64,
		699.9999, 700, 709.7, 710, -699.9999, -700, -745, -746, 0.25, -0.25, 2, 0.6875, 1.375, math.Nextafter(1, 0), math.Nextafter(1, 2)}
	for _, f := range []struct {
		name        string
		quick, math func(float64) float64
		least       float64
	}{
		{"log", logOf, math.Log, -inf}, {"exp", expOf, math.Exp, -inf}, {"expm1", expm1Of, math.Expm1, -inf}, {"log1p", log1pOf, math.Log1p, 0},
	} {
		for _, x := range edges {
			if x < f.least {
				continue
			}
			got, want := f.quick(x), f.math(x)
			same := got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= quickly*math.Abs(want)
			if !same {
				t.Errorf("%s(%v) = %v, want %v", f.name, x, got, want)
			}
		}
	}
}

func BenchmarkQuickFunctions(b *testing.B) {
	for _, f := range []struct {
		name string
		of   func(float64) float64
	}{
		{"log", logOf}, {"log of math", math.Log}, {"exp", expOf}, {"exp of math", math.Exp},
		{"log1p", log1pOf}, {"log1p of math", math.Log1p}, {"expm1", expm1Of}, {"expm1 of math", math.Expm1},
	} {
		b.Run(f.name, func(b *testing.B) {
			x, sum := 0.3, 0.0
			for b.Loop() {
				sum += f.of(x)
				x += 0.001
				if x > 4 {
					x = 0.3
				}
			}
			if sum == 0 {
				b.Fatal(sum)
			}
		})
	}
}
