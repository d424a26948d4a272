package models

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Events reads at most limit events of a bucket that come after a number, in order. That of a page that is back, or
// that became a duplicate or is none any more, names the record of the copy that there is, unless there is none.
func (s *Store) Events(ctx context.Context, bucket int16, after int64, limit int) ([]Event, error) {
	// Index: the primary key.
	return s.readEvents(ctx, bucket, `SELECT `+eventTable.list()+` FROM events
		WHERE bucket = $1 AND seq > $2 ORDER BY seq LIMIT $3`, []any{bucket, after, limit})
}

// readEvents reads events of a bucket, with the records of copies that there were before (Events).
func (s *Store) readEvents(ctx context.Context, bucket int16, query string, args []any) ([]Event, error) {
	var events []Event
	var event Event
	read := eventTable.reader(&event)
	err := s.onShard(ctx, bucket, query, args, func() { events = nil }, func(rows answer) error {
		err := read(rows)
		events = append(events, event)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	for i := range events {
		if e := &events[i]; e.ofCopyBefore() && e.Record == (Record{}) { // rare: one row each
			if e.Record, err = s.recordOf(ctx, e); err != nil {
				return nil, fmt.Errorf("read events: %w", err)
			}
		}
	}
	return events, nil
}

// ofCopyBefore tells whether an event is of the copy that there was before its visit.
func (e *Event) ofCopyBefore() bool {
	return e.Kind == EventRestored || e.Kind == EventRefreshed && e.Previous == e.Version
}

// recordOf is where the body of an event's version lies, the zero Record where none was kept.
func (s *Store) recordOf(ctx context.Context, e *Event) (Record, error) {
	v, err := s.Version(ctx, e.Bucket, e.PageID, e.Version)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Record{}, err
	}
	return v.Record, nil
}

// News lists the buckets with events that a sink has not delivered, and those where its cursor is ahead of them. It reads one row a
// bucket, no event.
func (s *Store) News(ctx context.Context, sink string) ([]int16, error) {
	var buckets []int16
	err := s.allShards(ctx, `SELECT b.bucket FROM buckets b
		LEFT JOIN sink_cursors c ON c.sink = $1 AND c.bucket = b.bucket
		WHERE b.next_seq <> COALESCE(c.seq, 0) + 1`, []any{Clean(sink)}, func() { buckets = nil }, func(rows answer) error {
		var b int16
		err := rows.Scan(&b)
		buckets = append(buckets, b)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find news for sink %s: %w", sink, err)
	}
	slices.Sort(buckets)
	return buckets, nil
}

// Cursor is the number of the last event of a bucket that a sink has delivered; 0: none.
func (s *Store) Cursor(ctx context.Context, sink string, bucket int16) (int64, error) {
	var seq int64
	// Index: the primary key.
	err := s.onShard(ctx, bucket, `SELECT seq FROM sink_cursors WHERE sink = $1 AND bucket = $2`, []any{Clean(sink), bucket},
		func() { seq = 0 }, func(rows answer) error { return rows.Scan(&seq) })
	if err != nil {
		return 0, fmt.Errorf("cursor of sink %s: %w", sink, err)
	}
	return seq, nil
}

// PruneEvents removes the events of each bucket that come before the first that is not older than a moment or that one of the
// sinks has not delivered, at most slice in a transaction, and returns how many. So what is left has no gap, though the times of a
// bucket's events are not in order where visits overtook each other or the clock stepped back. A sink that has no cursor in a bucket has
// delivered nothing of it.
func (s *Store) PruneEvents(ctx context.Context, before time.Time, sinks []string, slice int) (int64, error) {
	var total int64
	for bucket := range int16(Buckets) {
		upTo, err := s.oldEvents(ctx, bucket, before)
		if err != nil {
			return total, fmt.Errorf("prune events: %w", err)
		}
		for _, sink := range sinks {
			seq, err := s.Cursor(ctx, sink, bucket)
			if err != nil {
				return total, err
			}
			upTo = min(upTo, seq)
		}
		// Index: the primary key.
		n, err := s.sweep(ctx, slice, `DELETE FROM events WHERE bucket = $1 AND seq IN (SELECT seq FROM events
			WHERE bucket = $1 AND seq <= $2 ORDER BY seq LIMIT $3)`, bucket, upTo, slice)
		if total += n; err == nil {
			err = s.forgetRemoved(ctx, bucket, upTo)
		}
		if err != nil {
			return total, fmt.Errorf("prune events: %w", err)
		}
	}
	return total, nil
}

// oldEvents is the number up to which all events of a bucket are older than a moment. What comes after this is not among them.
func (s *Store) oldEvents(ctx context.Context, bucket int16, before time.Time) (upTo int64, err error) {
	// Index: the primary key, from its beginning: what is read is what is removed then.
	rows, err := s.rows(ctx, `SELECT COALESCE((SELECT seq FROM events WHERE bucket = $1 AND at >= $2 ORDER BY seq LIMIT 1), next_seq) - 1
		FROM buckets WHERE bucket = $1`, bucket, int64(At(before)))
	err = eachRow(rows, err, func(rows answer) error { return rows.Scan(&upTo) })
	return upTo, err
}

// PruneVisits removes history older than a moment, page by page in transactions that look at about slice rows each, and
// returns how many it removed. The last row of each page stays, so that one sees how its last visit went however long ago
// that was. It passes once over the history, and nobody waits for more than one slice.
func (s *Store) PruneVisits(ctx context.Context, before time.Time, slice int) (int64, error) {
	var total int64
	for bucket := range int16(Buckets) {
		for after := beforeAll; after < afterAll; {
			upTo, err := s.sliceEnd(ctx, "visits", bucket, after, slice)
			var n int64
			if err == nil {
				n, err = s.pruneSlice(ctx, bucket, after, upTo, At(before))
			}
			if total += n; err != nil {
				return total, fmt.Errorf("prune visits: %w", err)
			}
			after = upTo
		}
	}
	return total, nil
}

// beforeAll and afterAll are before the first page of a bucket and behind the last.
const (
	beforeAll = int64(math.MinInt64)
	afterAll  = int64(math.MaxInt64)
)

// sliceEnd is the page that ends a slice of a bucket's history, visits or versions, behind another page: the last of all where
// there are fewer rows.
func (s *Store) sliceEnd(ctx context.Context, table string, bucket int16, after int64, slice int) (int64, error) {
	// Index: the primary key.
	rows, err := s.rows(ctx, `SELECT page_id FROM `+table+` WHERE bucket = $1 AND page_id > $2 ORDER BY page_id, number LIMIT 1 OFFSET $3`,
		bucket, after, slice)
	if err != nil {
		return 0, err
	}
	ids, err := scanIDs(rows)
	if err != nil || len(ids) == 0 {
		return afterAll, err
	}
	return ids[0], nil
}

func (s *Store) pruneSlice(ctx context.Context, bucket int16, after, upTo int64, before Instant) (n int64, err error) {
	err = s.inTx(ctx, func(t *tx) error {
		// Index: the primary key, for the slice and for each page's last row.
		n, err = t.exec(ctx, `DELETE FROM visits WHERE bucket = $1 AND page_id > $2 AND page_id <= $3 AND at < $4
			AND number < (SELECT MAX(w.number) FROM visits w WHERE w.bucket = $1 AND w.page_id = visits.page_id)`,
			bucket, after, upTo, int64(before))
		return err
	})
	return n, err
}

// sweep runs a deletion until it removes less than a slice.
func (s *Store) sweep(ctx context.Context, slice int, query string, args ...any) (int64, error) {
	var total int64
	for {
		var n int64
		err := s.inTx(ctx, func(t *tx) error {
			var err error
			n, err = t.exec(ctx, query, args...)
			return err
		})
		if total += n; err != nil || n < int64(slice) {
			return total, err
		}
	}
}
