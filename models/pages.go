package models

import (
	"context"
	"fmt"
	"time"
)

// sliceRows is how many rows a transaction of a long chore takes.
const sliceRows = 5000

// VisitNow makes one page due now, because somebody asked for it. It returns ErrNotFound where there is no such page.
func (s *Store) VisitNow(ctx context.Context, now time.Time, bucket int16, page int64) error {
	err := s.inTx(ctx, func(t *tx) error {
		rows, err := t.rows(ctx, `SELECT host_id FROM pages WHERE bucket = $1 AND id = $2`, bucket, page)
		if err != nil {
			return err
		}
		hosts, err := scanIDs(rows)
		if err != nil {
			return err
		}
		if len(hosts) == 0 {
			return ErrNotFound
		}
		q := newQueue(t)
		if err := q.lock(ctx, []rowKey{{bucket, hosts[0]}}); err != nil {
			return err
		}
		if err := q.makeDue(ctx, At(now), RuleManual, bucket, []pageRef{{id: page, host: hosts[0]}}); err != nil {
			return err
		}
		if h := q.get(bucket, hosts[0]); h != nil {
			h.Ask(At(now))
		}
		return q.flush(ctx)
	})
	if err != nil {
		return fmt.Errorf("visit page %d now: %w", page, err)
	}
	return nil
}

// pageRef names a page of a known bucket.
type pageRef struct {
	id, host  int64
	requisite bool // read by slice
}

func pageIDs(pages []pageRef) []int64 {
	ids := make([]int64, len(pages))
	for i, p := range pages {
		ids[i] = p.id
	}
	return ids
}

// makeDue sets when pages of locked hosts are due.
func (q *queue) makeDue(ctx context.Context, due Instant, rule Rule, bucket int16, pages []pageRef) error {
	_, err := q.tx.exec(ctx, `UPDATE pages SET due_at = $3, rule = $4 WHERE bucket = $1 AND id = ANY($2)`,
		bucket, pageIDs(pages), int64(due), int16(rule))
	for _, p := range pages {
		if h := q.get(bucket, p.host); h != nil {
			h.Hasten(due)
		}
	}
	return err
}

// eachSlice walks over all pages that meet a condition, whose parameters start at $4, in transactions of at most
// so many pages each, with the hosts of the pages locked.
func (s *Store) eachSlice(ctx context.Context, slice int, where string, args []any, f func(*queue, int16, []pageRef) error) error {
	for bucket := range int16(Buckets) {
		after := int64(-1)
		for more := true; more; {
			next := after
			err := s.inTx(ctx, func(t *tx) error {
				// Index: the primary key; the bucket is read as a whole, which chores may do.
				pages, err := t.slice(ctx, `id > $2 AND `+where, append([]any{bucket, after, slice}, args...))
				if more = len(pages) == slice; err != nil || len(pages) == 0 {
					return err
				}
				next = pages[len(pages)-1].id
				q := newQueue(t)
				keys := make([]rowKey, len(pages))
				for i, p := range pages {
					keys[i] = rowKey{bucket, p.host}
				}
				if err := q.lock(ctx, keys); err != nil {
					return err
				}
				// Some may be gone, or be another site's, since they were read. Index: the primary key.
				pages, err = t.slice(ctx, `id = ANY($2) AND `+where, append([]any{bucket, pageIDs(pages), slice}, args...))
				if err != nil || len(pages) == 0 {
					return err
				}
				if err := f(q, bucket, pages); err != nil {
					return err
				}
				return q.end(ctx)
			})
			if err != nil {
				return err
			}
			after = next
		}
	}
	return nil
}

// slice reads the first pages of a bucket, $1, that meet a condition, at most $3.
func (t *tx) slice(ctx context.Context, where string, args []any) ([]pageRef, error) {
	rows, err := t.rows(ctx, `SELECT id, host_id, COALESCE(requisite,false) FROM pages WHERE bucket = $1 AND `+where+` ORDER BY id LIMIT $3`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var pages []pageRef
	for rows.Next() {
		var p pageRef
		if err := rows.Scan(&p.id, &p.host, &p.requisite); err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	return pages, rows.Err()
}
