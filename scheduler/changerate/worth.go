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
