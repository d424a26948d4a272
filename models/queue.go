package models

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"
)

// ReadyFrom is when an idle host is ready, given the earliest DueAt of its pages: 0 (never) where no page is due, ever.
func (h *Host) ReadyFrom(earliestDue Instant) Instant {
	if earliestDue == 0 {
		return 0
	}
	return max(earliestDue, h.OpenAt, h.BackoffUntil)
}

// Take leases the host until then. Should the lease run out, the host is ready one politeness delay later: its last
// request may have been sent in the lease's last moment.
func (h *Host) Take(owner string, until Instant) {
	h.LeaseToken++
	h.LeaseUntil = until
	h.LeaseOwner = owner
	h.Hold()
}

// Hold keeps a leased host out of the queue until its lease has run out and its politeness delay, which may have
// changed, has passed.
func (h *Host) Hold() { h.ReadyAt = h.LeaseUntil + delayOf(h) }

// Free ends the lease, if there is one.
func (h *Host) Free(earliestDue Instant) {
	h.LeaseUntil = 0
	h.LeaseOwner = ""
	h.ReadyAt = h.ReadyFrom(earliestDue)
}

// Void ends the lease of a worker that is known to be dead: its token is worth nothing any more, and politeness holds
// as if it had sent a request in its last moment, at the latest now.
func (h *Host) Void(now, earliestDue Instant) {
	h.OpenAt = max(h.OpenAt, min(h.LeaseUntil, now)+delayOf(h))
	h.LeaseToken++
	h.Free(earliestDue)
}

// Hasten makes an idle host ready for a page that is due then. A leased one looks at its pages when it is released.
func (h *Host) Hasten(due Instant) {
	if h.LeaseUntil != 0 || due == 0 {
		return
	}
	if ready := h.ReadyFrom(due); h.ReadyAt == 0 || ready < h.ReadyAt {
		h.ReadyAt = ready
	}
}

// delayOf is the host's politeness delay in milliseconds, rounded up.
func delayOf(h *Host) Instant {
	return Instant((h.Delay + time.Millisecond - 1).Milliseconds())
}

// hostKey names a host.
type hostKey struct {
	bucket int16
	id     int64
}

func compareHosts(a, b hostKey) int {
	return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.id, b.id))
}

// queue is the hosts that a transaction has locked. Whatever changes a host or when its pages are due goes through
// it: lock, change the rows here, flush. Hosts are locked in the order of their keys, so two transactions that need
// some of the same do not wait for each other in a circle; where they lock in several steps, the engine finds the
// circle and the transaction is run again.
type queue struct {
	tx    *tx
	hosts map[hostKey]*lockedHost
}

type lockedHost struct {
	Host
	read Host // as it was
}

func newQueue(t *tx) *queue { return &queue{tx: t, hosts: make(map[hostKey]*lockedHost)} }

// get is a locked host, or nil.
func (q *queue) get(bucket int16, id int64) *Host {
	if h := q.hosts[hostKey{bucket, id}]; h != nil {
		return &h.Host
	}
	return nil
}

// lock locks hosts; those that do not exist are left out.
func (q *queue) lock(ctx context.Context, keys []hostKey) error {
	for bucket, ids := range byBucket(q.unlocked(keys)) {
		// Index: the primary key.
		err := q.load(ctx, `SELECT `+hostTable.list()+` FROM hosts WHERE bucket = $1 AND id = ANY($2) ORDER BY id `+q.forUpdate(),
			bucket, ids)
		if err != nil {
			return err
		}
	}
	return nil
}

// load locks the hosts that a query selects.
func (q *queue) load(ctx context.Context, query string, args ...any) error {
	rows, err := q.tx.rows(ctx, query, args...)
	hosts, err := hostTable.scan(rows, err)
	for _, h := range hosts {
		q.hosts[hostKey{h.Bucket, h.ID}] = &lockedHost{h, h}
	}
	return err
}

func (q *queue) forUpdate() string {
	if q.tx.store.dialect == postgresDialect {
		return "FOR UPDATE"
	}
	return ""
}

// unlocked is those of the hosts that are not locked yet.
func (q *queue) unlocked(keys []hostKey) []hostKey {
	return slices.DeleteFunc(slices.Clone(keys), func(k hostKey) bool { return q.hosts[k] != nil })
}

// byBucket yields hosts bucket by bucket, in the order of their keys, each once.
func byBucket(keys []hostKey) iter.Seq2[int16, []int64] {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, compareHosts)
	keys = slices.Compact(keys)
	return func(yield func(int16, []int64) bool) {
		for len(keys) > 0 {
			bucket, ids := keys[0].bucket, []int64(nil)
			for len(keys) > 0 && keys[0].bucket == bucket {
				ids, keys = append(ids, keys[0].id), keys[1:]
			}
			if !yield(bucket, ids) {
				return
			}
		}
	}
}

// create adds the hosts that do not exist, idle and with no page, and locks them.
func (q *queue) create(ctx context.Context, names map[hostKey]string) error {
	keys := make([]hostKey, 0, len(names))
	for key := range names {
		keys = append(keys, key)
	}
	keys = q.unlocked(keys)
	var hosts []Host
	for bucket, ids := range byBucket(keys) {
		for _, id := range ids {
			hosts = append(hosts, Host{Bucket: bucket, ID: id, Name: names[hostKey{bucket, id}]})
		}
	}
	if err := hostTable.insert(ctx, q.tx, hosts); err != nil {
		return err
	}
	return q.lock(ctx, keys)
}

// earliest reads when the first page of each of these hosts of one bucket is due. It runs after the hosts are locked,
// so that it sees what others committed before they let go of them.
func (q *queue) earliest(ctx context.Context, bucket int16, ids []int64) (map[int64]Instant, error) {
	// Indexes: the primary key of hosts, then pages_due once a host.
	rows, err := q.tx.rows(ctx, `SELECT h.id, COALESCE((SELECT p.due_at FROM pages p
		WHERE p.bucket = h.bucket AND p.host_id = h.id AND p.due_at > 0 ORDER BY p.due_at LIMIT 1), 0)
		FROM hosts h WHERE h.bucket = $1 AND h.id = ANY($2)`, bucket, ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	due := make(map[int64]Instant, len(ids))
	for rows.Next() {
		var id int64
		var at Instant
		if err := rows.Scan(&id, &at); err != nil {
			return nil, err
		}
		due[id] = at
	}
	return due, rows.Err()
}

// settle applies f to locked hosts with the earliest DueAt of their pages, after those were written.
func (q *queue) settle(ctx context.Context, keys []hostKey, f func(h *Host, earliestDue Instant)) error {
	for bucket, ids := range byBucket(keys) {
		due, err := q.earliest(ctx, bucket, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if h := q.get(bucket, id); h != nil {
				f(h, due[id])
			}
		}
	}
	return nil
}

// flush writes the hosts that were changed.
func (q *queue) flush(ctx context.Context) error {
	changed := make(map[int16][]Host)
	for key, h := range q.hosts {
		if h.Host != h.read {
			changed[key.bucket] = append(changed[key.bucket], h.Host)
		}
	}
	for _, hosts := range changed {
		if err := hostTable.update(ctx, q.tx, hosts); err != nil {
			return err
		}
	}
	return nil
}
