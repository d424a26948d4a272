package models

import (
	"context"
	"fmt"
)

// SeenChange is a change of a page that a visit found.
type SeenChange struct {
	SiteID              int32
	At                  Instant // the visit
	NotBefore, NotAfter Instant // of Event

	// What all visits to the page showed by now, as far as its rate takes it; zero where it was removed.
	Records, Changes   int32
	FirstAt, VisitedAt Instant
}

// SeenChanges passes over the changes that visits found after a cursor, or with the zero cursor over all that are kept, but for
// those before a moment; of several buckets in no order. It returns the cursor behind them, and ErrCursorLost where this is not
// the database that the cursor is of, or it went back to a checkpoint since.
//
// Each bucket is read from its end backward as in Changes, so the cost is that of the events after the cursor and since then,
// whatever else is kept. Between, if any, is called between chunks, so that the caller rests there or ends the reading.
func (s *Store) SeenChanges(ctx context.Context, after FeedCursor, since Instant, between func(context.Context) error,
	each func(SeenChange)) (FeedCursor, error) {
	at, heads, err := s.unread(ctx)
	if err != nil {
		return after, err
	}
	if after != (FeedCursor{}) {
		if err := after.hold(at.epoch, heads); err != nil {
			return after, fmt.Errorf("read seen changes: %w", err)
		}
	}
	for bucket := range int16(Buckets) {
		read, head := after.seqs[bucket], heads[bucket]
		if at.move(bucket, head); read == head.Seq {
			continue
		}
		ref, err := s.refAt(ctx, bucket, read)
		if err == nil && ref.Mark != 0 && !after.fits(ref, bucket) { // else it was pruned
			err = ErrCursorLost
		}
		if err == nil {
			err = s.bucketSeen(ctx, bucket, head.Seq, read, since, between, each)
		}
		if err != nil {
			return after, fmt.Errorf("read seen changes: %w", err)
		}
	}
	return at, nil
}

// bucketSeen passes over one bucket's events up to one and after another.
func (s *Store) bucketSeen(ctx context.Context, bucket int16, upTo, after int64, since Instant, between func(context.Context) error,
	each func(SeenChange)) error {
	// Indexes: the primary keys, that of events backward and that of pages once a change. Where most of a bucket's events are asked for
	// and it has no more pages than events, a plan for these arguments reads both at once, by the same keys.
	query := fmt.Sprintf(`SELECT e.seq, e.at, e.kind, e.site_id, e.not_before, e.not_after,
		COALESCE(p.records, 0), COALESCE(p.changes, 0), COALESCE(p.first_at, 0), COALESCE(p.visited_at, 0)
		FROM events e LEFT JOIN pages p ON p.bucket = e.bucket AND p.id = e.page_id AND e.kind = %d
		WHERE e.bucket = $1 AND e.seq <= $2 AND e.seq > $3 ORDER BY e.seq DESC LIMIT $4`, EventChanged)
	for size := firstChunk; ; size = min(2*size, lastChunk) {
		var seq int64
		var kind EventKind
		var c SeenChange
		into := []any{&seq, &c.At, &kind, &c.SiteID, &c.NotBefore, &c.NotAfter, &c.Records, &c.Changes, &c.FirstAt, &c.VisitedAt}
		rows, fresh := 0, false
		for _, err := range s.scan(ctx, into, query, bucket, upTo, after, size) {
			if err != nil {
				return err
			}
			if rows++; c.At < since {
				continue
			}
			if fresh = true; kind == EventChanged {
				each(c)
			}
		}
		if !fresh || rows < size {
			return nil
		}
		if upTo = seq - 1; between != nil {
			if err := between(ctx); err != nil {
				return err
			}
		}
	}
}
