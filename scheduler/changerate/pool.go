package changerate

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// binsPerOctave is how finely a Pool tells gaps apart: a bin spans 9 % in length and keeps its own mean gap.
const binsPerOctave = 8

// Pool estimates the common change rate of many pages. It keeps sums by length of gap, some hundred at most, however
// many pages are added. The zero Pool is empty and ready. Not safe for concurrent use.
type Pool struct {
	bins []bin // sorted by key
}

// bin sums the pages whose mean gap is of about the same length.
type bin struct {
	key               int
	pages, days, n, x float64 // days: of all gaps
	nn, nx, xx        float64 // Σn², Σnx, Σx² over pages
}

// Add adds a page that was compared n times, with a mean gap, and differed changed times. A page with n ≤ 0 or
// gap ≤ 0 tells nothing and is left out. changed is clamped to [0, n].
func (p *Pool) Add(n, changed int, gap time.Duration) {
	if n <= 0 || gap <= 0 {
		return
	}
	days := gap.Hours() / 24
	trials, hits := float64(n), float64(min(max(changed, 0), n))
	b := p.bin(int(math.Floor(math.Log2(days) * binsPerOctave)))
	b.pages++
	b.days += trials * days
	b.n += trials
	b.x += hits
	b.nn += trials * trials
	b.nx += trials * hits
	b.xx += hits * hits
}

// Merge adds all pages of another pool.
func (p *Pool) Merge(other *Pool) {
	for _, o := range other.bins {
		b := p.bin(o.key)
		b.pages += o.pages
		b.days += o.days
		b.n += o.n
		b.x += o.x
		b.nn += o.nn
		b.nx += o.nx
		b.xx += o.xx
	}
}

// bin finds or makes the bin of a key. The pointer holds until the next call.
func (p *Pool) bin(key int) *bin {
	i, found := slices.BinarySearchFunc(p.bins, key, func(b bin, key int) int { return cmp.Compare(b.key, key) })
	if !found {
		p.bins = slices.Insert(p.bins, i, bin{key: key})
	}
	return &p.bins[i]
}

// Rate is the rate of one Poisson process that would have shown as many changes in the same comparisons: the equation
// of Irregular, with every gap of a page taken as its mean gap. Where pages differ it lies below the mean of their
// rates, since a page that changes several times between two visits shows one change.
//
// The interval is that of log λ̂ by the larger of two variances: the inverse information, which holds when all pages
// have one rate, and the sandwich estimate over pages (White, Econometrica 50, 1982; m/(m − 1) for m pages), which
// allows for pages that differ. Where no comparison or every one differed it is the likelihood-ratio interval.
func (p *Pool) Rate() Rate {
	var l likelihood
	for _, b := range p.bins {
		l.add(term{days: b.days / b.n, n: b.n, x: b.x})
	}
	if l.n == 0 {
		return unknown()
	}
	estimate := l.root(l.meanGap() / 2)
	if l.x == 0 || l.x == l.n {
		low, high := l.interval()
		return Rate{PerDay: min(max(estimate, low), high), Low: low, High: high}
	}
	spread := math.Exp(z * p.deviation(estimate) / estimate)
	return Rate{PerDay: estimate, Low: estimate / spread, High: estimate * spread}
}

// deviation is the standard deviation of the estimated rate. With c = I/(e^{λI} − 1) a page's score is
// x·c − (n − x)·I = x·(c + I) − n·I, whose squares add up from the sums that a bin keeps.
func (p *Pool) deviation(rate float64) float64 {
	var information, scores, pages float64
	for _, b := range p.bins {
		gap := b.days / b.n
		odds := math.Expm1(rate * gap)
		c := gap / odds
		information += b.n * gap * c // expected: n·I²·e^{−λI}/(1 − e^{−λI})
		scores += (c+gap)*(c+gap)*b.xx - 2*(c+gap)*gap*b.nx + gap*gap*b.nn
		pages += b.pages
	}
	variance := 1 / information
	if pages > 1 {
		variance = max(variance, scores/(information*information)*pages/(pages-1))
	}
	return math.Sqrt(variance)
}
