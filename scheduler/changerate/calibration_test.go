package changerate

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCalibrationKnownValues(t *testing.T) {
	t.Parallel()
	var c Calibration
	if c.Brier() != 0 || c.LogLoss() != 0 || c.Worst() != 0 {
		t.Errorf("of nothing: %v, %v, %v", c.Brier(), c.LogLoss(), c.Worst())
	}
	c.Add(0.2, false)
	c.Add(0.2, true)
	c.Add(0.7, true)
	c.Add(1, true)
	if got, want := c.Brier(), (0.04+0.64+0.09+0)/4; !near(got, want, 1e-12) {
		t.Errorf("Brier score %v, want %v", got, want)
	}
	if got, want := c.LogLoss(), -(math.Log(0.8)+math.Log(0.2)+math.Log(0.7))/4; !near(got, want, 1e-12) {
		t.Errorf("logarithmic loss %v, want %v", got, want)
	}
	if d := c.Deciles[2]; d.Visits != 2 || d.Changed != 1 || !near(d.Off(), -0.3, 1e-12) {
		t.Errorf("third decile %+v, off by %v, want 2 visits, 1 change, -0.3", d, d.Off())
	}
	if c.Deciles[9].Visits != 1 || c.Visits() != 4 {
		t.Errorf("%d visits, %d in the last decile", c.Visits(), c.Deciles[9].Visits)
	}
}

func TestCalibrationTakesAnyNumber(t *testing.T) {
	t.Parallel()
	var c Calibration
	for _, p := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 2} {
		c.Add(p, true)
		c.Add(p, false)
	}
	for _, x := range []float64{c.Brier(), c.LogLoss(), c.Worst()} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Errorf("%+v: %v", c, x)
		}
	}
}

func TestCalibrationMergeIsAdd(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	var all, even, odd Calibration
	for i := range 1000 {
		p := rng.Float64()
		changed := rng.Float64() < p
		all.Add(p, changed)
		half := &even
		if i%2 == 1 {
			half = &odd
		}
		half.Add(p, changed)
	}
	even.Merge(&odd)
	if even.Visits() != all.Visits() || !near(even.Brier(), all.Brier(), 1e-9) || !near(even.LogLoss(), all.LogLoss(), 1e-9) ||
		!near(even.Worst(), all.Worst(), 1e-9) {
		t.Errorf("merged %+v, want %+v", even, all)
	}
}
