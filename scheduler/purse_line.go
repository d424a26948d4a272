package scheduler

import (
	"context"
	"math"
	"time"

	"recrawld/models"
)

// lineSpan is how much of a budget, in time, those may spend at once whose places in the line have come; windows gather what comes in from one
// opening to the next besides (cadence).
const lineSpan = 24 * time.Hour

// visitsPerDay is how many visits a day a budget pays for; infinite where how long they are is not known yet. The caller
// holds mu.
func (p *purse) visitsPerDay(a allowance) float64 {
	if size := p.size(); size > 0 {
		return min(a.requests, a.bytes/size)
	}
	return a.requests
}

// paced is the zero time where a page that waited in the line may be visited, now that its place has come, and a later place
// where more of them come than the budget in force allows, of which what comes in within atOnce may be spent at once: those that fall back
// stand one visit apart again.
func (p *purse) paced(atOnce time.Duration) time.Time {
	a := p.rate()
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	perDay := p.visitsPerDay(a)
	if math.IsInf(perDay, 1) || p.lined.takes(perDay, atOnce, handful, now) {
		return time.Time{}
	}
	p.laid = later(p.laid, now).Add(span(1 / perDay))
	return p.laid
}

// reserve pays for a visit in advance, where there is nothing to take now, and says when the budget will have earned it:
// each who asks comes behind those who asked before, whichever worker they asked, and need not ask again. The zero time: it has.
func (p *purse) reserve(ctx context.Context) (time.Time, error) {
	a := p.rate()
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	var wait, next time.Duration
	err := p.exchange(ctx, a, now, func(n *note) {
		n.requests--
		n.bytes -= p.size()
		wait, next = n.until(0, 0, a), n.until(1, 0, a)
	})
	if err != nil {
		return time.Time{}, err
	}
	p.asked, p.next = a, after(now, next)
	return after(now, wait), nil
}

// reserved is told when a visit begins that was paid for in advance: its bytes will be counted as they come. Where the
// visit is not made after all, what was paid for it is given back.
func (p *purse) reserved(made bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes -= p.size()
	if !made {
		p.held++
	}
}

// owes pays for a visit that is made at once, on credit where there is nothing: those who come later wait the longer. A page that
// waited in the line has paid in advance.
func (p *purse) owes(page *models.Page) {
	if page.Rule == models.RuleBudget {
		p.reserved(true)
		return
	}
	p.settle(1, 0)
}

// reserves is told when a page that was paid for in advance keeps its place after a visit, which used so much for something
// else: what reserved took back of its bytes is held ready again.
func (p *purse) reserves(requests int, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held -= float64(requests)
	p.bytes += float64(bytes) + p.size()
}

// line is when those will be served who wait by now; the zero time: nobody waits.
func (p *purse) line(ctx context.Context) (end time.Time, err error) {
	a := p.rate()
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	err = p.exchange(ctx, a, now, func(n *note) { end = after(now, n.until(0, 0, a)) })
	return end, err
}
