package scheduler

import (
	"context"
	"math"
	"time"

	"recrawld/models"
)

// Spent as it comes in, a budget of few requests a day has paid for one visit more by the time that a robots.txt is too old, so each visit costs two
// requests. What can be unspent of it at least is saved up in place of that, and pays for several visits with one robots.txt.

// bearsRobots is until when a page of a site waits that has to ask for robots.txt, as far as the budget of all sites pays for it; the zero time: it
// need not, as where that budget bounds no requests. Where a site has a budget of its own each page waits in its line, and nothing is saved up.
func (p *purses) bearsRobots(ctx context.Context, site int32, early bool) (time.Time, error) {
	if p == nil || p.term(site).own {
		return time.Time{}, nil
	}
	return p.all.bearsRobots(ctx, early)
}

// bearsRobots is until when a visit waits that has to ask for robots.txt: until as many requests are unspent as can be at least, but for those that
// come in while the robots.txt holds; the zero time where they are. One before its time, which spends what would be lost, waits for these as well. All
// wait for the same, whatever their hosts could use: were less enough for some, the others would never have what they wait for.
func (p *purse) bearsRobots(ctx context.Context, early bool) (time.Time, error) {
	a := p.rate()
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	h, holds := p.hours(now), models.RobotsHold
	if h.closed > 0 {
		holds = min(holds, h.left)
	}
	level := handful - a.requests*holds.Hours()/24
	if math.IsInf(a.requests, 1) || level <= 0 {
		return time.Time{}, nil
	}
	var wait, next time.Duration
	err := p.exchange(ctx, a, now, func(n *note) {
		next = n.until(1, 0, a)
		with := *n
		with.requests += 1 + p.lent // the visit that asks was paid for
		if early {
			level = max(n.saved(a.requests), handful)
		}
		wait = with.untilUnspent(level, 0, a, h)
	})
	if err != nil {
		return time.Time{}, err
	}
	p.asked, p.next = a, after(now, next)
	return after(now, wait), nil
}
