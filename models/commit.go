package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Commit writes results, each fenced by its lease's token. The returned slice has one entry a result: nil, or
// ErrLeaseLost where the result was discarded because its host was claimed by somebody else since, or because its page
// was removed, also where it was found anew since: that is another one. On an error nothing is known to be written; committing the same results again is harmless: a result
// whose visit is in its page's history already writes nothing twice. Several may run at once (see Writers) as long as
// the results of each lease are committed in their order.
func (s *Store) Commit(ctx context.Context, now time.Time, results []Result) ([]error, error) {
	verdicts := make([]error, len(results))
	byBucket := make(map[int16][]int)
	for i := range results {
		b := results[i].Lease.Bucket
		byBucket[b] = append(byBucket[b], i)
	}
	groups := s.transactions(slices.Sorted(maps.Keys(byBucket)))
	writes, errs := make([]leftover, len(groups)), make([]error, len(groups))
	s.atOnce(len(groups), func(n int) {
		writes[n], errs[n] = s.commitGroup(ctx, now, results, groups[n], byBucket, verdicts)
	})
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("commit visits: %w", err)
		}
	}
	if s.sharded {
		// What fails here stays in the outbox until Deliver succeeds, so nobody needs to hear of it; a body that is not noted
		// is stored once more when it is seen again.
		_ = s.deliver(ctx, parcelsOf(writes), contentsOf(writes))
	}
	return verdicts, nil
}

// commitGroup writes the results of the buckets of one shard, or of what turns out to be several.
func (s *Store) commitGroup(ctx context.Context, now time.Time, results []Result, buckets []int16, byBucket map[int16][]int,
	verdicts []error) (leftover, error) {
	var order []int
	for _, bucket := range buckets {
		order = append(order, byBucket[bucket]...)
	}
	w, err := s.commit(ctx, now, results, order, verdicts)
	if !errors.Is(err, errSplit) {
		return w, err
	}
	w = leftover{}
	for _, part := range s.transactions(buckets) {
		more, err := s.commitGroup(ctx, now, results, part, byBucket, verdicts)
		if err != nil {
			return w, err
		}
		w.parcels, w.fresh = append(w.parcels, more.parcels...), append(w.fresh, more.fresh...)
	}
	return w, nil
}

// leftover is what a transaction of results leaves to be delivered.
type leftover struct {
	parcels []parcel
	fresh   []*Result
}

// commitSlice is how many results a transaction of SQLite writes before it looks whether claims wait for its end: they take some
// 5 ms.
const commitSlice = 200

// commit writes some of the results, by their places, and their verdicts: in one transaction, or in several on SQLite where
// claims wait.
func (s *Store) commit(ctx context.Context, now time.Time, results []Result, places []int, verdicts []error) (w leftover, err error) {
	for len(places) > 0 && err == nil {
		again, written := false, 0
		var met []uint64
		var grown map[rowKey]int32
		first := results[places[0]].Lease.Bucket
		err = s.inShard(ctx, first, func(t *tx) error {
			for _, i := range places {
				if err := t.covers(first, results[i].Lease.Bucket); err != nil {
					return err
				}
			}
			written, met, grown = 0, nil, make(map[rowKey]int32)
			for written < len(places) && (written == 0 || !s.liteWriter.awaited()) {
				slice := places[written:]
				if s.dialect == sqliteDialect {
					slice = slice[:min(commitSlice, len(slice))]
				}
				c, err := s.commitIn(ctx, t, now, again, results, slice, verdicts)
				if again = again || errors.Is(err, errVisited); err != nil {
					return err
				}
				w, written = leftover{c.parcels, c.fresh}, written+len(slice)
				met = append(met, c.met...)
				maps.Copy(grown, c.grown)
			}
			return nil
		})
		if err == nil {
			s.familiar.grew(grown)
			s.familiar.learn(met)
		}
		places = places[written:]
	}
	return w, err
}

// commitIn writes some of the results, by their places, in a transaction, and their verdicts. It looks at their pages before where
// they may not be as they were leased, as it was found out before where it is done again.
func (s *Store) commitIn(ctx context.Context, t *tx, now time.Time, again bool, results []Result, places []int, verdicts []error) (*commit, error) {
	c := &commit{tx: t, queue: newQueue(t), now: now, again: again, looks: again}
	for _, i := range places {
		c.results = append(c.results, &results[i])
		before := results[i].Before
		c.looks = c.looks || before == nil || before.Visits == 0 // one that was removed and found anew has 0 as well
	}
	judged, err := c.run(ctx)
	if err != nil {
		return nil, err
	}
	for n, i := range places {
		verdicts[i] = judged[n]
	}
	return c, nil
}

// Writers is how many transactions that write may usefully run at once, 1 or more: one with SQLite, whose file has one
// writer, and two with PostgreSQL, where one is carried out while the other waits for the disk. Where several servers share
// the database it is one for each shard, as far as there are connections: a batch for one shard is one transaction, and
// many rows in few of them cost a fraction of few rows in many. Commits at once must not hold results of the same lease: the
// earlier one could then be written after the one that releases the host.
func (s *Store) Writers() int {
	switch places := s.places.Load(); {
	case s.dialect == sqliteDialect:
		return 1
	case places == nil:
		return 2
	default:
		return max(2, min(len(*places), s.options.Conns))
	}
}

// WriterOf is the writer, from 0 on, that the results of a bucket are best given to.
func (s *Store) WriterOf(bucket int16) int {
	if at := s.placement(bucket); at != nil {
		return at.number % s.Writers()
	}
	return int(bucket) % s.Writers()
}

// atOnce calls f for 0 to n-1, some at a time: each call is a transaction with its own connection.
func (s *Store) atOnce(n int, f func(int)) {
	width := min(max(1, s.options.Conns/2), n)
	if width <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var group sync.WaitGroup
	for first := range width {
		group.Go(func() {
			for i := first; i < n; i += width {
				f(i)
			}
		})
	}
	group.Wait()
}

// commit writes the results of a transaction. Locks are taken in the same order by all: hosts by key, contents by digest,
// filings by key, the buckets' rows, daily sums by key, counts of pages by key.
type commit struct {
	tx      *tx
	queue   *queue
	now     time.Time
	results []*Result
	fresh   []*Result // those whose lease is held and that are not written yet
	again   bool      // an earlier attempt met rows that are there already
	looks   bool      // at the pages before they are written, because they may not be as they were leased
	settled []rowKey  // hosts whose lease is held by a result, fresh or not
	release map[rowKey]bool
	was     map[rowKey]pageWas
	met     []uint64 // see familiar, as for grown
	grown   map[rowKey]int32
	parcels []parcel // what is for other buckets; none where the transaction holds them too
}

func (c *commit) run(ctx context.Context) ([]error, error) {
	hosts, err := c.touched(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range c.results {
		hosts = append(hosts, rowOfHost(r))
	}
	if err := c.queue.lock(ctx, hosts); err != nil {
		return nil, fmt.Errorf("lock hosts: %w", err)
	}
	verdicts, err := c.judge(ctx)
	if err != nil {
		return nil, err
	}
	for _, write := range []func(context.Context) error{
		c.writePages, c.writeVisits, c.writeKnowledge, c.writeMemories, c.writeRobots, c.writeLinks, c.discover, c.forward, c.tell,
		c.settleHosts, c.queue.flush, c.writeElsewhere, c.writeFilings, c.writeEvents, c.writeDaily,
		c.countVisited, c.queue.writeCounts,
	} {
		if err := write(ctx); err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

// judge sorts the results by fence and history.
func (c *commit) judge(ctx context.Context) (verdicts []error, err error) {
	pages := make([]rowKey, len(c.results))
	for i, r := range c.results {
		pages[i] = rowOfPage(r)
	}
	if c.was, err = c.before(ctx, pages); err != nil {
		return nil, err
	}
	visits := make(map[rowKey]int32, len(c.was))
	for key, was := range c.was {
		visits[key] = was.visits
	}
	c.release = make(map[rowKey]bool)
	verdicts = make([]error, len(c.results))
	for i, r := range c.results {
		host := c.held(r)
		had, known := visits[rowOfPage(r)]
		if host == nil || !known || r.FoundAnew(had, c.was[rowOfPage(r)].site) {
			verdicts[i] = ErrLeaseLost
			if host != nil {
				c.removed(host, r)
			}
			continue
		}
		c.settle(r)
		if r.Visit.Number > 0 && had >= r.Visit.Number {
			continue // the COMMIT of an earlier attempt arrived, only its answer did not
		}
		if r.Visit.Number == 0 && had > r.Page.Visits {
			continue // so did that of a result that came later
		}
		visits[rowOfPage(r)] = max(had, r.Visit.Number)
		c.fresh = append(c.fresh, r)
		host.OpenAt, host.BackoffUntil = r.Host.OpenAt, r.Host.BackoffUntil
		host.Failures, host.Delay, host.Ahead = r.Host.Failures, r.Host.Delay, r.Host.Ahead
		host.Trials, host.GuardedAt = r.Host.Trials, r.Host.GuardedAt
		if len(r.Knowledge) > 0 {
			host.Learned++
		}
	}
	return verdicts, nil
}

// held is the host of a result whose lease is held, else nil.
func (c *commit) held(r *Result) *Host {
	host := c.queue.get(r.Lease.Bucket, r.Lease.HostID)
	if host == nil || host.LeaseToken != r.Lease.Token {
		return nil
	}
	return host
}

// FoundAnew tells whether a page that has had so many visits, and is of that site, is not the one that the result is of: it was removed
// while that was under way, and found anew.
func (r *Result) FoundAnew(visits, site int32) bool {
	return r.Before != nil && (visits < r.Before.Visits || site != r.Before.SiteID)
}

// removed ends the visit of a page that was removed while it was under way: its request counts all the same.
func (c *commit) removed(host *Host, r *Result) {
	host.OpenAt, host.BackoffUntil = max(host.OpenAt, r.Host.OpenAt), max(host.BackoffUntil, r.Host.BackoffUntil)
	if r.Release {
		c.settle(r)
	}
}

func (c *commit) settle(r *Result) {
	key := rowOfHost(r)
	c.settled = append(c.settled, key)
	c.release[key] = c.release[key] || r.Release
}

// pageWas is what a commit has to know of a page before it writes it.
type pageWas struct {
	visits int32 // how many it has had
	pageClass
}

// before is what pages are; those that do not exist are left out. While its host is leased, a page that was visited before
// is as it was then but for rare cases, so this does not read it; writePages sees those cases by the number of its visits.
// What a lost lease takes a page for says nothing: it may count visits that were refused.
func (c *commit) before(ctx context.Context, pages []rowKey) (map[rowKey]pageWas, error) {
	found := make(map[rowKey]pageWas, len(pages))
	if !c.looks {
		for i, key := range pages {
			if _, known := found[key]; !known && c.held(c.results[i]) != nil {
				before := c.results[i].Before
				found[key] = pageWas{before.Visits, classOf(before)}
			}
		}
		return found, nil
	}
	// Index: the primary key.
	err := c.tx.byKeys(ctx, pages, keyed{table: "pages", column: "id", statement: func(from source) string {
		return `SELECT k.bucket, k.id, k.visits, k.site_id, k.state, COALESCE(k.failures,0), COALESCE(k.requisite,false) FROM ` + from.from
	}}, func(rows answer) error {
		var key rowKey
		var was pageWas
		err := rows.Scan(&key.bucket, &key.id, &was.visits, &was.site, &was.state, &was.failures, &was.requisite)
		found[key] = was
		return err
	})
	return found, err
}

// rowOfHost and rowOfPage are the keys of a result's rows.
func rowOfHost(r *Result) rowKey { return rowKey{r.Lease.Bucket, r.Lease.HostID} }
func rowOfPage(r *Result) rowKey { return rowKey{r.Lease.Bucket, r.Page.ID} }

// byRowKey is the values of a map in the order of its keys.
func byRowKey[V any](m map[rowKey]V) []V {
	out := make([]V, 0, len(m))
	for _, k := range slices.SortedFunc(maps.Keys(m), compareKeys) {
		out = append(out, m[k])
	}
	return out
}

// byKey is the values of a map in the order of its keys.
func byKey[K cmp.Ordered, V any](m map[K]V) []V {
	out := make([]V, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

// settleHosts releases the hosts whose last result is here, and moves the others' end of politeness.
func (c *commit) settleHosts(ctx context.Context) error {
	var idle []rowKey
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
