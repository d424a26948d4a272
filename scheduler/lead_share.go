package scheduler

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// leadShare is how much of a budget visits to pages may take that name as many new ones however soon they are visited, the first visits to what they name
// included: as calendars do that go on for ever, they would have nearly all of it otherwise. That found pages wait bounds nothing: those that are known wait
// as long, and give way, since it is their visits that are put off by their worth. Pages that name what came since are visited as it pays: what they lead to
// does not become more by that.
const leadShare = 0.3

// leadTerms is how many times longer than it pays such pages of the sites of a budget wait, as worked out at a moment.
type leadTerms struct {
	at      time.Time
	stretch map[int32]float64 // by site; one that is not there: once
}

// leadStretch is how many times longer than it pays such pages of the question's site wait, as far as this worker has its hosts and those of the others
// that the budget pays for.
func (p *Planner) leadStretch(q *question) float64 {
	if q.even == 0 {
		return 1
	}
	p.mind.mu.Lock()
	defer p.mind.mu.Unlock()
	t := p.mind.leadTerms[q.payer()]
	if t == nil || q.now.Sub(t.at).Abs() >= q.cycle/leadTermsShare {
		perDay := float64(p.purses.known(q.payer())) / q.even.Hours() * 24
		t = &leadTerms{q.now, stretches(p.leadAsks(q.payer()), leadShare*perDay*math.Sqrt(2*p.mind.price(q.payer()).value()))}
		p.mind.leadTerms[q.payer()] = t
	}
	return max(1, t.stretch[q.page.SiteID])
}

// leadTermsShare is for which part of the shortest interval that holds: no page is visited twice in one.
const leadTermsShare = 4

// leadAsks is what the pages ask for of the sites for which a budget pays (changerate.Crowd.LeadsAsk). The caller holds the mind's mu.
func (p *Planner) leadAsks(payer string) map[int32]float64 {
	asks, terms := make(map[int32]float64), p.purses.terms.Load()
	for _, c := range p.mind.crowds {
		if c.asks == nil {
			c.asks = c.LeadsAsk()
		}
		for site, asked := range c.asks {
			if terms.of(site).account == payer {
				asks[site] += asked
			}
		}
	}
	return asks
}

// stretches is how many times less the sites get than they ask for, where there is so much for all: those that ask for little get that, and of what is left the
// others get the same each (max-min fairness: Bertsekas & Gallager, Data Networks, 1992, section 6.5.2).
func stretches(asks map[int32]float64, most float64) map[int32]float64 {
	by := make(map[int32]float64)
	sites := slices.SortedFunc(maps.Keys(asks), func(a, b int32) int { return cmp.Or(cmp.Compare(asks[a], asks[b]), cmp.Compare(a, b)) })
	for i, site := range sites {
		get := min(asks[site], most/float64(len(sites)-i))
		most -= get
		if get > 0 && asks[site] > get {
			by[site] = asks[site] / get
		}
	}
	return by
}
