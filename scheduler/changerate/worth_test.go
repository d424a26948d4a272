package changerate

import (
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
