package models

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// NewHost is a host that is added, idle and with no page. It may have been there before and been removed (ClearRemoved), which whoever remembers
// its pages has to see: Removals begins with the minute. To be taken for the one that it was it would have to have lost as many pages more,
// to the page, as fewer minutes lie between.
func NewHost(bucket int16, id int64, name string, now time.Time) Host {
	return Host{Bucket: bucket, ID: id, Name: name, Removals: int32(At(now).Time().Unix() / 60)}
}

// Take leases the host. Should the lease run out, or whoever holds it die, the host is ready one politeness delay later: its
// last request may have been sent in the last moment. What that delay is no visit has found out for a host that is leased for
// the first time.
func (h *Host) Take(c *ClaimRequest) {
	if h.LeaseToken == 0 {
		h.Delay = max(h.Delay, c.Delay)
	}
	h.LeaseToken++
	h.LeaseUntil = At(c.Now.Add(c.Lease))
	h.LeaseOwner = Clean(c.Owner)
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

// Ask takes note that visits to pages of the host are asked for now: those under way may have begun before (Result.Outrun).
func (h *Host) Ask(now Instant) {
	if h.LeaseUntil != 0 {
		h.AskedAt = now
	}
}

// delayOf is the host's politeness delay in milliseconds, rounded up.
func delayOf(h *Host) Instant {
	return Instant((h.Delay + time.Millisecond - 1).Milliseconds())
}

// queue is the hosts that a transaction has locked. Whatever changes a host or when its pages are due goes through
// it: lock, change the rows here, flush. Hosts are locked in the order of their keys, so two transactions that need
// some of the same do not wait for each other in a circle; where they lock in several steps, the engine finds the
// circle and the transaction is run again.
type queue struct {
	tx    *tx
	hosts map[rowKey]*lockedHost

	counts counts // of pages, by what this transaction does; written by writeCounts
}

type lockedHost struct {
	Host
	read Host // as it was
}

func newQueue(t *tx) *queue {
	return &queue{tx: t, hosts: make(map[rowKey]*lockedHost), counts: make(counts)}
}

// get is a locked host, or nil.
func (q *queue) get(bucket int16, id int64) *Host {
	if h := q.hosts[rowKey{bucket, id}]; h != nil {
		return &h.Host
	}
	return nil
}

// lock locks hosts; those that do not exist are left out.
func (q *queue) lock(ctx context.Context, keys []rowKey) error {
	return q.lockKeyed(ctx, keys, " FOR UPDATE")
}

func (q *queue) lockKeyed(ctx context.Context, keys []rowKey, how string) error {
	// Index: the primary key.
	return q.tx.byKeys(ctx, q.unlocked(keys), keyed{table: "hosts", column: "id", locking: how, statement: func(from source) string {
		return `SELECT ` + hostTable.prefixed("k.") + ` FROM ` + from.from + ` ORDER BY k.bucket, k.id`
	}}, q.take)
}

func (q *queue) forUpdate() string {
	if q.tx.store.dialect == postgresDialect {
		return "FOR UPDATE"
	}
	return ""
}

// load locks the hosts that a query selects.
func (q *queue) load(ctx context.Context, query string, args ...any) error {
	rows, err := q.tx.rows(ctx, query, args...)
	return eachRow(rows, err, q.take)
}

// take reads a host that was locked.
func (q *queue) take(rows answer) error {
	h := new(lockedHost)
	if err := rows.Scan(hostTable.fields(&h.Host)...); err != nil {
		return err
	}
	h.read = h.Host
	q.hosts[rowKey{h.Bucket, h.ID}] = h
	return nil
}

// unlocked is those of the hosts that are not locked yet.
func (q *queue) unlocked(keys []rowKey) []rowKey {
	return slices.DeleteFunc(slices.Clone(keys), func(k rowKey) bool { return q.hosts[k] != nil })
}

// errCrossed says that a host which was missing when this transaction locked what it needs was made by another one and is
// locked by a third, which may wait for a host that this one makes. Run again, the transaction finds it and waits in order.
var errCrossed = errors.New("a host was made by another transaction meanwhile")

// create adds the hosts that do not exist, idle and with no page, and locks them. Where some are locked already, those
// among them that exist must be too, as far as they existed then.
func (q *queue) create(ctx context.Context, now time.Time, names map[rowKey]string) error {
	keys := slices.SortedFunc(maps.Keys(names), compareKeys)
	if len(q.hosts) == 0 {
		if err := q.lock(ctx, keys); err != nil {
			return err
		}
	}
	keys = q.unlocked(keys)
	hosts := make([]Host, len(keys))
	for i, key := range keys {
		hosts[i] = NewHost(key.bucket, key.id, names[key], now)
	}
	if q.tx.store.dialect == sqliteDialect {
		if err := hostTable.insert(ctx, q.tx, hosts); err != nil {
			return err
		}
		return q.lock(ctx, keys)
	}
	if err := q.insert(ctx, hosts); err != nil {
		return err
	}
	keys = q.unlocked(keys)
	if err := q.lockKeyed(ctx, keys, " FOR UPDATE SKIP LOCKED"); err != nil {
		return err
	}
	if len(q.unlocked(keys)) > 0 {
		return errCrossed
	}
	return nil
}

// insert adds those of the hosts that do not exist.
func (q *queue) insert(ctx context.Context, hosts []Host) error {
	for chunk := range slices.Chunk(hosts, bulkRows) {
		source, args := hostTable.unnest(chunk)
		args = append(args, hostTable.buckets(q.tx, chunk)...)
		query := hostTable.inserting(" ON CONFLICT DO NOTHING RETURNING "+hostTable.prefixed("hosts."), q.tx.sharded())
		rows, err := q.tx.rows(ctx, query(source), args...)
		if err := eachRow(rows, err, q.take); err != nil {
			return fmt.Errorf("write hosts: %w", err)
		}
	}
	return nil
}

// earliest reads when the first page of each of these hosts is due. It runs after the hosts are locked, so that it sees
// what others committed before they let go of them.
func (q *queue) earliest(ctx context.Context, keys []rowKey) (map[rowKey]Instant, error) {
	due := make(map[rowKey]Instant, len(keys))
	// Indexes: the primary key of hosts, then pages_due once a host.
	err := q.tx.byKeys(ctx, keys, keyed{table: "hosts", column: "id", statement: func(from source) string {
		return `SELECT k.bucket, k.id, COALESCE((SELECT p.due_at FROM pages p
			WHERE ` + from.pages("k") + ` AND p.due_at > 0 ORDER BY p.due_at LIMIT 1), 0)
			FROM ` + from.from
	}}, func(rows answer) error {
		var key rowKey
		var at Instant
		err := rows.Scan(&key.bucket, &key.id, &at)
		due[key] = at
		return err
	})
	return due, err
}

// settle applies f to locked hosts with the earliest DueAt of their pages, after those were written.
func (q *queue) settle(ctx context.Context, keys []rowKey, f func(h *Host, earliestDue Instant)) error {
	due, err := q.earliest(ctx, keys)
	if err != nil {
		return err
	}
	for key, at := range due {
		if h := q.get(key.bucket, key.id); h != nil {
			f(h, at)
		}
	}
	return nil
}

// flush writes the hosts that were changed.
func (q *queue) flush(ctx context.Context) error { return hostTable.update(ctx, q.tx, q.changed()) }

// changed is the hosts that were changed, in the order of their keys.
func (q *queue) changed() []Host {
	var changed []Host
	for _, h := range q.hosts {
		if h.Host != h.read {
			changed = append(changed, h.Host)
		}
	}
	slices.SortFunc(changed, func(a, b Host) int { return compareKeys(rowKey{a.Bucket, a.ID}, rowKey{b.Bucket, b.ID}) })
	return changed
}
