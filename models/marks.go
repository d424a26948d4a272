package models

import (
	"context"
	"errors"
	"fmt"
)

// EventRef names an event of a bucket: by its number, and by the mark that its transaction drew. A server that takes the place of
// another one which it followed some way behind, or a file that is put in the place of a newer one, lacks the last events, and gives
// their numbers to other ones.
//
// Where the event of a ref is, all before it is as well: its transaction was committed once, behind all that. Events from before
// step 22 have the mark 0, and of those that were pruned only the newest has its mark still: of them the number alone tells. The zero EventRef is
// before the first.
type EventRef struct{ Seq, Mark int64 }

// Ref is the event's.
func (e Event) Ref() EventRef { return EventRef{e.Seq, e.Mark} }

// ErrOtherEvents says that the database does not have the events that cursors come from or shall move to: it went back behind them,
// or somebody else moved the cursors.
var ErrOtherEvents = errors.New("the database does not have these events or cursors: another server has taken its place, " +
	"an older state of it is back, or another process delivers")

// EventHeads is the newest event of each bucket that ever had one, pruned or not.
func (s *Store) EventHeads(ctx context.Context) (map[int16]EventRef, error) {
	heads := make(map[int16]EventRef)
	var bucket int16
	var next, mark int64
	for _, err := range s.scan(ctx, []any{&bucket, &next, &mark}, `SELECT bucket, next_seq, mark FROM buckets WHERE next_seq > 1`) {
		if err != nil {
			return nil, fmt.Errorf("read event heads: %w", err)
		}
		heads[bucket] = EventRef{next - 1, mark}
	}
	return heads, nil
}

// refAt is the event of a number, with the mark 0 where that was pruned.
func (s *Store) refAt(ctx context.Context, bucket int16, seq int64) (EventRef, error) {
	ref := EventRef{Seq: seq}
	// Index: the primary key.
	err := s.onShard(ctx, bucket, `SELECT mark FROM events WHERE bucket = $1 AND seq = $2`, []any{bucket, seq},
		func() { ref.Mark = 0 }, func(rows answer) error { return rows.Scan(&ref.Mark) })
	return ref, err
}

// SetCursors moves the cursors of a sink, by bucket, all or none: from numbers, or from wherever they are where from is nil. They may
// go back: that is a replay. It returns ErrOtherEvents where a cursor is not at its number in from, or this database does not have an
// event that it is to move to: what the numbers up to that are given to would never be delivered.
func (s *Store) SetCursors(ctx context.Context, sink string, from map[int16]int64, to map[int16]EventRef) error {
	err := s.inTx(ctx, func(t *tx) error {
		for bucket := range int16(Buckets) { // in order, so that no two processes wait for each other
			ref, ok := to[bucket]
			if !ok {
				continue
			}
			was := int64(-1)
			if from != nil {
				was = from[bucket]
			}
			n, err := t.exec(ctx, moveCursor, bucket, Clean(sink), ref.Seq, ref.Mark, was)
			if err == nil && n == 0 {
				err = fmt.Errorf("bucket %d, event %d: %w", bucket, ref.Seq, ErrOtherEvents)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("move cursors of sink %s: %w", sink, err)
	}
	return nil
}

// moveCursor moves the cursor of sink $2 in bucket $1 from $5, unless that is negative, to event $3 with the mark $4, if that is there. Where
// it was pruned, all sinks had it in this database. Indexes: the primary keys.
const moveCursor = `INSERT INTO sink_cursors (bucket, sink, seq) SELECT b.bucket, CAST($2 AS text), CAST($3 AS bigint) FROM buckets b
	WHERE b.bucket = $1 AND ($3 = 0 OR EXISTS (SELECT 1 FROM events e WHERE e.bucket = $1 AND e.seq = $3 AND e.mark = $4)
		OR b.next_seq > $3 AND NOT EXISTS (SELECT 1 FROM events e WHERE e.bucket = $1 AND e.seq <= $3))
	AND (CAST($5 AS bigint) < 0 OR $5 = COALESCE((SELECT c.seq FROM sink_cursors c WHERE c.bucket = $1 AND c.sink = $2), 0))
	ON CONFLICT (sink, bucket) DO UPDATE SET seq = excluded.seq WHERE $5 < 0 OR sink_cursors.seq = $5`
