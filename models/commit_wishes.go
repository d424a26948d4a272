package models

import "context"

// A page may be leased for as long as its host's other pages take. Whoever asks for it meanwhile, a person, a parent or a list,
// is served by its visit. Where there is none after all, what he set stays.

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
	return rule == RuleManual || rule == RuleResumed || rule == RuleParent || rule.Heard()
}

// wish is when a page is due, and why.
type wish struct {
	due  Instant
	rule Rule
}

// wishes are those that stay, by page: of pages of which no earlier result of the transaction is of a visit.
func (c *commit) wishes(ctx context.Context) (map[rowKey]wish, error) {
	var keys []rowKey
	first := make(map[rowKey]*Result)
	for _, r := range c.fresh {
		key := rowOfPage(r)
		if first[key] != nil {
			continue
		}
		if first[key] = r; r.Visit.Kind.Waits() && r.Before != nil {
			keys = append(keys, key)
		}
	}
	found := make(map[rowKey]wish)
	// Index: the primary key.
	err := c.tx.byKeys(ctx, keys, keyed{table: "pages", column: "id", statement: func(from source) string {
		return `SELECT k.bucket, k.id, k.due_at, k.rule FROM ` + from.from
	}}, func(rows answer) error {
		var key rowKey
		var w wish
		err := rows.Scan(&key.bucket, &key.id, &w.due, &w.rule)
		if first[key] != nil && first[key].Wished(w.due, w.rule) {
			found[key] = w
		}
		return err
	})
	return found, err
}
