package changerate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestPoolOfOnePageIsRegular(t *testing.T) {
	t.Parallel()
	for _, x := range []int{0, 1, 7, 20} {
		var p Pool
		p.Add(20, x, 3*day)
		got, want := p.Rate(), Regular(20, x, 3*day)
		if !near(got.PerDay, want.PerDay, 1e-9) || got.Low > got.PerDay || got.High < got.PerDay {
			t.Errorf("pool of a page with %d of 20 changed = %+v, want %+v", x, got, want)
		}
	}
}

func TestPoolLeavesOutWhatTellsNothing(t *testing.T) {
	t.Parallel()
	var p Pool
	p.Add(0, 0, day)
	p.Add(4, 1, 0)
	if got := p.Rate(); got.Known() {
		t.Errorf("rate of nothing = %+v, want unknown", got)
	}
}

func TestPoolMergeIsAdd(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	var one, left, right Pool
	for i := range 500 {
		n := 1 + rng.IntN(30)
		gap := time.Duration(float64(day) * math.Exp(2*rng.NormFloat64()))
		x := rng.IntN(n + 1)
		one.Add(n, x, gap)
		half := &left
		if i%2 == 1 {
			half = &right
		}
		half.Add(n, x, gap)
	}
	left.Merge(&right)
	got, want := left.Rate(), one.Rate()
	if !near(got.PerDay, want.PerDay, 1e-9) || !near(got.Low, want.Low, 1e-9) || !near(got.High, want.High, 1e-9) {
		t.Errorf("merged pools = %+v, want %+v", got, want)
	}
	if len(one.bins) > 200 {
		t.Errorf("500 pages made %d bins, want bounded memory", len(one.bins))
	}
}

// Pages of one group differ. With equal gaps the pooled rate aims at −ln(1 − p̄)/I, p̄ the mean chance of a change, and
// its interval must hold that in about 95 % of groups, while one that took all pages for alike would not.
func TestPoolCoverageOverUnequalPages(t *testing.T) {
	t.Parallel()
	const groups, pages, n = 800, 60, 30
	rng := rand.New(rand.NewPCG(7, 8))
	draw := func() float64 { return 0.1 * math.Exp(rng.NormFloat64()) }
	var chance float64
	for range 400000 {
		chance -= math.Expm1(-draw())
	}
	target := -math.Log1p(-chance / 400000)
	hits := 0
	for range groups {
		var p Pool
		for range pages {
			rate, x := draw(), 0
			for range n {
				if changes(rng, rate, day) {
					x++
				}
			}
			p.Add(n, x, day)
		}
		if r := p.Rate(); r.Low <= target && target <= r.High {
			hits++
		}
	}
	if share := float64(hits) / groups; share < 0.90 || share > 0.98 {
		t.Errorf("the interval covers in %.1f %% of groups, want about 95 %%", 100*share)
	}
}

func TestPoolCoverageOverMixedGaps(t *testing.T) {
	t.Parallel()
	const groups, rate = 800, 0.2
	rng := rand.New(rand.NewPCG(9, 10))
	hits, sum := 0, 0.0
	for range groups {
		var p Pool
		for range 50 {
			gap, x := time.Duration(float64(day)*math.Exp(rng.NormFloat64())), 0
			for range 10 {
				if changes(rng, rate, gap) {
					x++
				}
			}
			p.Add(10, x, gap)
		}
		r := p.Rate()
		sum += r.PerDay
		if r.Low <= rate && rate <= r.High {
			hits++
		}
	}
	if share := float64(hits) / groups; share < 0.92 || share > 0.985 {
		t.Errorf("the interval covers in %.1f %% of groups, want about 95 %%", 100*share)
	}
	if mean := sum / groups; !near(mean, rate, 0.02) {
		t.Errorf("mean estimate %.4f, want %v within 2 %%", mean, rate)
	}
}
