package rhythm

import (
	"math"
	"time"
)

// Look is the time between two visits that saw a page's content.
type Look struct {
	From, To time.Time
	Changed  bool
	At       time.Time // of the last change, within From and To, where a date tells it; zero: it is not known
}

// dated tells whether it is known when the page changed.
func (l *Look) dated() bool { return l.Changed && l.At.After(l.From) && l.At.Before(l.To) }

// hours are those of which it is known whether the page changed.
func (l *Look) hours() float64 {
	if l.dated() {
		return l.To.Sub(l.At).Hours()
	}
	return l.To.Sub(l.From).Hours()
}

// came is n of the package's documentation: how many changes a look that was changed has on average, of which x are expected at any
// hour alike; 1 for none.
func came(x float64) float64 {
	if x < 1e-9 {
		return 1
	}
	return -x / math.Expm1(-x)
}

// rateOf is the changes an hour that make a page's looks most likely: the root of
//
//	Σ L/(e^(λL) − 1) over changed looks + D/λ − Σ L over the others and since the D dates = 0.
//
// It is 0 where no look was changed, and +Inf where all were and none has a date. The left side falls and is convex, so Newton's method climbs to
// the root from the left, where changes over hours lie: two changes in one look count as one there.
func rateOf(looks []Look) float64 {
	var changes, dates, all, still float64
	for i := range looks {
		l := &looks[i]
		all += l.hours()
		if l.Changed {
			changes++
		}
		if l.dated() {
			dates++
		}
		if !l.Changed || l.dated() {
			still += l.hours()
		}
	}
	switch {
	case changes == 0 || !(all > 0):
		return 0
	case !(still > 0):
		return math.Inf(1)
	}
	rate := changes / all
	for range 50 {
		left, slope := dates/rate-still, -dates/(rate*rate)
		for i := range looks {
			if l := &looks[i]; l.Changed && !l.dated() {
				h := l.hours()
				grown := math.Expm1(rate * h)
				left += h / grown
				slope -= h / grown * (h / grown) * (grown + 1)
			}
		}
		step := -left / slope
		if rate += step; !(step > 1e-9*rate) {
			break
		}
	}
	return rate
}
