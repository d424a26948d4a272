package models

import (
	"context"
	"slices"
)

// A page may be leased for as long as its host's other pages take. Whoever asks for it meanwhile, a person, a parent, a list or its
// publisher, is served by its visit. Where there is none after all, what he set stays. So it does where a person or the publisher, who
// know that it changed just now, ask after the visit began: it may have seen the page as it was before.
// Lists are read in a lease of the same host, by whoever makes the visit: he sees to what they tell of meanwhile.

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
	if r.Before == nil || !r.waits() || due == r.Before.DueAt && rule == r.Before.Rule {
		return false
	}
	return rule == RuleManual || rule == RuleResumed || rule == RuleApproved || rule == RuleParent || rule == RuleOriginal || rule == RuleLost || rule == RuleNamed || rule.Heard()
}

// waits tells whether the result is of no visit: the page's turn was put off, or it was given up.
func (r *Result) waits() bool { return r.Visit.Kind.Waits() || r.Page.Rule == RuleUnnamed }

// Outrun tells whether a page, which is due by this rule and of which its publisher spoke last at a moment, stays due after its visit,
// because somebody asked for it after that began, as the host's AskedAt says, and from when on. What its visit found to wait for something
// else than a change waits for that, unless a person asked. It is pure.
func (r *Result) Outrun(asked, due Instant, rule Rule, announced Instant) (Instant, bool) {
	switch began := r.Visit.At; {
	case r.Before == nil || r.waits() || asked <= began:
		return 0, false
	case rule == RuleManual || rule == RuleNamed:
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
	asked     Instant   // Host.AskedAt
	results   []*Result // of the page in the transaction
}

// over is when a page is due after all its results, and why: each of them leaves what is there before it or puts its own there.
func (w *wish) over() (Instant, Rule) {
	due, rule := w.due, w.rule
	for _, r := range w.results {
		if at, asked := r.Outrun(w.asked, due, rule, w.announced); asked {
			due = at
		} else if !r.Wished(due, rule) {
			due, rule = r.Page.DueAt, r.Page.Rule
		}
	}
	return due, rule
}

// wishes are what may stay, by page: of those that still wait, and those whose visit began before somebody last asked for one of its
// host, which is hardly ever.
func (c *commit) wishes(ctx context.Context) (map[rowKey]wish, error) {
	var keys []rowKey
	results := make(map[rowKey][]*Result)
	for _, r := range c.fresh {
		key := rowOfPage(r)
		results[key] = append(results[key], r)
		if r.Before != nil && (r.waits() || c.queue.get(r.Lease.Bucket, r.Lease.HostID).AskedAt > r.Visit.At) {
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
		if w.results = results[key]; len(w.results) > 0 {
			w.asked = c.queue.get(key.bucket, w.results[0].Lease.HostID).AskedAt
			found[key] = w
		}
		return err
	})
	return found, err
}
