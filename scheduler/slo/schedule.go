package slo

import (
	"math"
	"slices"
	"time"
)

// Schedule is how often pages are visited, and what that reaches.
type Schedule struct {
	PerDay float64         // visits
	Bytes  float64         // received a day
	Share  float64         // of changes seen in time, or of pages fresh
	Steps  []Step          // the shortest interval first
	Full   []int           // hosts that can take no more, as indices into Site.Hosts
	Every  []time.Duration // the mean interval of each class, as in Site.Classes
}

// Step is pages that are visited equally often.
type Step struct {
	Every time.Duration
	Pages float64
	Rate  float64 // mean changes a day of these pages
}

// Most is what is reached where budgets are no object.
func (p *Plan) Most() Schedule { return p.schedule(p.frequencies(0)) }

// Least is the schedule in which every page is visited as seldom as it may be.
func (p *Plan) Least() Schedule { return p.schedule(p.frequencies(math.Inf(1))) }

// For is the cheapest schedule that reaches a share, and whether there is one; otherwise the schedule is Most.
func (p *Plan) For(share float64) (Schedule, bool) {
	tooMuch := func(f []float64) bool { return p.share(f) > share }
	most := p.frequencies(0)
	if reached := p.share(most); reached <= share {
		return p.schedule(most), reached >= share-slack
	}
	least := p.frequencies(math.Inf(1))
	if tooMuch(least) {
		return p.schedule(least), true
	}
	low, high := p.bracket(func(price float64) bool { return tooMuch(p.frequencies(price)) })
	return p.schedule(mix(p.frequencies(high), p.frequencies(low), tooMuch)), true
}

// slack is the rounding that does not make a share unattainable.
const slack = 1e-9

// With is the schedule that reaches most with so many visits a day. Where they do not even suffice for the longest
// interval all pages are visited equally seldom.
func (p *Plan) With(perDay float64) Schedule {
	tooMuch := func(f []float64) bool { return p.visits(f) > perDay }
	if most := p.frequencies(0); !tooMuch(most) {
		return p.schedule(most)
	}
	least := p.frequencies(math.Inf(1))
	if n := p.visits(least); n >= perDay {
		for i := range least {
			least[i] *= perDay / n
		}
		return p.schedule(least)
	}
	low, high := p.bracket(func(price float64) bool { return tooMuch(p.frequencies(price)) })
	return p.schedule(mix(p.frequencies(high), p.frequencies(low), tooMuch))
}

// Even is the schedule that reaches a share with all pages visited equally often, as far as their hosts allow, and
// whether there is one; otherwise it is the most frequent one.
func (p *Plan) Even(share float64) (Schedule, bool) {
	reached := func(f float64) float64 { return p.share(p.evenly(f)) }
	low, high := p.site.low(), p.site.high()
	if best := reached(high); best <= share {
		return p.schedule(p.evenly(high)), best >= share-slack
	}
	for range 100 {
		if mid := math.Sqrt(low * high); reached(mid) < share {
			low = mid
		} else {
			high = mid
		}
	}
	return p.schedule(p.evenly(high)), true
}

// evenly is one frequency for all, less on hosts that cannot take it.
func (p *Plan) evenly(f float64) []float64 {
	all := make([]float64, len(p.site.Classes))
	for h, classes := range p.hosts {
		pages := 0.0
		for _, class := range classes {
			pages += p.site.Classes[class].Pages
		}
		for _, class := range classes {
			all[class] = min(f, p.site.capacity(h)/max(pages, 1e-300))
		}
	}
	return all
}

// schedule describes a set of frequencies.
func (p *Plan) schedule(f []float64) Schedule {
	s := Schedule{PerDay: p.visits(f), Share: p.share(f)}
	for i, c := range p.site.Classes {
		s.Every = append(s.Every, time.Duration(min(float64(24*time.Hour)/f[i], float64(math.MaxInt64/2))))
		if c.Pages > 0 {
			s.Bytes += p.site.bytes(c, f[i])
			s.add(Step{s.Every[i], c.Pages, c.Rate})
		}
	}
	for h, classes := range p.hosts {
		n := 0.0
		for _, class := range classes {
			n += p.site.Classes[class].Pages * f[class]
		}
		if n >= p.site.capacity(h)*(1-1e-6) {
			s.Full = append(s.Full, h)
		}
	}
	return s
}

// add puts pages into the step of their interval, to within a part in a thousand.
func (s *Schedule) add(step Step) {
	i, _ := slices.BinarySearchFunc(s.Steps, step, func(a, b Step) int {
		if near := math.Abs(float64(a.Every-b.Every)) <= float64(b.Every)/1000; near {
			return 0
		}
		return int(math.Copysign(1, float64(a.Every-b.Every)))
	})
	if i < len(s.Steps) && math.Abs(float64(s.Steps[i].Every-step.Every)) <= float64(step.Every)/1000 {
		had := &s.Steps[i]
		had.Rate = (had.Rate*had.Pages + step.Rate*step.Pages) / (had.Pages + step.Pages)
		had.Pages += step.Pages
		return
	}
	s.Steps = slices.Insert(s.Steps, i, step)
}
