package changerate

import (
	"math"
	"time"
)

// dropLR is how far the log-likelihood falls from its maximum to the ends of the 95 % likelihood-ratio interval: half
// the 95 % quantile of χ² with one degree of freedom.
const dropLR = z * z / 2

// Comparison is one visit's verdict on a page: whether it differed from the copy of the visit a Gap before.
type Comparison struct {
	Gap     time.Duration
	Changed bool
}

// Irregular estimates the change rate from comparisons over unequal gaps: the root of the likelihood equation
//
//	Σ_changed I/(e^{λI} − 1) = Σ_unchanged I
//
// of Cho & Garcia-Molina (TOIT 3(3), 2003, section 5). Alone it is infinite when every comparison differed and biased
// upward for few of them, so half an unchanged comparison of the mean gap is added on the right: for equal gaps the
// root is then exactly the estimator of Regular. The interval is the likelihood-ratio one of the plain likelihood; the
// estimate is kept inside it, which it leaves only for gaps that differ many times over and all found a change.
//
// Comparisons with Gap ≤ 0 tell nothing and are left out; without any other nothing is known.
func Irregular(seen []Comparison) Rate {
	var l likelihood
	for _, c := range seen {
		if c.Gap <= 0 {
			continue
		}
		t := term{days: c.Gap.Hours() / 24, n: 1}
		if c.Changed {
			t.x = 1
		}
		l.add(t)
	}
	if l.n == 0 {
		return unknown()
	}
	low, high := l.interval()
	return Rate{PerDay: min(max(l.root(l.meanGap()/2), low), high), Low: low, High: high}
}

// term is n comparisons over gaps of the same length, x of which differed.
type term struct{ days, n, x float64 }

// likelihood is that of the rate, given comparisons.
type likelihood struct {
	terms         []term // those with x > 0; the others are fully told by quiet
	n, x          float64
	span          float64 // days, all gaps
	quiet, varied float64 // days in gaps that did not and that did differ
}

func (l *likelihood) add(t term) {
	l.n += t.n
	l.x += t.x
	l.span += t.n * t.days
	l.quiet += (t.n - t.x) * t.days
	l.varied += t.x * t.days
	if t.x > 0 {
		l.terms = append(l.terms, t)
	}
}

func (l *likelihood) meanGap() float64 { return l.span / l.n }

// root solves Σ x·I/(e^{λI} − 1) = quiet + extra for λ. It is +Inf where the right side is 0, and 0 where nothing
// differed. From 1/λ − I/2 ≤ I/(e^{λI} − 1) ≤ 1/λ it lies between X/(right + varied/2) and X/right.
func (l *likelihood) root(extra float64) float64 {
	right := l.quiet + extra
	if l.x == 0 {
		return 0
	}
	if right <= 0 {
		return math.Inf(1)
	}
	return bisect(l.x/(right+l.varied/2), l.x/right, func(rate float64) bool {
		var left float64
		for _, t := range l.terms {
			left += t.x * t.days / math.Expm1(rate*t.days)
		}
		return left > right
	})
}

// log is the log-likelihood at a rate above 0.
func (l *likelihood) log(rate float64) float64 {
	sum := -rate * l.quiet
	for _, t := range l.terms {
		sum += t.x * math.Log(-math.Expm1(-rate*t.days))
	}
	return sum
}

// interval is the likelihood-ratio interval: the log-likelihood is concave, so each end is found by bisection between
// the maximum, or a point near it where that is infinite, and a point that is surely outside.
func (l *likelihood) interval() (low, high float64) {
	peak, top := l.root(0), 0.0 // at an infinite rate every comparison differs for sure
	if peak == 0 {
		return 0, dropLR / l.quiet
	}
	if !math.IsInf(peak, 1) {
		top = l.log(peak)
	}
	inside := func(rate float64) bool { return l.log(rate) > top-dropLR }
	if high = peak; math.IsInf(peak, 1) {
		for peak = 1 / l.meanGap(); !inside(peak); {
			peak *= 2
		}
	} else {
		for inside(high) {
			high *= 2
		}
		high = bisect(peak, high, inside)
	}
	for low = peak; inside(low); {
		low /= 2
	}
	return bisect(low, peak, func(rate float64) bool { return !inside(rate) }), high
}

// bisect finds where a predicate that holds at low and not at high turns, 0 < low ≤ high, to 12 digits.
func bisect(low, high float64, holds func(float64) bool) float64 {
	for range 200 {
		middle := math.Sqrt(low) * math.Sqrt(high)
		if high <= low*(1+1e-12) || middle <= low || middle >= high {
			break
		}
		if holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Sqrt(low) * math.Sqrt(high)
}
