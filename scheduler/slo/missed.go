package slo

import (
	"math"
	"time"

	"recrawld/scheduler/changerate"
)

// Delay is how long after a change a visit found it. A visit finds that a page changed since the one before, and not when:
// the delay is anything from Least to Most, the time between the two, and each as likely, since the changes of a Poisson
// process between two moments are spread evenly over the time between them, whatever its rate. Where it is known when the
// page last changed, Least is how long ago that was; others before it may lie between Least and Most.
type Delay struct {
	Least, Most time.Duration
	Dated       bool    // a change happened Least before the visit
	Rate        float64 // of the page, in changes a day; 0: not known
}

// mostHidden bounds how many changes are expected beside the one that is known: beyond it rates are not known.
const mostHidden = 4

// unknown is how many changes are expected of which it is not known when they happened: of an undated one, those that lie
// behind it (changerate.Hidden); of a dated one, those of the Poisson process before it.
func (d Delay) unknown() float64 {
	x := d.Rate * (d.Most - d.Least).Hours() / 24
	if d.Dated {
		return min(x, mostHidden)
	}
	return changerate.Hidden(x)
}

// beyond is the probability that the delay of a change between Least and Most is more than so much.
func (d Delay) beyond(within time.Duration) float64 {
	switch {
	case d.Most <= within:
		return 0
	case d.Least >= within:
		return 1
	}
	return float64(d.Most-within) / float64(d.Most-d.Least)
}

// stale is for how many days the copy is expected to have been out of date: since the first of the changes. With x expected
// in a time g that is g·(1 − (1 − e^(−x))/x) on average, and where there was one at least, g·(1/(1 − e^(−x)) − 1/x), from
// g/2 for a small x up.
func (d Delay) stale() float64 {
	x := min(d.Rate*(d.Most-d.Least).Hours()/24, mostHidden)
	share := 0.0
	switch small := x < 1e-6; {
	case d.Dated && !small:
		share = 1 + math.Expm1(-x)/x
	case !d.Dated && small:
		share = 0.5
	case !d.Dated:
		share = -1/math.Expm1(-x) - 1/x
	}
	return (d.Least + time.Duration(share*float64(d.Most-d.Least))).Hours() / 24
}

// Missed is what visits showed to be missed of a service level: of one of changes seen in time, how many were seen later;
// of one of fresh pages, the days for which copies were out of date. It lies between AtBest and AtWorst, and Likely is
// what is expected. A change that another one overwrote before the visit is seen by that visit; none was found for it, so
// how many there were is expected from the page's rate (Expected).
type Missed struct {
	Changes  int64   // that visits found
	Expected float64 // changes, with those that were overwritten
	AtBest   float64 // each happened as late as it can have
	Likely   float64
	AtWorst  float64 // each happened as early as it can have
}

// Add adds a change, for a level of changes seen within a time, or with 0 of fresh pages.
func (m *Missed) Add(d Delay, within time.Duration) {
	known, unknown := 0.0, d.unknown()
	if d.Dated {
		known = 1
	}
	m.Changes++
	m.Expected += known + unknown
	if within == 0 {
		m.AtBest += d.Least.Hours() / 24
		m.Likely += d.stale()
		m.AtWorst += d.Most.Hours() / 24
		return
	}
	m.Likely += unknown * d.beyond(within)
	switch {
	case d.Least > within:
		m.AtBest += known + unknown
		m.Likely += known
		m.AtWorst += known + unknown // at once, as to Expected: added one by one, rounded sums may come to more than all changes
	case d.Most > within:
		m.AtWorst += unknown
	}
}

// Plus is both.
func (m Missed) Plus(o Missed) Missed {
	return Missed{m.Changes + o.Changes, m.Expected + o.Expected, m.AtBest + o.AtBest, m.Likely + o.Likely, m.AtWorst + o.AtWorst}
}

// Attained is what is attained where so many changes (Expected) or page-days there were: shares in [0, 1]. Of none nothing is
// missed.
func (m Missed) Attained(all float64) Attained {
	share := func(missed float64) float64 { return 1 - missed/max(all, missed, 1e-300) }
	return Attained{AtWorst: share(m.AtWorst), Likely: share(m.Likely), AtBest: share(m.AtBest)}
}

// Attained is the share that a service level is about as it was, between its bounds.
type Attained struct{ AtWorst, Likely, AtBest float64 }

// BudgetUsed is the part of the error budget of a promised share that is used: of what may be missed, what was, as expected. More
// than 1: the promise is broken.
func (a Attained) BudgetUsed(promised float64) float64 { return (1 - a.Likely) / (1 - promised) }
