package scheduler

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// leadShare is how much of a budget visits for new pages may take, the first visits to what they find included: pages that name new ones at each visit, as
// calendars do that go on for ever, would have nearly all of it otherwise. That found pages wait bounds nothing: those that are known wait as long, and give
// way, since it is their visits that are put off by their worth.
const leadShare = 0.3

// leadTerms is how many times longer than it pays the pages of the sites of a budget wait that lead to others, as worked out at a moment.
type leadTerms struct {
	at      time.Time
	stretch map[int32]float64 // by site; one that is not there: once
}

// restocks is how often it pays to visit a page for the new ones to which it leads, worth so much a day, within what visits for such may take of the
// budget.
func (p *Planner) restocks(q *question, worth float64) time.Duration {
	stretch := p.leadStretch(q)
	return restock(p.mind.priceOf(*q)*stretch*stretch, worth)
}

// leadStretch is how many times longer than that the pages of the question's site wait, as far as this worker has its hosts and those of the others that
// the budget pays for.
func (p *Planner) leadStretch(q *question) float64 {
	if q.even == 0 {
		return 1
	}
	t := p.mind.leadTermsOf(q)
	if t == nil {
		perDay := float64(p.purses.known(q.payer())) / q.even.Hours() * 24
		t = p.mind.shareLeads(q, leadShare*perDay)
	}
	return max(1, t.stretch[q.page.SiteID])
}

// leadTermsOf is what was worked out less than a part of the shortest interval ago; nil: nothing was.
func (m *Mind) leadTermsOf(q *question) *leadTerms {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.leadTerms[q.payer()]
	if t == nil || q.now.Sub(t.at).Abs() >= q.cycle/leadTermsShare {
		return nil
	}
	return t
}

// leadTermsShare is that part: no page is visited twice in a cycle.
const leadTermsShare = 4

// unknownAsk is what a host's pages ask for until it is worked out.
const unknownAsk = -1

// shareLeads works out what the sites get of so many visits a day of the question's budget.
func (m *Mind) shareLeads(q *question, perDay float64) *leadTerms {
	m.mu.Lock()
	defer m.mu.Unlock()
	asks := make(map[int32]float64)
	for _, c := range m.crowds {
		if c.asks < 0 {
			c.asks = c.LeadsAsk()
		}
		if c.asks > 0 && c.payer == q.payer() {
			asks[c.site] += c.asks
		}
	}
	t := &leadTerms{q.now, stretches(asks, perDay*math.Sqrt(2*m.priceAt(m.crowdOf(q.page), q)))}
	m.leadTerms[q.payer()] = t
	return t
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
