package changerate

import "math"

// moment is a visit in so many days.
type moment struct {
	days   float64
	passed float64 // days since the last record by then
	over   float64 // the logarithm of how many times the price it is worth; below 0: not yet worth it
	slope  float64 // of that over the logarithm of passed, as time alone makes it
}

// visited is a moment in so many days, by the rate alone, with what will have worn off by then.
func (r *Reading) visited(days, price float64) moment {
	f := r.expect(days)
	value, slope := f.Rate.growth(f.Elapsed)
	return moment{days: days, passed: f.Passed, over: logOf(value / price), slope: slope}
}

// search looks for the moment at which a visit is worth its price, on the scales on which what it is worth is nearly a line, both
// logarithms: from the first moment by the slope that time alone makes, and from a further one by the line through it and the one
// before (the secant method). It keeps to what is left between the last moment known not to be worth it and the first known to be,
// and halves that where the line leads out of it or needs many looks; so it ends, and at a moment between such two.
type search struct {
	low, high float64 // days; high is 0 until it is known
	last      moment
	looks     int
}

// next takes in a moment, and says when to look next; or, where that is found, when a visit is worth its price.
func (s *search) next(m moment) (days float64, found bool) {
	slope := m.slope
	if s.looks > 0 {
		if chord := (m.over - s.last.over) / logOf(m.passed/s.last.passed); chord > 0 {
			slope = chord
		}
	}
	s.last = m
	s.looks++
	if m.over >= 0 {
		s.high = m.days
	} else {
		s.low = m.days
	}
	next := m.days + m.passed*expm1Of(-m.over/slope)
	if s.high == 0 {
		if far := dueStride * s.low; !(next > s.low && next < far) || s.looks > dueLooks {
			next = far
		}
		return min(next, lastDay), math.Abs(next-m.days) < dueExact*next
	}
	if !(next > s.low && next < s.high) || s.looks > dueLooks {
		next = math.Sqrt(max(s.low, s.high/dueStride) * s.high)
	}
	return next, s.high <= leastDue || s.high-s.low < dueExact*s.high || math.Abs(next-m.days) < dueExact*next
}

// A due time need not be more exact than this share of itself, or than leastDue, a minute. From one look to the next it moves
// dueStride times as far at most; after dueLooks what is left is halved.
const (
	dueExact  = 1.0 / 64
	leastDue  = 1.0 / 24 / 60
	dueStride = 64
	dueLooks  = 8
)
