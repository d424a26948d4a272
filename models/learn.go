package models

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
)

// readKnowledge reads what is known of a host. Indexes: the primary keys.
const readKnowledge = `SELECT k.body, h.learned FROM hosts h JOIN knowledge k ON k.bucket = h.bucket AND k.host_id = h.id
	WHERE h.bucket = $1 AND h.id = $2`

// walkPages reads a slice of a host's pages. Index: pages_due, on a PostgreSQL of one node without the bucket (see
// source.pages).
func walkPages(wide bool) string {
	bucket := "bucket"
	if wide {
		bucket = "bucket + 0"
	}
	return `SELECT ` + pageTable.prefixed("") + ` FROM pages WHERE ` + bucket + ` = $1 AND host_id = $2 AND due_at > 0
	AND (due_at, id) > ($3, $4) ORDER BY due_at, id LIMIT $5`
}

// Knowledge returns what was last written of a host (Result.Knowledge) and how often anything was; nil and 0 where
// nothing was, or where there is no such host.
func (s *Store) Knowledge(ctx context.Context, bucket int16, host int64) (body []byte, learned int32, err error) {
	rows, err := s.rowsByKeys(ctx, readKnowledge, bucket, host)
	if err != nil {
		return nil, 0, fmt.Errorf("read knowledge of host %d: %w", host, err)
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&body, &learned)
	}
	if err = cmp.Or(err, rows.Err()); err != nil {
		return nil, 0, fmt.Errorf("read knowledge of host %d: %w", host, err)
	}
	return body, learned, nil
}

// walkRows is how many pages HostPages reads at a time.
const walkRows = 1000

// HostPages calls yield for each page of a host that is due at some time, in the order of their due times, until it
// returns false. It reads slice by slice and holds no transaction between them: a page whose due time changes
// meanwhile may be yielded twice or not at all.
func (s *Store) HostPages(ctx context.Context, bucket int16, host int64, yield func(*Page) bool) error {
	var last Page // before all: no page is due at 0
	for {
		pages, err := pageTable.scan(s.rowsByKeys(ctx, walkPages(s.wide()), bucket, host, int64(last.DueAt), last.ID, walkRows))
		if err != nil {
			return fmt.Errorf("read pages of host %d: %w", host, err)
		}
		for i := range pages {
			if !yield(&pages[i]) {
				return nil
			}
		}
		if len(pages) < walkRows {
			return nil
		}
		last = pages[len(pages)-1]
	}
}

// Reschedule writes new due times and sets the ReadyAt of the hosts by them, in transactions of at most a few thousand
// pages of a bucket each. A page that is gone, was visited since (its Visits differ), was moved since (its DueAt differs),
// is due by another rule than those of Rule.Movable or never is left as it is, and so is one whose new due time would be
// never. Of two times for one page the later in the list counts.
func (s *Store) Reschedule(ctx context.Context, due []Due) error {
	byBucket := make(map[int16][]Due)
	for _, d := range due {
		if d.DueAt > 0 {
			d.FRMax = max(d.FRMax, 1)
			byBucket[d.Bucket] = append(byBucket[d.Bucket], d)
		}
	}
	for _, bucket := range slices.Sorted(maps.Keys(byBucket)) {
		for slice := range slices.Chunk(byBucket[bucket], sliceRows) {
			err := s.inShard(ctx, bucket, func(t *tx) error { return t.reschedule(ctx, bucket, slice) })
			if err != nil {
				return fmt.Errorf("reschedule %d pages: %w", len(due), err)
			}
		}
	}
	return nil
}

// reschedule writes new due times for pages of one bucket. Whoever visits a page holds the lock of its host while he
// writes it, as this does, so its Visits say for certain whether it was visited since.
func (t *tx) reschedule(ctx context.Context, bucket int16, due []Due) error {
	q := newQueue(t)
	keys := make([]rowKey, len(due))
	last := make(map[int64]Due, len(due))
	for i, d := range due {
		keys[i] = rowKey{bucket, d.HostID}
		last[d.PageID] = d
	}
	if err := q.lock(ctx, keys); err != nil {
		return err
	}
	if err := dueTable.each(ctx, t, byKey(last), reschedulePages, int64(bucket)); err != nil {
		return err
	}
	err := q.settle(ctx, keys, func(h *Host, earliest Instant) {
		if h.LeaseUntil == 0 { // a leased one looks at its pages when it is released
			h.ReadyAt = h.ReadyFrom(earliest)
		}
	})
	if err != nil {
		return err
	}
	return q.flush(ctx)
}

// reschedulePages is the statement that writes new due times from a source of rows of dueTable, or from one of them where
// the source is empty, to the pages that still wait as they did when those were decided. Index: the primary key.
func reschedulePages(source string) string {
	var movable []Rule
	for rule := range Rules() + 1 {
		if rule.Movable() {
			movable = append(movable, rule)
		}
	}
	waits := " AND pages.due_at > 0 AND pages.rule IN (" + listed(movable) + ")"
	if source == "" {
		return `UPDATE pages SET due_at = $6, fr_max = $7, wanted = $8, rule = $9
			WHERE bucket = $1 AND id = $2 AND host_id = $3 AND visits = $4 AND due_at = $5` + waits
	}
	return `UPDATE pages SET due_at = v.due_at, fr_max = v.fr_max, wanted = v.wanted, rule = v.rule
		FROM ` + source + ` AS v (` + dueTable.list() + `) WHERE pages.bucket = v.bucket AND pages.id = v.id
		AND pages.host_id = v.host_id AND pages.visits = v.visits AND pages.due_at = v.was_due AND pages.bucket = $10` + waits
}

// Merge replaces the note of a name by what merge makes of it (nil where there is none yet), in one transaction that no
// other Merge of the name runs beside. It calls merge again where the transaction must be tried again. An empty result
// leaves the note as it is.
func (s *Store) Merge(ctx context.Context, name string, merge func(old []byte) []byte) error {
	name = Clean(name)
	err := s.inTx(ctx, func(t *tx) error {
		old, found, err := t.note(ctx, name)
		if err != nil {
			return err
		}
		if !found {
			body := merge(nil)
			if len(body) == 0 {
				return nil
			}
			n, err := t.exec(ctx, `INSERT INTO notes (name, body) VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, body)
			if err != nil || n > 0 {
				return err
			}
			// Somebody else's first note came before ours: the insertion waited for it, and now it can be locked.
			if old, _, err = t.note(ctx, name); err != nil {
				return err
			}
		}
		body := merge(old)
		if len(body) == 0 {
			return nil
		}
		_, err = t.exec(ctx, `UPDATE notes SET body = $2 WHERE name = $1`, name, body)
		return err
	})
	if err != nil {
		return fmt.Errorf("merge note %s: %w", name, err)
	}
	return nil
}

// note locks and reads a note. On SQLite the transaction holds the lock already.
func (t *tx) note(ctx context.Context, name string) (body []byte, found bool, err error) {
	// Index: the primary key.
	query := `SELECT body FROM notes WHERE name = $1`
	if t.store.dialect == postgresDialect {
		query += " FOR UPDATE"
	}
	rows, err := t.rows(ctx, query, name)
	err = eachRow(rows, err, func(rows answer) error { found = true; return rows.Scan(&body) })
	return body, found, err
}
