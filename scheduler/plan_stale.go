package scheduler

import (
	"time"

	"recrawld/models"
	"recrawld/scheduler/policy"
)

// A cache that gives out what it has kept too long, and fetches it anew meanwhile (stale-while-revalidate, grace), shows of a page that
// hardly anybody asks for what it was at our visit before: each change would be seen a whole interval late. Once it was asked it has
// what the page is now, so it is asked again soon, and only that visit counts. Whether it had, each host's ledger says.
const (
	refilled   = time.Minute     // how long a cache is given to fetch a page anew
	ageSlack   = 2 * time.Second // an Age is in whole seconds, and clocks differ
	worthAgain = 10              // an answer is asked for again that is older than this part of the time since the last visit that counted
	triedAnew  = 24 * time.Hour  // how long a host is not asked again whose cache gave out the same: what lies behind it may have been down
)

// behind tells whether the answer is what a cache had kept too long, the same as we have, and is asked for again.
func (d *draft) behind() bool {
	return d.out.Kind.Unchanged() && d.before.RedirectTo == "" && d.again()
}

// again tells whether what a cache answered is asked for again. It is not where the visit before was the one that did not count: what had
// to be fetched anew then was, or is not. Nor is a duplicate, whose content is seen elsewhere.
func (d *draft) again() bool {
	b := d.before
	if !d.out.Stale || b.Requisite || b.DuplicateOf != "" || b.Rule == models.RuleStale || b.TriedAt > b.Stats.VisitedAt {
		return false
	}
	if lied := d.Host.Trials.By[models.HintStale].DistrustedAt; lied != 0 && d.now.Sub(lied.Time()) < triedAnew {
		return false
	}
	if b.Stats.Records == 0 {
		return true
	}
	unseen := d.now.Sub(b.Stats.VisitedAt.Time())
	if !d.out.Kind.Unchanged() && unseen < d.planner.calendar.Interval(d.now, 1)/2 {
		return false // it may have been asked again just now, after a budget put that off: a page that always changes would be without end
	}
	return d.out.CacheAge == 0 || d.out.CacheAge >= unseen/worthAgain
}

// repeats tells whether the visit asks again for what the visit before found, which was counted: both are one record. A minute is no time of which
// to learn how often a page changes.
func (d *draft) repeats() bool {
	b := d.before
	return b.Rule == models.RuleStale && b.Stats.Records > 0 && b.TriedAt == b.Stats.VisitedAt
}

// recorded is for what repeats the record that the visit before made.
func (d *draft) recorded() {
	s, at := &d.Page.Stats, models.At(d.now)
	s.VisitedAt = at
	if d.out.Kind == models.Changed && s.Bits&1 == 1 {
		s.ChangedAt = at
	}
}

// next schedules a page that was seen: by the policy, as the visit before did that was counted, or soon, unless its turn comes before.
func (d *draft) next(behind bool) {
	if d.repeats() {
		if d.settings.Policy == policy.AdaptiveName {
			d.every, d.list = d.before.Wanted, d.before.Entries > 0
		}
	} else if !behind {
		d.choose()
	}
	if !behind {
		d.schedule()
	}
	if !d.again() {
		return
	}
	if soon := d.now.Add(refilled); behind || d.Page.DueAt.Time().After(soon) {
		d.due(soon, models.RuleStale)
	}
}

// ofStale is what a visit shows of the cache that it asked again: whether that has fetched the page since. Where its answer has no age,
// that is by its word.
func (d *draft) ofStale() (models.Verdict, bool) {
	if d.before.Rule != models.RuleStale || !d.out.Kind.Observed() {
		return 0, false
	}
	anew := !d.out.Stale
	if d.out.CacheAge > 0 {
		anew = d.out.CacheAge <= d.now.Sub(d.before.TriedAt.Time())+ageSlack
	}
	if anew {
		return models.HintHit, true
	}
	return models.HintFalseAlarm, true
}
