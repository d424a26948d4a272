package changerate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// distorted judges forecasts of a world that a correction describes: of the p that are made, as many come true as it says.
func distorted(seed uint64, visits int, world Correction, add func(p float64, changed bool)) {
	random := rand.New(rand.NewPCG(seed, 1))
	for range visits {
		p := random.Float64()
		p *= p // most forecasts are of little
		add(p, random.Float64() < world.Of(p))
	}
}

func TestCorrectionIsFound(t *testing.T) {
	t.Parallel()
	for i, want := range []Correction{{}, {Level: 0.3, Slope: 0.2}, {Level: -0.25}, {Slope: -0.2}, {Level: 0.15, Slope: 0.1}} {
		var c Calibration
		distorted(uint64(i), 200_000, want, c.Add)
		got := c.Correction()
		if math.Abs(got.Level-want.Level) > 0.03 || math.Abs(got.Slope-want.Slope) > 0.03 {
			t.Errorf("of a world %+v the correction is %+v", want, got)
		}
	}
}

// Few visits say little: the correction of a hundred forecasts that were right is near none, and so is that of one.
func TestCorrectionOfFewVisits(t *testing.T) {
	t.Parallel()
	if got := new(Calibration).Correction(); got != (Correction{}) {
		t.Errorf("without a visit: %+v, want none", got)
	}
	for seed := range uint64(100) {
		var c Calibration
		distorted(seed, 100, Correction{}, c.Add)
		if got := c.Correction(); math.Abs(got.Level) > 0.4 || math.Abs(got.Slope) > 0.4 {
			t.Errorf("seed %d: after 100 visits that were rightly foreseen %+v", seed, got)
		}
	}
	var one Calibration
	one.Add(0.01, true)
	if got := one.Correction(); math.Abs(got.Level) > 0.1 || math.Abs(got.Slope) > 0.1 {
		t.Errorf("after one visit that found what was hardly foreseen: %+v", got)
	}
}

// Corrected by what came before, forecasts come true as often as they say, but for the first.
func TestForesightIsCorrected(t *testing.T) {
	t.Parallel()
	var f Foresight
	var k Correction
	n := 0
	distorted(7, 100_000, Correction{Level: 0.3, Slope: 0.2}, func(p float64, changed bool) {
		if f.Add(p, k, changed); n%64 == 0 {
			k = f.Made.Correction()
		}
		n++
	})
	if made, corrected := f.Made.Worst(), f.Corrected.Worst(); made < 0.05 || corrected > 0.015 {
		t.Errorf("the worst decile is off by %.3f as made and %.3f corrected, want more than 0.05 and at most 0.015", made, corrected)
	}
	if f.Corrected.LogLoss() >= f.Made.LogLoss() || f.Corrected.Brier() >= f.Made.Brier() {
		t.Errorf("corrected: loss %.5f, Brier %.5f; made: %.5f, %.5f", f.Corrected.LogLoss(), f.Corrected.Brier(), f.Made.LogLoss(), f.Made.Brier())
	}
}

// Where one of the two is at its bound the other is the best beside that: half of what was foreseen with 3 % came.
func TestCorrectionAtItsBounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ mean, found float64 }{{0.03, 0.6}, {0.05, 0.001}, {0.9, 0.3}} {
		const visits = 1_000_000
		var c Calibration
		c.Deciles[int(test.mean*deciles)] = Decile{Visits: visits, Predicted: test.mean * visits, Changed: int64(test.found * visits)}
		k := c.Correction()
		if got := k.Of(test.mean); math.Abs(got-test.found) > 0.02 {
			t.Errorf("what was foreseen with %v and found with %v is corrected to %.3f by %+v", test.mean, test.found, got, k)
		}
	}
	var none Calibration
	for i := range none.Deciles {
		none.Deciles[i] = Decile{Visits: 1e12, Predicted: (float64(i) + 0.5) / deciles * 1e12}
	}
	if k := none.Correction(); k.Level != -maxLevel || none.loss(k) > none.loss(Correction{Level: -maxLevel, Slope: -maxSlope}) {
		t.Errorf("where nothing that was foreseen came the correction is %+v", k)
	}
}

// loss is the negative log-likelihood that Correction makes smallest, but for what is thought beforehand.
func (c *Calibration) loss(k Correction) (sum float64) {
	for _, d := range c.Deciles {
		if d.Visits > 0 {
			p := bounded(k.Of(d.Predicted/float64(d.Visits)), surest, 1-surest)
			sum -= float64(d.Changed)*math.Log(p) + float64(d.Visits-d.Changed)*math.Log1p(-p)
		}
	}
	return sum
}

// Whatever was judged, a correction is within its bounds and no worse than none, and what it makes of probabilities are
// probabilities in the same order.
func TestCorrectionsAreSane(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var c Calibration
		scale := math.Pow(10, 12*random.Float64())
		for i := range c.Deciles {
			if random.IntN(3) > 0 {
				n := math.Floor(scale * random.Float64())
				c.Deciles[i] = Decile{Visits: int64(n), Predicted: n * (float64(i) + random.Float64()) / deciles, Changed: int64(n * random.Float64())}
			}
		}
		k := c.Correction()
		if !(math.Abs(k.Level) <= maxLevel && math.Abs(k.Slope) <= maxSlope) || c.loss(k) > c.loss(Correction{})*(1+1e-9) {
			t.Fatalf("%+v is corrected by %+v: loss %v, %v without", c, k, c.loss(k), c.loss(Correction{}))
		}
		p, q := random.Float64(), random.Float64()
		if low, high := k.Of(min(p, q)), k.Of(max(p, q)); !(low >= 0 && low <= high && high <= 1) {
			t.Fatalf("%+v makes %v of %v and %v of %v", k, low, min(p, q), high, max(p, q))
		}
	}
	for _, k := range []Correction{{}, {1.5, 0.75}, {-1.5, -0.75}} {
		for p, want := range map[float64]float64{0: 0, 1: 1, -3: 0, 7: 1, math.Inf(1): 1, math.Inf(-1): 0} {
			if got := k.Of(p); got != want {
				t.Errorf("%+v.Of(%v) = %v, want %v", k, p, got, want)
			}
		}
		if got := k.Of(math.NaN()); got != 0 {
			t.Errorf("%+v.Of(NaN) = %v, want 0", k, got)
		}
		if low, high := k.Of(1e-300), k.Of(math.Nextafter(1, 0)); !(low >= 0 && low < 1e-9 && high > 0.4 && high <= 1) {
			t.Errorf("%+v makes %v and %v of the smallest and the largest", k, low, high)
		}
	}
}
