package rhythm

import (
	"math"
	"math/cmplx"
	"testing"
	"time"
)

// Tails of the F distribution with 2 and 9 degrees of freedom as they are printed in the manual of Igor Pro for a second-order test of 11 pairs
// of angles (StatsCircularTwoSampleTest): p = 0.786411 of F = 0.246806, and 4.25649 as what 5 % lie beyond; and of 2 and 10 by the tables.
func TestTail(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ f, degrees, want, within float64 }{
		{0.246806, 9, 0.786411, 1e-6}, {4.25649, 9, 0.05, 1e-6}, {4.103, 10, 0.05, 1e-4}, {7.559, 10, 0.01, 1e-4}, {0, 5, 1, 0},
	} {
		if p := tail(test.f, test.degrees); math.Abs(p-test.want) > test.within {
			t.Errorf("beyond %g with %g degrees of freedom: %.6f, want %g", test.f, test.degrees, p, test.want)
		}
	}
}

// Three vectors, by hand: their mean is (2/3, 2/3), A has 2/3 and −1/3, F = 3·1/2·8/3 = 4, p = (1 + 8)^(−1/2).
func TestP(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		vectors []complex128
		want    float64
	}{
		{[]complex128{1, 1i, 1 + 1i}, 1.0 / 3},
		{[]complex128{5, 5i, 5 + 5i}, 1.0 / 3},                   // whatever the unit
		{[]complex128{1, -1, 1i, -1i}, 1},                        // their mean is 0
		{[]complex128{1, 2, 3, 4}, 1},                            // on a line
		{[]complex128{1, 1i}, 1}, {nil, 1}, {[]complex128{0}, 1}, // too few
	} {
		if p := P(test.vectors); math.Abs(p-test.want) > 1e-12 {
			t.Errorf("P(%v) = %v, want %v", test.vectors, p, test.want)
		}
	}
}

// The likeliest rate of looks as long as each other is −ln(1 − X/n)/L, that of dated changes D over the time since; no change is 0, nothing else infinite.
func TestRateOf(t *testing.T) {
	t.Parallel()
	look := func(hours float64, changed bool, sinceHours float64) Look {
		l := Look{From: monday, To: monday.Add(time.Duration(hours * float64(time.Hour))), Changed: changed}
		if sinceHours > 0 {
			l.At = l.To.Add(-time.Duration(sinceHours * float64(time.Hour)))
		}
		return l
	}
	for name, test := range map[string]struct {
		looks []Look
		want  float64
	}{
		"one of two":        {[]Look{look(6, true, 0), look(6, false, 0)}, math.Ln2 / 6},
		"three of four":     {[]Look{look(6, true, 0), look(6, true, 0), look(6, true, 0), look(6, false, 0)}, math.Log(4) / 6},
		"one of a thousand": {append([]Look{look(1, true, 0)}, repeated(look(1, false, 0), 999)...), -math.Log1p(-0.001)},
		"dated":             {[]Look{look(24, true, 4), look(24, true, 16)}, 2.0 / 20},
		"none":              {[]Look{look(6, false, 0)}, 0},
		"nothing":           {nil, 0},
		"all":               {[]Look{look(6, true, 0)}, math.Inf(1)},
	} {
		if got := rateOf(test.looks); got != test.want && math.Abs(got/test.want-1) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func repeated(l Look, n int) (looks []Look) {
	for range n {
		looks = append(looks, l)
	}
	return looks
}

func TestCame(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]float64{0: 1, 1e-12: 1, 1: 1.5819767068693265, 2: 2.3130352854993315, 50: 50} {
		if got := came(x); math.Abs(got-want) > 1e-9 {
			t.Errorf("came(%v) = %v, want %v", x, got, want)
		}
	}
}

// A moment points at its hour, half a day at its middle and 2/π as far, a day nowhere.
func TestTurn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stretch
		want complex128
	}{
		{stretch{6, 6}, 1i}, {stretch{24 + 6, 24 + 6}, 1i}, {stretch{0, 12}, 2i / math.Pi}, {stretch{5, 29}, 0}, {stretch{-18, -18}, 1i},
	} {
		if got := test.turn(Day); cmplx.Abs(got-test.want) > 1e-9 {
			t.Errorf("turn of %v = %v, want %v", test.stretch, got, test.want)
		}
	}
}

// Each hour that a stretch touches has its share, also where the week begins anew and before 1970.
func TestEach(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stretch
		want map[int]float64
	}{
		{stretch{1.5, 3.5}, map[int]float64{1: 0.25, 2: 0.5, 3: 0.25}}, {stretch{Week - 1, Week + 1}, map[int]float64{Week - 1: 0.5, 0: 0.5}},
		{stretch{7, 7}, map[int]float64{7: 1}}, {stretch{-1, 1}, map[int]float64{Week - 1: 0.5, 0: 0.5}}, {stretch{2, 2.25}, map[int]float64{2: 1}},
	} {
		got := make(map[int]float64)
		test.each(func(hour int, share float64) { got[hour] += share })
		for hour := range Week {
			if math.Abs(got[hour]-test.want[hour]) > 1e-9 {
				t.Errorf("%v: hour %d has %v, want %v", test.stretch, hour, got[hour], test.want[hour])
			}
		}
	}
}

// Days since 1970 begin with a Thursday.
func TestWeeksBeginOnMonday(t *testing.T) {
	t.Parallel()
	at := in(time.UTC, monday.Add(5*time.Hour), monday.Add(7*time.Hour))
	if got := inWeek(at.from); got != 5 || at.hours() != 2 || int(at.from)%Week != 5 {
		t.Errorf("Monday at 5 is hour %v of the week", got)
	}
}

// A span past midnight is of the day that it begins on.
func TestSpanHas(t *testing.T) {
	t.Parallel()
	night := Span{FirstDay: 0, Days: 5, From: 22, Hours: 8}
	for hour, want := range map[int]bool{22: true, 24 + 5: true, 24 + 6: false, 5: false, 4*Day + 23: true, 5*Day + 5: true, 5*Day + 22: false, 6*Day + 22: false} {
		if night.has(hour) != want {
			t.Errorf("hour %d of day %d: %v, want %v", hour%Day, hour/Day, !want, want)
		}
	}
	if upTo := night.upTo(); upTo[2*Week] != 2*5*8 {
		t.Errorf("%v half hours a week, want %d", upTo[2*Week], 2*5*8)
	}
}

// A block counts as three times the median one at most.
func TestScales(t *testing.T) {
	t.Parallel()
	b := blocks{1: {weight: 2}, 2: {weight: 2}, 3: {weight: 60}, 4: {}}
	if got := b.scales(); len(got) != 3 || got[1] != 1 || math.Abs(got[3]-0.1) > 1e-12 {
		t.Errorf("scales %v, want 1, 1 and 0.1", got)
	}
}
