package changerate

import "math"

// Hours are the hours of the day, UTC, in which most of a host's changes come.
type Hours struct {
	From     int     // the hour they begin with, 0–23
	Count    int     // how many they are, 1–10; they may reach into the next day
	Workdays bool    // from Monday to Friday alone
	Likely   float64 // that its changes keep to any hours at all, 0.5–1
}

// Hours are those of the likeliest guess; none, the zero Hours, where no rhythm is likely enough to be acted upon.
func (c *Crowd) Hours(w *Weights) Hours {
	shape, likely := c.rhythm.week(&w.customs)
	if shape == nil {
		return Hours{}
	}
	best, most, step := 0, math.Inf(-1), c.rhythm.step()
	prior := w.customs.without(c.rhythm)
	for i, x := range c.rhythm.odds {
		if by := float64(x)*step + math.Log(prior[i/dayHours]); by > most {
			best, most = i, by
		}
	}
	kind, long, start := parts(best)
	return Hours{From: start, Count: long, Workdays: kind == 1, Likely: likely}
}

// surplus is, for each hour of the week from Monday midnight on, how many days' worth of changes more than usual came by then, on a
// day of its own: the sum of a profile whose mean is 1, less what a day around that hour has on average.
//
// So what the days of the week differ in is left out. A budget is spent evenly over the week: were visits put off from week-ends
// to working days, they would only be dearer there.
type surplus [weekHours + 1]float64

// surplusOf is that of a profile.
func surplusOf(profile *[weekHours]float64) *surplus {
	var sum [weekHours + 1]float64
	for h, f := range profile {
		sum[h+1] = sum[h] + (f-1)/dayHours
	}
	within := new(surplus)
	for h := range within {
		const half = dayHours / 2
		around := (sum[(h+weekHours-half)%weekHours] + sum[(h+half)%weekHours]) / 2
		for k := 1 - half; k < half; k++ {
			around += sum[(h+weekHours+k)%weekHours]
		}
		within[h] = sum[h] - around/dayHours
	}
	return within
}

// hourOf is the hour of the week, as a fraction, of a time in days since 1970, which began on a Thursday.
func hourOf(at float64) float64 {
	return inWeek(at+3) * dayHours
}

// inWeek is math.Mod(at, 7), exactly. What that takes as a tenth of the simulator's time a floor brings: a time less whole
// weeks is a multiple of the same power of two and smaller, so that nothing of it is rounded; only the number of weeks may be one off.
func inWeek(at float64) float64 {
	d := at - 7*math.Floor(at/7)
	switch {
	case !(at >= 0 && at < 1<<40):
		return math.Mod(at, 7)
	case d < 0:
		return d + 7
	case d >= 7:
		return d - 7
	}
	return d
}

// until is the excess of changes up to a time.
func (s *surplus) until(at float64) float64 {
	h := hourOf(at)
	i := min(int(h), weekHours-1)
	return s[i] + (h-float64(i))*(s[i+1]-s[i])
}

// furthest is how far a visit is moved for the rhythm, in days: to another hour of the day.
const furthest = 0.5

// settle moves a visit at a time, an interval of days after the one before, to when it finds the most: where the excess of
// changes behind it is largest beside what waiting costs. It is no sooner than now.
//
// With a rate λ and the profile f, S its excess, a visit dt later finds λ·∫f changes more, each an interval sooner than the next
// visit would; and it leaves the copy stale for as long if it has changed already, which is likelier the more of the excess lies
// between the visits. To the first order in what S moves, the gain beside that of an interval is
//
//	S(at + dt) − S(at) − ∫₀^dt (x + S(at + x) − S(at − interval)) dx / interval
//
// Where changes are many, waiting costs less than that; but then what is known of the rate says less, and moving visits as far as that
// allows was worse on histories and in made-up worlds.
func (s *surplus) settle(at, interval, now float64) float64 {
	if !(now <= at && interval > 0) {
		return at
	}
	far := min(furthest, interval/2)
	usual, last := s.until(at), s.until(max(at-interval, 0))
	best, gain := at, 0.0
	walk := func(end float64, next func(hour float64) float64) {
		t, owed, area := at, usual-last, 0.0
		for t != end {
			to := next(t*dayHours) / dayHours // between whole hours the excess is a line
			if (to-end)*(end-at) >= 0 {
				to = end
			}
			there := s.until(to)
			more := to - at + there - last
			area += (to - t) * (owed + more) / 2
			t, owed = to, more
			if g := there - usual - area/interval; g > gain {
				best, gain = t, g
			}
		}
	}
	// A whole hour h has exactly h/24·24 = h, as 24 is a sum of two powers of two: so each step is one.
	walk(max(at-far, now), func(hour float64) float64 { return math.Ceil(hour) - 1 })
	walk(at+far, func(hour float64) float64 { return math.Floor(hour) + 1 })
	return best
}
