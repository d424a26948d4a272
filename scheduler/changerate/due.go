package changerate

import "math"

// DueIn is in how many days a visit will be worth the price, if nothing more becomes known but time goes on: a new page
// grows older, and what was news wears off. It is 0 where the visit is worth it now, and +Inf where it will not be as
// long as anybody may care. A forecast alone (Forecast.DueIn) knows nothing of the time to come.
func DueIn(w *Weights, c *Crowd, s *Subject, now, price float64) float64 {
	var r Reading
	r.Read(w, c, s)
	f := r.Forecast(now)
	return r.DueIn(&f, price, math.Inf(1))
}

// DueIn is the function DueIn for the page that was read, of which f is the last forecast. Where the result would not be
// less than horizon, in days, another one may be given that is not less either: it is found sooner.
func (r *Reading) DueIn(f *Forecast, price, horizon float64) float64 {
	if f.Value() >= price {
		return 0
	}
	low, high := 0.0, math.Inf(1) // not yet worth it, and worth it
	at := f.DueIn(price)
	for range dueSteps {
		if math.IsInf(at, 1) || at > lastDay {
			at = lastDay
			if low > 0 {
				at = min(16*low, lastDay)
			}
		}
		f := r.expect(at)
		if at >= horizon && f.Rate.Utility(f.Elapsed) < price {
			return at // what comes of it lies no sooner
		}
		left := f.Rate.Due(price) - f.Elapsed // below 0 where it was worth it before
		if left > 0 {
			low = at
			if low >= horizon {
				return low
			}
		} else {
			high = at
		}
		if math.Abs(left) < dueExact*at || high-low < dueExact*high {
			break
		}
		next := at + left
		if !(next > low && next < high) { // no help from there: halve what is left, on the scale of ratios
			next = math.Sqrt(max(low, high/256) * min(high, 256*max(low, 1e-3)))
		}
		at = next
	}
	if math.IsInf(high, 1) && at >= lastDay {
		return math.Inf(1)
	}
	return at
}

// Settled is when to visit the page that was read, in days from now, where that would be so many days from now by its rate alone:
// an hour of that day or the next at which more of its host's changes are behind it, where the host has hours.
func (r *Reading) Settled(now, days float64) float64 {
	w, _ := r.crowd.rhythm.week(&r.weights.customs)
	if w == nil || !(days < lastDay) {
		return days
	}
	now = bounded(now, 1, lastDay)
	return max(0, w.settle(now+days, now+days-r.subject.LastAt, now)-now)
}

// A due time is found by so many looks at most, and need not be more exact than this share of itself.
const (
	dueSteps = 8
	dueExact = 1.0 / 64
)
