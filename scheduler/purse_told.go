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

// first pays for a visit in the place of those that wait in the line, who wait the longer for it: the budget is kept to. It is
// for what is known to have changed; false: too much of the budget went to these lately.
func (p *purse) first() bool {
	a, now := p.rate(), p.clock.Now()
	if a.unbounded() {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	perDay := a.requests
	if p.size > 0 {
		perDay = min(perDay, a.bytes/p.size)
	}
	if perDay *= toldShare; math.IsInf(perDay, 1) { // how long its visits are is not known yet
		return true
	}
	p.told.spent = max(0, p.told.spent-perDay*max(now.Sub(p.told.at), 0).Hours()/24)
	p.told.at = now
	if p.told.spent+1 > max(1, perDay*toldSpan.Hours()/24) {
		return false
	}
	p.told.spent++
	p.held--
	return true
}
