package models

import (
	"context"
	"fmt"
	"time"
)

// Respacing is what a clock was set to while hosts were asked by it.
type Respacing struct {
	Now   time.Time     // as it is now
	From  time.Time     // the earliest that it showed since shortly before it was set
	To    time.Time     // and the latest
	Lease time.Duration // for which hosts are leased
	Due   time.Duration // by how much it was set back: what is due within so long after now was due before
	Rest  time.Duration // by how much it was set forward: hosts that are to be left alone are so for as much longer
	Most  time.Duration // for which a host is left alone
}

// Respace brings hosts back to their politeness delay after a clock was set: one that was asked of late opens a delay after now, whether
// by the clock its time had come or lay far ahead, and one that is leased is so for a lease from now on, because who holds it may
// still ask it. What was due, and is not any more since the clock was set back, is as much overdue as it was; what was to be due
// later is due when it says. Who asked to be left alone is for as long as there was left of it. It returns how many hosts it looked
// at. Done twice it lets them wait once more.
func (s *Store) Respace(ctx context.Context, r Respacing) (changed int, err error) {
	// Index: none; it reads all hosts, and runs when a clock was set.
	rows, err := s.rows(ctx, `SELECT DISTINCT bucket FROM hosts WHERE $2 OR lease_until > $1 OR backoff_until > $1 OR open_at > $1`,
		int64(At(r.From)), r.Due > 0)
	var buckets []int16
	err = eachRow(rows, err, func(rows answer) error {
		var bucket int16
		err := rows.Scan(&bucket)
		buckets = append(buckets, bucket)
		return err
	})
	for i := 0; i < len(buckets) && err == nil; i++ {
		n := 0
		err = s.inShard(ctx, buckets[i], func(t *tx) (err error) {
			n, err = t.respace(ctx, buckets[i], &r)
			return err
		})
		changed += n
	}
	if err != nil {
		return changed, fmt.Errorf("space hosts anew: %w", err)
	}
	return changed, nil
}

// dueAgain begins with the hosts: by the bucket alone it would read all pages. Indexes: the primary key of hosts, then pages_due, once a host.
const dueAgain = `UPDATE pages SET due_at = due_at - $3 WHERE bucket = $1 AND host_id IN (SELECT id FROM hosts WHERE bucket = $1)
	AND due_at > 0 AND due_at > $2 AND due_at <= $2 + $3`

func (t *tx) respace(ctx context.Context, bucket int16, r *Respacing) (int, error) {
	now, from := NotBefore(r.Now), At(r.From)
	to := max(NotBefore(r.To), now)
	q := newQueue(t)
	late := Instant(r.Due.Milliseconds())
	// Index: the primary key; it reads all hosts of the bucket.
	err := q.load(ctx, `SELECT `+hostTable.list()+` FROM hosts WHERE bucket = $1 AND (lease_until > $2
		OR backoff_until > $2 OR open_at > $2 AND open_at <= $3 + (delay + 999999) / 1000000 OR ready_at > $4 AND ready_at <= $5) ORDER BY id `+q.forUpdate(),
		bucket, int64(from), int64(to), int64(now), int64(now+late))
	if err != nil {
		return 0, err
	}
	if late > 0 {
		_, err := t.exec(ctx, dueAgain, bucket, int64(now), int64(late))
		if err != nil {
			return 0, err
		}
	}
	keys := make([]rowKey, 0, len(q.hosts))
	for key := range q.hosts {
		keys = append(keys, key)
	}
	err = q.settle(ctx, keys, func(h *Host, due Instant) {
		if h.OpenAt > from && h.OpenAt <= to+delayOf(h) {
			h.OpenAt = now + delayOf(h)
		}
		if h.BackoffUntil > from {
			h.BackoffUntil = min(h.BackoffUntil+Instant(r.Rest.Milliseconds()), NotBefore(r.Now.Add(r.Most)))
		}
		switch {
		case h.LeaseUntil == 0:
			h.ReadyAt = h.ReadyFrom(due)
		case h.LeaseUntil <= from: // it was over: who held it is gone
			h.ReadyAt = max(h.ReadyAt, h.OpenAt)
		default:
			h.LeaseUntil = max(h.LeaseUntil, NotBefore(r.Now.Add(r.Lease)))
			h.Hold()
		}
	})
	if err != nil {
		return 0, err
	}
	return len(keys), q.flush(ctx)
}
