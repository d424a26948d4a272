package changerate

import (
	"math"
	"time"
)

// z is the 97.5 % quantile of the normal distribution: the intervals are of 95 %.
const z = 1.959963984540054

// maxDuration is the longest time that a time.Duration holds, 292 years.
const maxDuration = time.Duration(math.MaxInt64)

// Rate is an estimate of a change rate, in changes per day, with its 95 % interval.
// 0 ≤ Low ≤ PerDay ≤ High; PerDay is finite. Where no comparison was made PerDay is 0 and the interval is [0, +Inf];
// where every comparison differed High is +Inf; where none did PerDay and Low are 0.
type Rate struct {
	PerDay float64
	Low    float64
	High   float64
}

// unknown is the rate of a page of which nothing is known.
func unknown() Rate { return Rate{High: math.Inf(1)} }

// Known tells whether any comparison stands behind the rate.
func (r Rate) Known() bool { return r.Low > 0 || !math.IsInf(r.High, 1) }

// Every is the mean time between two changes at PerDay; 292 years, the longest time.Duration, for a rate of 0.
func (r Rate) Every() time.Duration { return Period(r.PerDay) }

// Period is the mean time between two changes at a rate of perDay changes a day. It saturates at 292 years, which is
// also what a rate of 0 or less gives.
func Period(perDay float64) time.Duration {
	if !(perDay > 0) {
		return maxDuration
	}
	period := float64(24*time.Hour) / perDay
	if period >= float64(maxDuration) {
		return maxDuration
	}
	return time.Duration(period)
}

// Regular estimates the change rate of a page that was compared n times, each a time gap after the visit before, and
// differed changed times: the bias-reduced estimator λ̂ = −ln((n − X + 0.5)/(n + 0.5))/I of Cho & Garcia-Molina (TOIT
// 3(3), 2003). Their −ln(1 − X/n)/I is infinite for X = n; this one is not, and its bias is small for λI < 1.
//
// The interval is Wilson's for the probability of a change (JASA 22, 1927), mapped through λ = −ln(1 − p)/I. The map
// grows with p, so the interval of λ covers exactly as often as the one of p: 95 % on average over p, between 83 % and
// 99 % at single values for small n (Brown, Cai & DasGupta, Statistical Science 16, 2001).
//
// With n ≤ 0 or gap ≤ 0 nothing is known. changed is clamped to [0, n].
func Regular(n, changed int, gap time.Duration) Rate {
	if n <= 0 || gap <= 0 {
		return unknown()
	}
	changed = min(max(changed, 0), n)
	days := gap.Hours() / 24
	trials, hits := float64(n), float64(changed)
	low, high := wilson(trials, hits)
	return Rate{
		PerDay: math.Log((trials+0.5)/(trials-hits+0.5)) / days,
		Low:    -math.Log1p(-low) / days,
		High:   -math.Log1p(-high) / days,
	}
}

// wilson is the score interval of a probability after n trials with x hits. Its ends are exact at x = 0 and x = n,
// where rounding would otherwise leave a rate that is not quite 0 or not quite infinite.
func wilson(n, x float64) (low, high float64) {
	p := x / n
	centre := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	low, high = max(centre-half, 0), min(centre+half, 1)
	if x == 0 {
		low = 0
	}
	if x == n {
		high = 1
	}
	return low, high
}
