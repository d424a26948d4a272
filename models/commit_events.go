package models

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// writeEvents numbers and appends the events.
func (c *commit) writeEvents(ctx context.Context) error {
	byBucket := make(map[int16][]Event)
	for _, r := range c.fresh {
		byBucket[r.Lease.Bucket] = append(byBucket[r.Lease.Bucket], r.Events...)
	}
	maps.DeleteFunc(byBucket, func(_ int16, events []Event) bool { return len(events) == 0 })
	all, err := c.tx.number(ctx, byBucket)
	if err != nil {
		return err
	}
	return add(ctx, c, eventTable, all, eventTable.insert)
}

// number gives events of some buckets their place in the log. The rows of the buckets are locked until the end of the transaction,
// so numbers have no gaps and grow in the order of the commits: a sink that has seen n has seen all up to n. The mark is drawn anew each
// time: what is written again on another server is another event.
func (t *tx) number(ctx context.Context, byBucket map[int16][]Event) (all []Event, err error) {
	n, mark := 0, drawn()
	next, err := t.takeNumbers(ctx, byBucket, mark)
	if err != nil {
		return nil, fmt.Errorf("number events: %w", err)
	}
	for _, events := range byBucket {
		n += len(events)
	}
	all = make([]Event, 0, n)
	for _, bucket := range slices.Sorted(maps.Keys(byBucket)) {
		events := byBucket[bucket]
		for i := range events {
			events[i].Bucket, events[i].Seq, events[i].Mark = bucket, next[bucket]-int64(len(events)-i), mark
		}
		all = append(all, events...)
	}
	return all, nil
}

// numberAll takes numbers in several buckets. It looks up and locks them one after the other, in their order.
const numberAll = `UPDATE buckets SET next_seq = buckets.next_seq + v.n, mark = $3 FROM unnest($1::smallint[], $2::bigint[]) v (bucket, n)
	WHERE buckets.bucket = v.bucket RETURNING buckets.bucket, buckets.next_seq`

// takeNumbers takes a number for each event, whose mark is given, and returns the one after them, by bucket.
func (t *tx) takeNumbers(ctx context.Context, events map[int16][]Event, mark int64) (next map[int16]int64, err error) {
	next = make(map[int16]int64, len(events))
	run := func(query string, args ...any) error {
		rows, err := t.rows(ctx, query, args...)
		return eachRow(rows, err, func(rows answer) error {
			var bucket int16
			var n int64
			err := rows.Scan(&bucket, &n)
			next[bucket] = n
			return err
		})
	}
	buckets := slices.Sorted(maps.Keys(events))
	if t.wide() && len(buckets) > 1 {
		counts := make([]int64, len(buckets))
		for i, b := range buckets {
			counts[i] = int64(len(events[b]))
		}
		return next, run(numberAll, buckets, counts, mark)
	}
	for _, b := range buckets {
		const one = `UPDATE buckets SET next_seq = next_seq + $2, mark = $3 WHERE bucket = $1 RETURNING bucket, next_seq`
		if err := run(one, b, int64(len(events[b])), mark); err != nil {
			return nil, err
		}
	}
	return next, nil
}
