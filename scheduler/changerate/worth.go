package changerate

import "math"

// Pays tells whether a visit in so many days will be worth the price, if nothing more becomes known: whether DueIn is at
// most as long, without finding out how long it is.
func (f Forecast) Pays(price, days float64) bool { return f.ValueIn(days) >= price }

// ValueIn is what a visit in so many days will be worth, if nothing more becomes known; in fewer than 0, now.
func (f Forecast) ValueIn(days float64) float64 { return f.valueIn(max(0, days)) }

// All is the rate of all changes to come, those included that somebody else will tell of.
func (f Forecast) All() Gamma {
	return Gamma{Shape: f.Rate.Shape, Days: f.Rate.Days * (1 - bounded(f.Told, 0, mostTold))}.sane()
}

// Fresh is for how many of so many days from now a copy made now is expected to be up to date, until the next change: what a
// visit is worth to a page that is known to have changed. It is the integral of the survival,
// b/(a − 1)·(1 − (b/(b + days))^(a−1)), at most the days.
func (g Gamma) Fresh(days float64) float64 {
	g, days = g.sane(), bounded(days, 0, maxDays)
	a, x := g.Shape-1, math.Log1p(days/g.Days)
	if math.Abs(a*x) < 1e-9 {
		return min(g.Days*x, days)
	}
	return min(g.Days*-math.Expm1(-a*x)/a, days)
}

// Found is what the chance of finding a change gains by a visit so many days after the last one rather than all the time, in [0, 1]:
//
//	Q(t) = 1 − S(t) + t·S′(t) = 1 − S(t)·(1 + a·t/(b + t))
//
// It is to that chance what Utility is to the days of freshness, and the mean of the rate by the utility at it.
func (g Gamma) Found(days float64) float64 {
	g = g.sane()
	x := bounded(days, 0, maxDays) / g.Days
	log := log1pOf(x)
	survival := expOf(-g.Shape * log)
	return bounded(-expm1Of(-g.Shape*log)-g.Shape*x/(1+x)*survival, 0, 1)
}

// Asked is what a visit must be worth, in days of freshness, where each visit costs fixed and one that finds a change found more, and what it costs is worth
// price. With intervals t the freshness is ∫₀ᵗ S / t, and the cost (fixed + found·(1 − S)) / t a day; at the best t the one grows by as much as price times the other:
//
//	U(t) = price·(fixed + found·Q(t))
//
// Where servers send nothing of what has not changed, changes cost and looks do not: a page whose changes cost more than they are worth, 1/λ < price·found where
// its rate λ is known, is never visited, and another one the more often the less a look costs. The ratio of both sides grows with t, so there is one such t, or
// none: then it is what a visit must be worth that finds a change for sure.
func (g Gamma) Asked(price, fixed, found float64) float64 {
	most := price * (fixed + found)
	late := g.Due(most)
	if !(price*found > 0) || math.IsInf(late, 1) {
		return most
	}
	soon := max(g.Due(price*fixed), late*soonest)
	over := func(days float64) (ratio, value float64) { // the logarithm of the ratio of both sides
		value = g.Utility(days)
		return logOf(value / (price * (fixed + found*g.Found(days)))), value
	}
	low, value := over(soon)
	if low >= 0 {
		return value
	}
	high, value := over(late)
	// False position on the scale of ratios, where an end that stays counts half (Illinois variant).
	for weighed := high; high > askedExact && late > soon*(1+askedExact); {
		middle := soon * expOf(bounded(low/(low-weighed), 0.1, 0.9)*logOf(late/soon))
		now, worth := over(middle)
		if now < 0 {
			soon, low, weighed = middle, now, weighed/2
			continue
		}
		late, high, weighed, low, value = middle, now, now, low/2, worth
	}
	return value
}

// What a visit must be worth need not be more exact than this share of itself, and is not looked for at less than this share of the longest interval: where
// looks cost nothing there may be none at which both sides meet.
const (
	askedExact = 0.01
	soonest    = 1e-6
)
