package slo

import "time"

// Delay is how long after a change a visit found it. A visit finds that a page changed since the one before, and not when:
// the delay is anything from Least to Most, the time between the two, and each as likely, since the changes of a Poisson
// process between two moments are spread evenly over the time between them, whatever its rate. Where it is known when the
// change happened, Least is Most.
type Delay struct{ Least, Most time.Duration }

// beyond is the probability that the delay is more than so much.
func (d Delay) beyond(within time.Duration) float64 {
	switch {
	case d.Most <= within:
		return 0
	case d.Least >= within:
		return 1
	}
	return float64(d.Most-within) / float64(d.Most-d.Least)
}

// Missed is what visits showed to be missed of a service level: of one of changes seen in time, how many were seen later;
// of one of fresh pages, the days for which copies were out of date. It lies between AtBest and AtWorst, and Likely is
// what is expected. Of several changes between two visits the visits show one.
type Missed struct {
	Changes int64   `json:"n"` // that visits found
	AtBest  float64 `json:"b"` // each happened as late as it can have
	Likely  float64 `json:"l"`
	AtWorst float64 `json:"w"` // each happened as early as it can have
}

// Add adds a change, for a level of changes seen within a time, or with 0 of fresh pages.
func (m *Missed) Add(d Delay, within time.Duration) {
	m.Changes++
	if within == 0 {
		const day = float64(24 * time.Hour)
		m.AtBest += float64(d.Least) / day
		m.Likely += (float64(d.Least) + float64(d.Most)) / 2 / day
		m.AtWorst += float64(d.Most) / day
		return
	}
	m.Likely += d.beyond(within)
	if d.Least > within {
		m.AtBest++
	}
	if d.Most > within {
		m.AtWorst++
	}
}

// Plus is both.
func (m Missed) Plus(o Missed) Missed {
	return Missed{m.Changes + o.Changes, m.AtBest + o.AtBest, m.Likely + o.Likely, m.AtWorst + o.AtWorst}
}

// Of is what is attained where so many changes, or page-days, can be missed at most: shares in [0, 1]. Of none nothing is
// missed.
func (m Missed) Of(most float64) Attained {
	share := func(missed float64) float64 { return 1 - missed/max(most, missed, 1e-300) }
	return Attained{AtWorst: share(m.AtWorst), Likely: share(m.Likely), AtBest: share(m.AtBest)}
}

// Attained is the share that a service level is about as it was, between its bounds.
type Attained struct{ AtWorst, Likely, AtBest float64 }

// BudgetUsed is the part of the error budget of a promised share that is used: of what may be missed, what was, as expected. More
// than 1: the promise is broken.
func (a Attained) BudgetUsed(promised float64) float64 { return (1 - a.Likely) / (1 - promised) }
