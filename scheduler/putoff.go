package scheduler

import (
	"context"
	"time"

	"recrawld/models"
	"recrawld/scheduler/policy"
)

// affords pays for one more visit of a lease.
func (w *Worker) affords(ctx context.Context) bool {
	paid, err := w.purses.all.take(ctx, 1)
	if err != nil && ctx.Err() == nil {
		w.Log.Warn("the budget cannot be looked at", "err", err)
	}
	return paid.requests > 0
}

// deferral is why a page whose turn has come is not visited now, and until when.
type deferral struct {
	why     string
	until   time.Time // zero: that is to be planned
	spent   bool      // as in models.Outcome
	gathers bool      // as in models.Outcome
	closed  bool      // all windows of its site are
}

// outcome says so.
func (d *deferral) outcome(now time.Time) models.Outcome {
	return models.Outcome{Kind: models.Deferred, At: now, Until: d.until, Spent: d.spent, Gathers: d.gathers, Detail: d.why}
}

// waits tells whether a page whose turn has come is not visited now after all, and why.
// Where it is visited, the budget of its site has paid: what gave its turn away just before is owed its own, which it has on credit.
func (w *Worker) waits(ctx context.Context, p *Planner, page *models.Page, owed bool, now time.Time) (deferral, bool) {
	own := w.purses.own(page.SiteID)
	put, held := p.hold(page, now)
	early := page.DueAt.Time().After(now)
	switch {
	case held:
	case owed && own != nil:
		own.owes(page)
		return put, false
	case page.Rule == models.RuleManual: // the budget has to bear it
		if own != nil {
			own.settle(1, 0)
		}
		return put, false
	case !early && own != nil && w.passes(p, page, own, now):
		return put, false
	case early:
		put, held = w.tooEarly(ctx, p, page, own, now)
	default:
		put, held = w.putOff(p, page, now)
	}
	switch {
	case own == nil || early && (held || page.Rule != models.RuleBudget):
		return put, held
	case page.Rule == models.RuleBudget && put.closed: // its place in the line has come, and is kept
		return put, held
	case page.Rule == models.RuleBudget: // it paid in advance
		if !held && !early {
			if later, falls := w.fallsBack(ctx, own, lineSpan+cadence(p.settings(page.SiteID).Windows, now), now); falls {
				return later, true
			}
		}
		own.reserved(!held)
		return put, held
	case held:
		return put, held
	}
	if at, leads := p.leadTime(page, now); leads && at.After(now) { // then it passes them: it takes no place in the line behind that
		if end, err := own.line(ctx); err == nil && end.After(at) {
			return deferral{until: at, why: "the site's budget is spent"}, true
		}
	}
	return w.pay(ctx, own, now)
}

// passes tells whether a due page is visited before those that wait for its site's budget, and paid for: a list or start page whose time has come; as
// far as the budget has room for such, a list that was never read, which may be one of many as each page can name its own, another page that leads to new
// ones, of which there are many too, and what is said to have changed.
func (w *Worker) passes(p *Planner, page *models.Page, own *purse, now time.Time) bool {
	switch {
	case page.Rule == models.RuleList && page.Stats.Records > 0 && (page.Entries > 0 || p.isStart(page)):
		return own.bears()
	case page.Rule == models.RuleList:
		return own.first()
	}
	if p.isStart(page) && page.Rule != models.RuleBudget {
		if at, leads := p.leadTime(page, now); leads && !at.After(now) {
			return own.bears()
		}
	}
	return page.Rule.Heard() && !w.vain(p, page, now) && own.first()
}

// putOff tells whether a due page is not worth a visit, because since it was scheduled we learned that a visit is worth less
// than it must be. So overload degrades by value: what is worth the least waits.
func (w *Worker) putOff(p *Planner, page *models.Page, now time.Time) (deferral, bool) {
	s := p.settings(page.SiteID)
	if s.Policy != policy.AdaptiveName || !byValue(page, s, now) && !w.vain(p, page, now) {
		return deferral{}, false
	}
	until := w.mind.later(p.question(page, s, now))
	return deferral{until: until, why: "worth less than a visit costs"}, until.After(now)
}

// vain tells whether a page was said to have changed for nothing (Mind.vain). Then it waits for its visit as if nothing had been said.
// Not so a list, which is read for what it says of others, nor what is due for another reason as well.
func (w *Worker) vain(p *Planner, page *models.Page, now time.Time) bool {
	s, said := p.settings(page.SiteID), page.Rule.Heard() || page.Rule.ByValue() && heard(page)
	return said && page.Entries == 0 && s.Policy == policy.AdaptiveName && w.mind.vain(p.question(page, s, now))
}

// pay lets the budget of its site pay for a due page: now, or in advance, and then the page waits until its place in the
// line has come.
func (w *Worker) pay(ctx context.Context, own *purse, now time.Time) (deferral, bool) {
	paid, err := own.take(ctx, 1)
	if err != nil || paid.requests > 0 {
		return deferral{}, false // a budget that cannot be looked at stops nobody: the database will stop the worker
	}
	until, err := own.reserve(ctx)
	if err != nil {
		return deferral{}, false
	}
	if !until.After(now) { // somebody gave back what is wanted: the line is empty
		own.reserved(true)
	}
	return deferral{until: until, spent: true, why: "the site's budget is spent"}, until.After(now)
}

// fallsBack gives a page that waited in the line of its site's budget a later place, where places come faster than the
// budget in force allows: they were given when it was larger. Where nobody waits by now, the page is visited.
func (w *Worker) fallsBack(ctx context.Context, own *purse, atOnce time.Duration, now time.Time) (deferral, bool) {
	until := own.paced(atOnce)
	if until.IsZero() {
		return deferral{}, false
	}
	end, err := own.line(ctx)
	until = earlier(until, end)
	return deferral{until: until, spent: true, why: "the site's budget was cut"}, err == nil && until.After(now)
}

// tooEarly tells whether a page that is not due yet may not be visited either: within a cycle of its last visit, where
// something else than its worth set its time, or where its site's budget has nothing to spare. Until then its bucket rests
// (early.rest); its host is the first of them.
func (w *Worker) tooEarly(ctx context.Context, p *Planner, page *models.Page, own *purse, now time.Time) (deferral, bool) {
	var until time.Time
	var err error
	if seen := page.Stats.VisitedAt.Time(); page.Stats.Records > 0 { // else a cron schedule would be asked for its starts of the year 1
		if open := seen.Add(p.calendar.Interval(seen, 1)); open.After(now) {
			until = earlier(open, page.DueAt.Time())
		}
	}
	switch {
	case !page.Rule.Spare():
		until = page.DueAt.Time()
	case page.Rule == models.RuleBudget:
		if own != nil { // places before it were given back: nobody else has a use for what is earned
			until, err = own.line(ctx)
		}
		until = earlier(until, page.DueAt.Time())
	case own != nil && !until.After(now):
		until, err = own.spare(ctx)
	}
	if err != nil || !until.After(now) {
		return deferral{}, false
	}
	w.early.rest(page, until)
	return deferral{until: until, why: "not due yet"}, true
}
