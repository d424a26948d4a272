package scheduler

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Sites that ask for little get that, and of what is left the others get the same each.
func TestStretches(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		asks map[int32]float64
		most float64
		want map[int32]float64
	}{
		{map[int32]float64{1: 2, 2: 3}, 6, map[int32]float64{}},
		{map[int32]float64{1: 2, 2: 30, 3: 8}, 12, map[int32]float64{2: 6, 3: 1.6}},
		{map[int32]float64{1: 12}, 3, map[int32]float64{1: 4}},
		{map[int32]float64{1: 12}, math.Inf(1), map[int32]float64{}},
		{map[int32]float64{1: 12}, 0, map[int32]float64{}}, // no price is known yet
	} {
		if diff := cmp.Diff(test.want, stretches(test.asks, test.most)); diff != "" {
			t.Errorf("of %v the sites that ask for %v get so many times less (-want +got):\n%s", test.most, test.asks, diff)
		}
	}
}
