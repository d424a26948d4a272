package models

import (
	"context"
	"slices"
)

// A page may be leased for as long as its host's other pages take. Whoever asks for it meanwhile, a person, a parent, a list or its
// publisher, is served by its visit. Where there is none after all, what he set stays. So it does where a person or the publisher, who
// know that it changed just now, ask after the visit began: it may have seen the page as it was before.

// Waits tells whether a page whose turn ended so still waits for its visit.
func (k OutcomeKind) Waits() bool {
	switch k {
	case 0, Deferred, RobotsFetched, Probed, Interrupted:
		return true
	}
	return false
}

// Wished tells whether a page that is due by this rule stays due as it is, because somebody asked for it since it was leased and
// the result is of no visit. Where Before is not known nothing is known of that. It is pure.
func (r *Result) Wished(due Instant, rule Rule) bool {
	if r.Before == nil || !r.Visit.Kind.Waits() || due == r.Before.DueAt && rule == r.Before.Rule {
		return false
	}
	return rule == RuleManual || rule == RuleResumed || rule == RuleApproved || rule == RuleParent || rule == RuleLost || rule.Heard()
}

// Outrun tells whether a page, which is due by this rule and of which its publisher spoke last at a moment, stays due after its visit,
// because somebody asked for it after that began, as the host's AskedAt says, and from when on. What its visit found to wait for something
// else than a change waits for that, unless a person asked. It is pure.
func (r *Result) Outrun(asked, due Instant, rule Rule, announced Instant) (Instant, bool) {
	switch began := r.Visit.At; {
	case r.Before == nil || r.Visit.Kind.Waits() || asked <= began:
		return 0, false
	case rule == RuleManual:
		return due, due > began
	case rule == RuleAnnounced:
		return announced, announced > began && r.Page.DueAt > announced && r.Page.Failures == 0 && slices.Contains(announceMoves, r.Page.Rule)
	}
	return 0, false
}

// wish is when a page is due as it is before it is written, and why.
type wish struct {
	due       Instant
	rule      Rule
	announced Instant
	asked     Instant // Host.AskedAt
	first     *Result // of the page in the transaction
}

// over is when a page is due after all its results, and why.
func (w *wish) over(last *Result) (Instant, Rule) {
	if last.Visit.Kind.Waits() && w.first.Wished(w.due, w.rule) {
		return w.due, w.rule
	}
	if due, asked := last.Outrun(w.asked, w.due, w.rule, w.announced); asked {
		return due, w.rule
	}
	return last.Page.DueAt, last.Page.Rule
}

// wishes are what may stay, by page: of those that still wait, and those whose visit began before somebody last asked for one of its
// host, which is hardly ever.
func (c *commit) wishes(ctx context.Context) (map[rowKey]wish, error) {
	var keys []rowKey
	first := make(map[rowKey]*Result)
	for _, r := range c.fresh {
		key := rowOfPage(r)
		if first[key] == nil {
			first[key] = r
		}
		if r.Before != nil && (r.Visit.Kind.Waits() || c.queue.get(r.Lease.Bucket, r.Lease.HostID).AskedAt > r.Visit.At) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareKeys)
	found := make(map[rowKey]wish)
	// Index: the primary key.
	err := c.tx.byKeys(ctx, slices.Compact(keys), keyed{table: "pages", column: "id", statement: func(from source) string {
		return `SELECT k.bucket, k.id, k.due_at, k.rule, COALESCE(k.announced_at,0) FROM ` + from.from
	}}, func(rows answer) error {
		var key rowKey
		var w wish
		err := rows.Scan(&key.bucket, &key.id, &w.due, &w.rule, &w.announced)
		if w.first = first[key]; w.first != nil {
			w.asked = c.queue.get(w.first.Lease.Bucket, w.first.Lease.HostID).AskedAt
			found[key] = w
		}
		return err
	})
	return found, err
}
