package changerate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const day = 24 * time.Hour

func near(got, want, tolerance float64) bool {
	if math.IsInf(want, 1) {
		return math.IsInf(got, 1)
	}
	return math.Abs(got-want) <= tolerance*max(math.Abs(want), 1e-300)
}

// The expected values are the formulas of the doc comments, worked by hand; the Wilson intervals for 0 of 10 and 5 of
// 10 are those printed by R's prop.test(correct = FALSE): [0, 0.2775] and [0.2366, 0.7634].
func TestRegularKnownValues(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	tests := map[string]struct {
		n, changed int
		gap        time.Duration
		want       Rate
	}{
		"no comparison":       {0, 0, day, Rate{High: inf}},
		"no gap":              {5, 2, 0, Rate{High: inf}},
		"negative":            {-3, -1, day, Rate{High: inf}},
		"none changed":        {10, 0, day, Rate{0, 0, -math.Log(1 - 0.27753)}},
		"half changed":        {10, 5, day, Rate{math.Log(10.5 / 5.5), -math.Log(1 - 0.23659), -math.Log(1 - 0.76341)}},
		"half, gap two days":  {10, 5, 2 * day, Rate{math.Log(10.5/5.5) / 2, -math.Log(1-0.23659) / 2, -math.Log(1-0.76341) / 2}},
		"all changed":         {10, 10, day, Rate{math.Log(21), -math.Log(1 - 0.72247), inf}},
		"more than all":       {10, 99, day, Rate{math.Log(21), -math.Log(1 - 0.72247), inf}},
		"shortest gap":        {1, 1, 1, Rate{math.Log(3) * float64(day), -math.Log(1-0.20655) * float64(day), inf}},
		"largest count":       {math.MaxInt32, 0, day, Rate{0, 0, z * z / math.MaxInt32}},
		"longest gap, hourly": {1, 0, math.MaxInt64, Rate{0, 0, -math.Log(1-0.79345) / (float64(math.MaxInt64) / float64(day))}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Regular(tt.n, tt.changed, tt.gap)
			if !near(got.PerDay, tt.want.PerDay, 1e-9) || !near(got.Low, tt.want.Low, 1e-4) || !near(got.High, tt.want.High, 1e-4) {
				t.Errorf("Regular(%d, %d, %v) = %+v, want %+v", tt.n, tt.changed, tt.gap, got, tt.want)
			}
		})
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rate Rate
		want bool
	}{
		{Regular(0, 0, day), false},
		{Regular(1, 0, day), true},
		{Regular(1, 1, day), true},
		{Irregular(nil), false},
		{new(Pool).Rate(), false},
	} {
		if got := tt.rate.Known(); got != tt.want {
			t.Errorf("%+v.Known() = %v, want %v", tt.rate, got, tt.want)
		}
	}
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		perDay float64
		want   time.Duration
	}{
		{1, day}, {0.5, 2 * day}, {24, time.Hour}, {0, maxDuration}, {-1, maxDuration}, {1e-300, maxDuration},
		{math.NaN(), maxDuration}, {math.Inf(1), 0},
	} {
		if got := Period(tt.perDay); got != tt.want {
			t.Errorf("Period(%v) = %v, want %v", tt.perDay, got, tt.want)
		}
	}
}

// checkOrdered fails unless the estimate lies in its interval and is finite.
func checkOrdered(t *rapid.T, r Rate) {
	t.Helper()
	if !(0 <= r.Low && r.Low <= r.PerDay && r.PerDay <= r.High) || math.IsInf(r.PerDay, 1) {
		t.Fatalf("%+v, want 0 <= Low <= PerDay <= High and PerDay finite", r)
	}
}

func TestRegularGrowsWithChangesAndShrinksWithGap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		changed := rapid.IntRange(0, n).Draw(t, "changed")
		gap := time.Duration(rapid.Int64Range(int64(time.Second), int64(4000*day)).Draw(t, "gap"))
		r := Regular(n, changed, gap)
		checkOrdered(t, r)
		if more := Regular(n, min(changed+1, n), gap); more.PerDay < r.PerDay || more.Low < r.Low || more.High < r.High {
			t.Fatalf("one change more gives %+v after %+v", more, r)
		}
		if longer := Regular(n, changed, 2*gap); longer.PerDay > r.PerDay || !near(longer.PerDay*2, r.PerDay, 1e-9) {
			t.Fatalf("twice the gap gives %+v after %+v, want half of it", longer, r)
		}
	})
}

// changes tells how a Poisson process of rate perDay looks over a gap.
func changes(rng *rand.Rand, perDay float64, gap time.Duration) bool {
	return rng.Float64() < -math.Expm1(-perDay*gap.Hours()/24)
}

// The interval must hold the true rate in about 95 % of the histories. Wilson's coverage swings with n and p around
// that, and nowhere in this grid leaves 91.5–98.5 %.
func TestRegularCoverageAndBias(t *testing.T) {
	t.Parallel()
	const histories = 4000
	rng := rand.New(rand.NewPCG(1, 2))
	var covered, all int
	for _, n := range []int{10, 30, 100} {
		for _, rate := range []float64{0.1, 0.3, 0.7, 1.2} {
			hits, sum := 0, 0.0
			for range histories {
				x := 0
				for range n {
					if changes(rng, rate, day) {
						x++
					}
				}
				r := Regular(n, x, day)
				sum += r.PerDay
				if r.Low <= rate && rate <= r.High {
					hits++
				}
			}
			covered, all = covered+hits, all+histories
			if share := float64(hits) / histories; share < 0.915 || share > 0.985 {
				t.Errorf("n = %d, rate %v: the interval covers in %.1f %% of histories, want 91.5-98.5 %%", n, rate, 100*share)
			}
			if mean := sum / histories; !near(mean, rate, 0.05) {
				t.Errorf("n = %d, rate %v: mean estimate %.4f, want within 5 %%", n, rate, mean)
			}
		}
	}
	if share := float64(covered) / float64(all); share < 0.94 || share > 0.965 {
		t.Errorf("the interval covers in %.2f %% of all histories, want about 95 %%", 100*share)
	}
}

// A rate of nothing is 0 and not -0, which JSON shows.
func TestRegularOfNoChangeHasNoSign(t *testing.T) {
	t.Parallel()
	if r := Regular(10, 0, time.Hour); math.Signbit(r.PerDay) || math.Signbit(r.Low) {
		t.Errorf("Regular(10, 0, 1h) = %v and %v, want no minus", r.PerDay, r.Low)
	}
}
