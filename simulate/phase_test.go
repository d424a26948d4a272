package simulate

import (
	"math"
	"testing"

	"recrawld/internal/solo"
)

// With a flat profile the bound is the optimum of known rates.
func TestPhaseOptimumOfAFlatWeek(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	flat := profile(0.5, func(day, hour int) bool { return hour%2 == 0 })
	pages := make([]Source, 40)
	for i := range pages {
		pages[i] = Source{PerDay: math.Exp(2*float64(i%3) - 4), Weight: 1 + float64(i%2)}
	}
	for _, perDay := range []float64{20} {
		got, want := PhaseOptimum(pages, flat, perDay).Freshness, KnownRates(pages, perDay, nil).Freshness
		if math.Abs(got-want) > 0.006 {
			t.Errorf("at %v a day %v, want %v", perDay, got, want)
		}
	}
}

// The figures of the exact dynamic programme of FRESHNESS.md, section 3, for pages with one change a day.
func TestPhaseOptimumOfPublishedProfiles(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	daily := profile(0.8, func(_, hour int) bool { return hour >= 9 && hour < 17 })
	for _, test := range []struct {
		name    string
		profile Profile
		perDay  float64
		want    float64
	}{
		{"office hours", officeHours(), 0.3, 0.513}, {"office hours", officeHours(), 1, 0.822}, {"office hours", officeHours(), 3, 0.918},
		{"eight hours", daily, 0.3, 0.361}, {"eight hours", daily, 1, 0.792}, {"eight hours", daily, 3, 0.897},
		{"fixed hour", fixedHour(), 0.3, 0.438}, {"fixed hour", fixedHour(), 1, 0.960}, {"fixed hour", fixedHour(), 3, 0.977},
	} {
		got := PhaseOptimum([]Source{{PerDay: 1, Weight: 1}}, test.profile, test.perDay).Freshness
		t.Logf("%s at %v a day: %.3f, published %.3f", test.name, test.perDay, got, test.want)
		if math.Abs(got-test.want) > 0.02 {
			t.Errorf("%s at %v a day: %.3f, want %.3f", test.name, test.perDay, got, test.want)
		}
	}
}
