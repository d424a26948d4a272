package changerate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// repeat is n comparisons over equal gaps, the first x of which differed.
func repeat(n, x int, gap time.Duration) []Comparison {
	seen := make([]Comparison, n)
	for i := range seen {
		seen[i] = Comparison{Gap: gap, Changed: i < x}
	}
	return seen
}

func TestIrregularIsRegularForEqualGaps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "n")
		x := rapid.IntRange(0, n).Draw(t, "x")
		gap := time.Duration(rapid.Int64Range(int64(time.Minute), int64(400*day)).Draw(t, "gap"))
		got, want := Irregular(repeat(n, x, gap)), Regular(n, x, gap)
		checkOrdered(t, got)
		if !near(got.PerDay, want.PerDay, 1e-9) {
			t.Fatalf("Irregular of %d/%d changed over %v = %v, want %v as Regular says", x, n, gap, got.PerDay, want.PerDay)
		}
	})
}

// By hand: one change over 1 day and none over 2 more. Likelihood (1 − e^{−λ})·e^{−2λ} has its peak at ln 1.5. With half a
// gap of the mean, 0.75 days, the equation is 1/(e^λ − 1) = 2.75, so λ = ln(1 + 1/2.75).
func TestIrregularByHand(t *testing.T) {
	t.Parallel()
	seen := []Comparison{{Gap: day, Changed: true}, {Gap: 2 * day}, {Gap: 0, Changed: true}, {Gap: -day}}
	got := Irregular(seen)
	if want := math.Log(1 + 1/2.75); !near(got.PerDay, want, 1e-9) {
		t.Errorf("PerDay = %v, want %v", got.PerDay, want)
	}
	top := math.Log(1-1/1.5) - 2*math.Log(1.5)
	for _, end := range []float64{got.Low, got.High} {
		if fall := top - (math.Log(1-math.Exp(-end)) - 2*end); !near(fall, dropLR, 1e-6) {
			t.Errorf("log-likelihood falls by %v at %v, want %v", fall, end, dropLR)
		}
	}
}

func TestIrregularEdges(t *testing.T) {
	t.Parallel()
	none := Irregular(repeat(4, 0, 2*day))
	if none.PerDay != 0 || none.Low != 0 || !near(none.High, dropLR/8, 1e-9) {
		t.Errorf("none changed in 8 days: %+v, want 0 with High %v", none, dropLR/8)
	}
	all := Irregular(repeat(4, 4, 2*day))
	if !near(all.PerDay, math.Log(9)/2, 1e-9) || !math.IsInf(all.High, 1) || !(all.Low > 0 && all.Low < all.PerDay) {
		t.Errorf("all changed: %+v, want %v with High infinite", all, math.Log(9)/2)
	}
	if far := Irregular([]Comparison{{Gap: math.MaxInt64, Changed: true}, {Gap: 1}}); math.IsNaN(far.PerDay) || math.IsNaN(far.Low) {
		t.Errorf("gaps of 292 years and 1 ns: %+v, want numbers", far)
	}
}

func TestIrregularOrdered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seen := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Comparison {
			return Comparison{
				Gap:     time.Duration(rapid.Int64Range(int64(time.Second), int64(1000*day)).Draw(t, "gap")),
				Changed: rapid.Bool().Draw(t, "changed"),
			}
		}), 1, 40).Draw(t, "seen")
		r := Irregular(seen)
		checkOrdered(t, r)
		var span time.Duration
		for _, c := range seen {
			span += c.Gap
		}
		mean := Comparison{Gap: span / time.Duration(len(seen))}
		if more := Irregular(append(seen, mean)); more.PerDay > r.PerDay*(1+1e-6) {
			t.Fatalf("an unchanged comparison over the mean gap raises the rate from %+v to %+v", r, more)
		}
	})
}

func TestIrregularCoverage(t *testing.T) {
	t.Parallel()
	const histories = 2000
	rng := rand.New(rand.NewPCG(3, 4))
	for _, rate := range []float64{0.05, 0.3, 1} {
		hits, sum := 0, 0.0
		for range histories {
			seen := make([]Comparison, 40)
			for i := range seen {
				gap := time.Duration(float64(day) * math.Exp(rng.NormFloat64()))
				seen[i] = Comparison{Gap: gap, Changed: changes(rng, rate, gap)}
			}
			r := Irregular(seen)
			sum += r.PerDay
			if r.Low <= rate && rate <= r.High {
				hits++
			}
		}
		if share := float64(hits) / histories; share < 0.925 || share > 0.975 {
			t.Errorf("rate %v: the interval covers in %.1f %% of histories, want about 95 %%", rate, 100*share)
		}
		if mean := sum / histories; !near(mean, rate, 0.05) {
			t.Errorf("rate %v: mean estimate %.4f, want within 5 %%", rate, mean)
		}
	}
}
