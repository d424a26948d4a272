package models

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Commit writes results, each fenced by its lease's token. The returned slice has one entry a result: nil, or
// ErrLeaseLost where the result was discarded because its host was claimed by somebody else since, or because its page
// was removed. On an error nothing is known to be written; committing the same results again is harmless: a result
// whose visit is in its page's history already writes nothing twice.
func (s *Store) Commit(ctx context.Context, now time.Time, results []Result) ([]error, error) {
	verdicts := make([]error, len(results))
	byBucket := make(map[int16][]int)
	for i := range results {
		b := results[i].Lease.Bucket
		byBucket[b] = append(byBucket[b], i)
	}
	for _, group := range s.transactions(slices.Sorted(maps.Keys(byBucket))) {
		err := s.inTx(ctx, func(t *tx) error {
			for _, bucket := range group {
				c := commit{tx: t, queue: newQueue(t), bucket: bucket, now: now}
				for _, i := range byBucket[bucket] {
					c.results = append(c.results, &results[i])
				}
				judged, err := c.run(ctx)
				if err != nil {
					return fmt.Errorf("commit visits: %w", err)
				}
				for n, i := range byBucket[bucket] {
					verdicts[i] = judged[n]
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

// commit writes the results of one bucket. Locks are taken in the same order by all: hosts by key, contents by digest,
// the bucket's row, daily sums by key.
type commit struct {
	tx      *tx
	queue   *queue
	bucket  int16
	now     time.Time
	results []*Result
	fresh   []*Result // those whose lease is held and that are not written yet
	settled []hostKey // hosts whose lease is held by a result, fresh or not
	release map[hostKey]bool
}

func (c *commit) run(ctx context.Context) ([]error, error) {
	far, err := c.farHosts(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range c.results {
		far = append(far, hostKey{c.bucket, r.Lease.HostID})
	}
	if err := c.queue.lock(ctx, far); err != nil {
		return nil, fmt.Errorf("lock hosts: %w", err)
	}
	verdicts, err := c.judge(ctx)
	if err != nil {
		return nil, err
	}
	for _, write := range []func(context.Context) error{
		c.writePages, c.writeVisits, c.writeKnowledge, c.writeMemories, c.writeRobots, c.writeLinks, c.discover, c.forward, c.writeContents, c.settleHosts,
		c.queue.flush, c.writeEvents, c.writeDaily,
	} {
		if err := write(ctx); err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

// judge sorts the results by fence and history.
func (c *commit) judge(ctx context.Context) ([]error, error) {
	ids := make([]int64, len(c.results))
	for i, r := range c.results {
		ids[i] = r.Page.ID
	}
	visits, err := c.visitsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	c.release = make(map[hostKey]bool)
	verdicts := make([]error, len(c.results))
	for i, r := range c.results {
		host := c.queue.get(c.bucket, r.Lease.HostID)
		had, known := visits[r.Page.ID]
		if host == nil || host.LeaseToken != r.Lease.Token || !known {
			verdicts[i] = ErrLeaseLost
			if host != nil && host.LeaseToken == r.Lease.Token && r.Release {
				c.settle(r)
			}
			continue
		}
		c.settle(r)
		if r.Visit.Number > 0 && had >= r.Visit.Number {
			continue // the COMMIT of an earlier attempt arrived, only its answer did not
		}
		visits[r.Page.ID] = max(had, r.Visit.Number)
		c.fresh = append(c.fresh, r)
		host.OpenAt, host.BackoffUntil = r.Host.OpenAt, r.Host.BackoffUntil
		host.Failures, host.Delay, host.Ahead = r.Host.Failures, r.Host.Delay, r.Host.Ahead
		host.Trials = r.Host.Trials
		if len(r.Knowledge) > 0 {
			host.Learned++
		}
	}
	return verdicts, nil
}

func (c *commit) settle(r *Result) {
	key := hostKey{c.bucket, r.Lease.HostID}
	c.settled = append(c.settled, key)
	c.release[key] = c.release[key] || r.Release
}

// visitsOf reads how many visits each page has had; pages that do not exist are left out.
func (c *commit) visitsOf(ctx context.Context, ids []int64) (map[int64]int32, error) {
	// Index: the primary key.
	rows, err := c.tx.rows(ctx, `SELECT id, visits FROM pages WHERE bucket = $1 AND id = ANY($2)`, c.bucket, ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	visits := make(map[int64]int32, len(ids))
	for rows.Next() {
		var id int64
		var n int32
		if err := rows.Scan(&id, &n); err != nil {
			return nil, err
		}
		visits[id] = n
	}
	return visits, rows.Err()
}

// writePages writes the whole rows; of two results for one page the later one.
func (c *commit) writePages(ctx context.Context) error {
	last := make(map[int64]Page, len(c.fresh))
	for _, r := range c.fresh {
		p := r.Page
		p.Bucket, p.HostID = c.bucket, r.Lease.HostID
		last[p.ID] = p
	}
	return visitedTable.update(ctx, c.tx, byKey(last))
}

// byKey is the values of a map in the order of its keys.
func byKey[K cmp.Ordered, V any](m map[K]V) []V {
	out := make([]V, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

func (c *commit) writeVisits(ctx context.Context) error {
	var visits []Visit
	var versions []Version
	for _, r := range c.fresh {
		if v := r.Visit; v.Number > 0 {
			v.Bucket, v.PageID = c.bucket, r.Page.ID
			visits = append(visits, v)
		}
		if r.Version != nil {
			v := *r.Version
			v.Bucket, v.PageID = c.bucket, r.Page.ID
			versions = append(versions, v)
		}
	}
	if err := visitTable.insert(ctx, c.tx, visits); err != nil {
		return err
	}
	return versionTable.insert(ctx, c.tx, versions)
}

// writeKnowledge writes what is known of the hosts; of two results for one host what the later one says.
func (c *commit) writeKnowledge(ctx context.Context) error {
	last := make(map[int64]Knowledge)
	for _, r := range c.fresh {
		if len(r.Knowledge) > 0 {
			last[r.Lease.HostID] = Knowledge{Bucket: c.bucket, HostID: r.Lease.HostID, Body: r.Knowledge}
		}
	}
	return knowledgeTable.upsert(ctx, c.tx, byKey(last))
}

// writeMemories writes what is remembered of pages and hosts; of two results for one the later one.
func (c *commit) writeMemories(ctx context.Context) error {
	type key struct{ host, page int64 }
	last := make(map[key][]byte)
	for _, r := range c.fresh {
		if len(r.Memory) > 0 {
			last[key{r.Lease.HostID, r.Page.ID}] = r.Memory
		}
		if len(r.HostMemory) > 0 {
			last[key{r.Lease.HostID, HostMemoryID}] = r.HostMemory
		}
	}
	rows := make([]Memory, 0, len(last))
	for k, body := range last {
		rows = append(rows, Memory{Bucket: c.bucket, HostID: k.host, PageID: k.page, Body: body})
	}
	slices.SortFunc(rows, func(a, b Memory) int {
		return cmp.Or(cmp.Compare(a.HostID, b.HostID), cmp.Compare(a.PageID, b.PageID))
	})
	return memoryTable.upsert(ctx, c.tx, rows)
}

func (c *commit) writeRobots(ctx context.Context) error {
	last := make(map[string]Robots)
	for _, r := range c.fresh {
		if r.Robots != nil {
			row := *r.Robots
			row.Bucket, row.HostID = c.bucket, r.Lease.HostID
			last[row.Origin] = row
		}
	}
	return robotsTable.upsert(ctx, c.tx, byKey(last))
}

// writeContents notes bodies seen for the first time, by digest, so that two transactions with the same ones do not
// wait for each other in a circle.
func (c *commit) writeContents(ctx context.Context) error {
	first := make(map[string]contentRow)
	for _, r := range c.fresh {
		if r.Content == nil || r.Content.Digest.IsZero() {
			continue
		}
		digest := r.Content.Digest
		if _, seen := first[string(digest[:])]; !seen {
			first[string(digest[:])] = contentRow{*r.Content, int16(digest[0])}
		}
	}
	return contentTable.insert(ctx, c.tx, byKey(first))
}

// settleHosts releases the hosts whose last result is here, and moves the others' end of politeness.
func (c *commit) settleHosts(ctx context.Context) error {
	var idle []hostKey
	for _, key := range c.settled {
		h := c.queue.get(key.bucket, key.id)
		if c.release[key] || h.LeaseUntil == 0 {
			idle = append(idle, key)
		} else {
			h.Hold()
		}
	}
	return c.queue.settle(ctx, idle, (*Host).Free)
}

// writeEvents numbers and appends the events. The row of the bucket is locked until the end of the transaction, so
// numbers have no gaps and grow in the order of the commits: a sink that has seen n has seen all up to n.
func (c *commit) writeEvents(ctx context.Context) error {
	var events []Event
	for _, r := range c.fresh {
		events = append(events, r.Events...)
	}
	if len(events) == 0 {
		return nil
	}
	rows, err := c.tx.rows(ctx, `UPDATE buckets SET next_seq = next_seq + $2 WHERE bucket = $1 RETURNING next_seq`,
		c.bucket, int64(len(events)))
	if err != nil {
		return fmt.Errorf("number events: %w", err)
	}
	var next int64
	if rows.Next() {
		err = rows.Scan(&next)
	}
	if err = cmp.Or(err, rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("number events: %w", err)
	}
	for i := range events {
		events[i].Bucket, events[i].Seq = c.bucket, next-int64(len(events)-i)
	}
	return eventTable.insert(ctx, c.tx, events)
}
