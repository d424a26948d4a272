package scheduler

import (
	"math"
	"time"
)

// toldShare is the share of a budget that may go to what lists tell of before all that waits for it: the rest is for what no
// list tells of. toldSpan is how much of it, in time, may be spent at once.
const (
	toldShare = 0.75
	toldSpan  = 6 * time.Hour
)

// leaky is what is left of a share of a budget, as this worker sees it.
type leaky struct {
	spent float64
	at    time.Time
}

// bears pays for a visit that the budget has to bear now.
func (p *purse) bears() bool {
	p.settle(1, 0)
	return true
}

// takes lets a visit pass where no more than a span's worth of what comes in each day has passed before, of which there
// is always room for so many.
func (l *leaky) takes(perDay float64, span time.Duration, least float64, now time.Time) bool {
	most := max(least, perDay*span.Hours()/24)
	l.spent = max(0, min(l.spent, most)-perDay*max(now.Sub(l.at), 0).Hours()/24)
	l.at = now
	if l.spent+1 > most {
		return false
	}
	l.spent++
	return true
}

// first pays for a visit in the place of those that wait in the line, who wait the longer for it: the budget is kept to. It is
// for what is known to have changed; false: too much of the budget went to these lately.
func (p *purse) first() bool {
	a, now := p.rate(), p.clock.Now()
	if a.unbounded() {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	perDay := p.visitsPerDay(a) * toldShare
	if math.IsInf(perDay, 1) {
		return true
	}
	if !p.told.takes(perDay, toldSpan, 1, now) {
		return false
	}
	p.held--
	return true
}
