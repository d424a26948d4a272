package changerate

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is learned, a moved visit lies within half a day and not in the past.
func TestSettleKeepsItsBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := new(rhythm)
		for i := range r.odds {
			r.odds[i] = rapid.SampledFrom([]int16{0, math.MinInt16, 5 / oddsStep, 8 / oddsStep, math.MaxInt16}).Draw(t, "odds")
		}
		s, _ := r.week(new(customs))
		if s == nil {
			return
		}
		now := rapid.Float64Range(1, 40_000).Draw(t, "now")
		at := now + rapid.Float64Range(0, 100).Draw(t, "in")
		interval := at - now + rapid.Float64Range(-100, 10).Draw(t, "since") // below 0 after a clock was set back
		if got := s.settle(at, interval, now); !(got >= now) || math.Abs(got-at) > max(0, min(furthest, interval/2))+1e-9 {
			t.Fatalf("a visit at %v, %v days after the last, is moved to %v at %v", at, interval, got, now)
		}
	})
}

// profileOf is what a guess says of the hours of the week.
func profileOf(guess int) (profile [weekHours]float64) {
	busy, calm := densities(guess)
	for h := range profile {
		profile[h] = calm
		if busyAt(guess, h) {
			profile[h] = busy
		}
	}
	return profile
}

// Visits that are moved behind the hours of a host, known for certain, cost less, in days out of date and in visits by their price,
// than visits at even intervals do, for pages that change seldom and often beside their visits.
func TestSettlingIsWorthIt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		guess int
		most  map[float64]float64 // of the cost of even visits, by the interval in days
	}{
		"an hour a day":           {0*dayHours + 6, map[float64]float64{1: 0.55, 2: 0.75, 5: 0.9, 10: 0.96}},
		"ten hours a day":         {2*dayHours + 8, map[float64]float64{1: 0.85, 2: 0.92, 5: 0.97, 10: 0.99}},
		"ten hours of a work day": {5*dayHours + 8, map[float64]float64{1: 0.9, 2: 0.93, 5: 0.97, 10: 0.99}},
	} {
		profile := profileOf(tt.guess)
		shape := surplusOf(&profile)
		for interval, most := range tt.most {
			for _, rate := range []float64{0.02, 0.2, 1} {
				g := Gamma{1e6, 1e6 / rate}
				price := g.Utility(interval)
				even := costOf(&profile, rate, price, func(last float64) float64 { return last + interval })
				moved := costOf(&profile, rate, price, func(last float64) float64 {
					return shape.settle(last+interval, interval, last)
				})
				if moved > most*even {
					t.Errorf("%s, every %v days at %v changes a day: %.3f of what even visits cost, want at most %v", name, interval, rate,
						moved/even, most)
				}
			}
		}
	}
}

// costOf is what visits cost a day: the days out of date, and the visits by their price.
func costOf(profile *[weekHours]float64, rate, price float64, next func(last float64) float64) float64 {
	const begin, end, step = 20_000, 21_000, 1.0 / 48
	stale, visits := 0.0, 0
	last := float64(begin)
	for last < end {
		at, changes := next(last), 0.0
		for x := last; x < at; x += step {
			part := min(step, at-x)
			changes += rate * profile[int(hourOf(x+part/2))%weekHours] * part
			stale += -math.Expm1(-changes) * part
		}
		last = at
		visits++
	}
	return (stale + price*float64(visits)) / (last - begin)
}

// The day of the week is what the remainder is, for any time.
func TestDayOfTheWeekIsExact(t *testing.T) {
	t.Parallel()
	check := func(at float64) {
		if got, want := inWeek(at), math.Mod(at, 7); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("inWeek(%v) = %v, want %v", at, got, want)
		}
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 200_000 {
		check(rnd.Float64() * 40_000)
		check(math.Exp(rnd.Float64()*80 - 40))
		week := 7 * math.Floor(rnd.Float64()*6000)
		check(week)
		check(math.Nextafter(week, math.Inf(1)))
		check(math.Nextafter(week, math.Inf(-1)))
	}
	for _, at := range []float64{0, math.Copysign(0, -1), -3, -1e300, 1e300, math.MaxFloat64, 1 << 40, math.Inf(1), math.NaN()} {
		check(at)
	}
}

// That days of the week differ as wholes moves no visit in the middle of the week: a budget is spent evenly over it.
func TestWholeDaysMoveNothing(t *testing.T) {
	t.Parallel()
	const monday = 20_003
	var profile [weekHours]float64
	for h := range profile {
		if h/dayHours < workdays {
			profile[h] = 7.0 / workdays
		}
	}
	shape := surplusOf(&profile)
	for _, day := range []float64{2.1, 2.4, 2.9} {
		if at := monday + day; math.Abs(shape.settle(at, 1, at-1)-at) > 1e-6 {
			t.Errorf("a visit on day %v is moved to %v", day, shape.settle(at, 1, at-1)-monday)
		}
	}
}
