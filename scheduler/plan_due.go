package scheduler

import (
	"time"

	"recrawld/models"
	"recrawld/scheduler/policy"
)

// justMade is the part of the time between two visits in which a change has hardly come by chance.
const justMade = 200

// schedule sets the page due after the interval that the policy chose, put off as far as the server promised that
// nothing changes, inside the site's windows. A duplicate is due at the ceiling, or before (duplicate), and so is what leads to itself.
func (d *draft) schedule() {
	n := max(int(d.Page.FRMax), 1)
	d.Page.Wanted = d.planner.calendar.Interval(d.now, n)
	due := d.planner.calendar.Due(d.now, n, d.settings.Vary, d.chance(useVary))
	if d.every > 0 {
		d.Page.Wanted, due = d.every, d.now.Add(d.every)
	}
	if d.Page.DuplicateOf != "" && d.settings.Duplicates {
		d.duplicate()
		if d.out.Aside {
			d.seldom(models.RuleDuplicate)
		}
		d.Page.Rule = models.RuleDuplicate // also where that lies in another window: it is not to be moved by its worth
		return
	}
	if d.out.Aside {
		d.seldom(models.RuleAside)
		return
	}
	if d.leadsToItself() {
		d.rarely(models.RuleDuplicate)
		return
	}
	d.Page.Rule = models.RulePolicy
	if d.list {
		d.Page.Rule = models.RuleList
	}
	if fresh := d.hint(); fresh.After(due) {
		due, d.Page.Rule = fresh, models.RuleHint
	}
	d.due(due, d.Page.Rule)
}

// renamedAfter is how long a page has been known, as a part of the ceiling, before another that says the same may be its new name.
const renamedAfter = 0.5

// duplicate sets a duplicate due at the ceiling. One that came when its original had been known for long may be that page under its new name, which
// is seen once the old one is gone or this one goes on to change: it is due after as long as it has been known. So a name that stays costs as many
// visits as its time has doublings.
func (d *draft) duplicate() {
	first := d.Page.Stats.FirstAt.Time()
	long := renamedAfter * float64(d.planner.calendar.Interval(d.now, d.settings.FRMax))
	if d.originalAt == 0 || float64(first.Sub(d.originalAt.Time())) < long {
		d.rarely(models.RuleDuplicate)
		return
	}
	soonest := d.planner.calendar.Due(d.now, d.settings.FR, d.settings.Vary, d.chance(useVary))
	ceiling := d.planner.calendar.Due(d.now, d.settings.FRMax, d.settings.Vary, d.chance(useVary))
	d.due(earlier(later(d.now.Add(d.now.Sub(first)), soonest), ceiling), models.RuleDuplicate)
}

// repace schedules anew a page of which the committer found that it is a duplicate of one first seen at a time, or none any more, and tells of it where
// nothing else does. One that is none any more is asked for without conditions next time, since its links were left out so far.
func (p *Planner) repace(r *models.Result, before *models.Page, out *models.Outcome, originalAt models.Instant) {
	d := draft{Result: r, originalAt: originalAt, planner: p, settings: p.settings(r.Page.SiteID), before: before, out: out,
		now: r.Page.Stats.VisitedAt.Time()}
	if d.settings.Policy == policy.AdaptiveName {
		d.every = r.Page.Wanted
	}
	// An index that leaves duplicates out would lack for ever what only this one says by now.
	if turned := (r.Page.DuplicateOf == "") != (before.DuplicateOf == ""); turned && len(r.Events) == 0 {
		d.event(models.EventRefreshed)
	}
	if r.Page.DuplicateOf == "" && !out.LinksKnown {
		r.Page.ETag, r.Page.LastModified = "", ""
	}
	d.schedule()
	r.Visit.Rule = r.Page.Rule
}

// hint is how long the server's own promise may put off the visit: no further than HintMax from now, nor than the
// ceiling of fr_max. The zero time: it promised nothing, or what its host promises does not hold.
func (d *draft) hint() time.Time {
	if d.Page.FreshUntil == 0 || d.settings.HintMax == 0 || !d.Host.Trials.Trusts(models.HintExpires) {
		return time.Time{}
	}
	farthest := d.now.Add(min(d.settings.HintMax, d.planner.calendar.Interval(d.now, d.settings.FRMax)))
	return earlier(d.Page.FreshUntil.Time(), farthest)
}

// due sets the due time, moved into the site's windows and never before the next millisecond.
func (d *draft) due(at time.Time, rule models.Rule) {
	if moved := InTurn(d.settings.Windows, d.Page.HostID, at, d.now, d.chance(useWindow)); moved != at {
		at, rule = moved, models.RuleWindow
	}
	d.Page.DueAt = models.At(later(at, d.now.Add(time.Millisecond)))
	d.Page.Rule = rule
}

func (d *draft) chance(use uint64) float64 { return chance(d.Page.ID, d.Page.Visits, use) }

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
