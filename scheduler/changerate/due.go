package changerate

import "math"

// DueIn is in how many days a visit will be worth the price, if nothing more becomes known but time goes on: a new page
// grows older, and what was news wears off. It is 0 where the visit is worth it now, and +Inf where it will not be as
// long as anybody may care. Whether it is worth it now allows for noise, a time to come does not: where both did, a budget that was
// changed was not kept for a minute or two. A forecast alone (Forecast.DueIn) knows nothing of the time to come.
func DueIn(w *Weights, c *Crowd, s *Subject, now, price float64) float64 {
	var r Reading
	r.Read(w, c, s)
	f := r.Forecast(now)
	return r.DueIn(&f, price, math.Inf(1))
}

// DueIn is the function DueIn for the page that was read, of which f is the last forecast, exact to a sixty-fourth of itself or a
// minute; where what a visit is worth hardly grows any more, it is worth the price to a sixty-fourth then. Where the result would
// not be less than horizon, in days, another one may be given that is not less either: whether it would is asked first, by what the
// visit is worth at the horizon.
func (r *Reading) DueIn(f *Forecast, price, horizon float64) float64 {
	if f.Value() >= price {
		return 0
	}
	at := horizon
	switch {
	case horizon <= leastDue:
		return leastDue
	case !(horizon < lastDay):
		at, horizon = bounded(f.Rate.Due(price)-f.Elapsed, leastDue, lastDay), math.Inf(1)
	}
	var s search
	for found := false; !found; {
		m := r.visited(at, price)
		if !(m.over >= 0) && m.days >= min(horizon, lastDay) {
			return horizon
		}
		at, found = s.next(m)
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
