package changerate

import "math"

// The bounds that keep every posterior finite: what lies outside says no more than the bound does.
const (
	minShape, maxShape = 1e-3, 1e9
	minDays, maxDays   = 1e-9, 1e15
)

// Gamma is what is known of a page's change rate λ: it is gamma-distributed with a shape a and, over it, b days, so
// that its mean is a/b changes a day. A prior of shape a is worth as much as a changes seen in b days.
//
// Methods take any value: a NaN or a negative one counts as nothing seen, and a Gamma outside of its bounds, the zero
// value included, as the nearest one inside. Results are never NaN.
type Gamma struct {
	Shape float64 // a
	Days  float64 // b
}

// sane brings g inside the bounds.
func (g Gamma) sane() Gamma {
	return Gamma{Shape: bounded(g.Shape, minShape, maxShape), Days: bounded(g.Days, minDays, maxDays)}
}

// bounded is x within [low, high], and low for NaN.
func bounded(x, low, high float64) float64 {
	if !(x > low) {
		return low
	}
	return min(x, high)
}

// Mean is the expected change rate, per day.
func (g Gamma) Mean() float64 {
	g = g.sane()
	return g.Shape / g.Days
}

// Unchanged is the posterior after a visit that found no change since the one so many days before. It is exact: the
// likelihood is e^{−λ·days}.
func (g Gamma) Unchanged(days float64) Gamma {
	g = g.sane()
	return Gamma{Shape: g.Shape, Days: g.Days + bounded(days, 0, maxDays)}.sane()
}

// Changed is the posterior after a visit that found a change somewhere in the days since the one before. The
// likelihood 1 − e^{−λ·days} makes it a difference of two gamma distributions; the gamma returned has the first two
// moments of that. With r = b/(b + days) and Z = 1 − r^a they are
//
//	E[λ]  = a/b · (1 − r^{a+1})/Z         E[λ²] = a(a+1)/b² · (1 − r^{a+2})/Z
//
// A change in no time at all says that the page changes, not how often: E[λ] = (a + 1)/b. One in a very long time says
// nothing.
func (g Gamma) Changed(days float64) Gamma {
	g = g.sane()
	x := bounded(days, 0, maxDays) / g.Days
	if x < 1e-9 {
		return Gamma{Shape: g.Shape + 1, Days: g.Days}.sane()
	}
	a, log := g.Shape, -math.Log1p(x)
	z := -math.Expm1(a * log)
	first := a * -math.Expm1((a+1)*log) / z
	second := first * (a + 1) * math.Expm1((a+2)*log) / math.Expm1((a+1)*log)
	variance := second - first*first
	if !(variance > 0) || !(first > 0) {
		return g
	}
	return Gamma{Shape: first * first / variance, Days: g.Days * first / variance}.sane()
}

// Dated is the posterior after a visit that learned from a date which can be trusted that the page last changed so
// many days before it, and after the visit before. It is exact: the likelihood is λ·e^{−λ·quiet}.
func (g Gamma) Dated(quiet float64) Gamma { return g.Counted(1, quiet) }

// Counted is the posterior after all changes of some days were counted, as the dated entries of a feed allow. It is
// exact: the likelihood is λ^k·e^{−λ·days}.
func (g Gamma) Counted(changes, days float64) Gamma {
	g = g.sane()
	return Gamma{Shape: g.Shape + bounded(changes, 0, maxShape), Days: g.Days + bounded(days, 0, maxDays)}.sane()
}

// Survival is the probability that a page which is fresh now will not have changed in so many days:
// S(t) = (b/(b + t))^a.
func (g Gamma) Survival(days float64) float64 {
	g = g.sane()
	return expOf(-g.Shape * log1pOf(bounded(days, 0, maxDays)/g.Days))
}

// Utility is what a visit so many days after the last one is worth, in days of freshness:
//
//	U(t) = ∫₀ᵗ S − t·S(t) = b/(a−1)·[1 − (b/(b+t))^{a−1}] − t·S(t)
//
// (Olston & Pandey, WWW 2008: visiting each page when its U reaches one common price is optimal.) It grows with t from
// 0 to b/(a − 1) for a > 1, and without bound for a ≤ 1.
func (g Gamma) Utility(days float64) float64 {
	g = g.sane()
	return g.Days * utility(g.Shape, bounded(days, 0, maxDays)/g.Days)
}

// utility is U/b at t = x·b.
func utility(a, x float64) float64 {
	value, _ := elasticity(a, x)
	return value
}

// elasticity is the utility and the slope of its logarithm over that of x, which falls from 2. Both terms of the
// utility are about x where a·x is small, so there the series of ∫₀ˣ a·s·(1+s)^{−a−1} ds takes over.
func elasticity(a, x float64) (value, slope float64) {
	log := log1pOf(x)
	survival := expOf(-a * log)
	if (a+4)*x < 1e-2 {
		value = a * x * x * (1.0/2 - (a+1)*x*(1.0/3-(a+2)*x*(1.0/8-(a+3)*x*(1.0/30-(a+4)*x/144))))
	} else {
		value = mean(a-1, log) - x*survival
	}
	return value, a * x * (x / (1 + x)) * survival / value
}

// mean is (1 − e^{−c·log})/c, which for c = 0 is log.
func mean(c, log float64) float64 {
	if math.Abs(c*log) < 1e-9 {
		return log * (1 - c*log/2)
	}
	return -expm1Of(-c*log) / c
}

// Due is the inverse of Utility: after how many days a visit is worth so much. It grows with the value, is 0 where
// that is 0 or less, and +Inf where no wait makes a visit worth so much, or where the value is not a number.
func (g Gamma) Due(value float64) float64 {
	g = g.sane()
	if value <= 0 {
		return 0
	}
	u := value / g.Days
	if !(u*(g.Shape-1) < 1) {
		return math.Inf(1)
	}
	return g.Days * waiting(g.Shape, u)
}

// waiting solves utility(a, x) = u for x, 0 < u, u(a − 1) < 1. The logarithm of the utility is a concave function of
// that of x, so Newton's steps in these grow towards the root from any point before it; they begin at the root of the
// utility's first two terms. Where the utility is within a half of its bound the slope is nearly 0, and the distance to
// the bound, (1 + a·x)(1 + x)^{−a} in units of it, is the better scale.
func waiting(a, u float64) float64 {
	if u*(a-1) > 0.5 {
		return nearBound(a, math.Log1p(-u*(a-1)))
	}
	x := math.Sqrt(2 * u / a)
	x *= 1 + min(1, (a+1)*x/3)
	for range 60 {
		value, slope := elasticity(a, x)
		step := logOf(u/value) / slope
		if math.IsNaN(step) {
			break
		}
		x *= expOf(bounded(step, -50, 50))
		if math.Abs(step) < exact {
			break
		}
	}
	return x
}

// exact is the last step of Newton's method that is taken: the next one would be about its square.
const exact = 1e-4

// nearBound solves −a·log(1+x) + log(1 + a·x) = distance for x, a > 1, by Newton's method in l = log(1+x). The left
// side falls, ever more steeply, towards a line of slope 1 − a; beginning past the root on that line its steps shrink
// towards the root.
func nearBound(a, distance float64) float64 {
	l := (logOf(a) - distance) / (a - 1)
	for range 60 {
		x := expm1Of(l)
		step := (-a*l + log1pOf(a*x) - distance) / (a * (1 - (1+x)/(1+a*x)))
		if math.IsNaN(step) {
			break
		}
		l += step
		if math.Abs(step) < exact*l {
			break
		}
	}
	return expm1Of(l)
}
