package models

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// changesChunk is how many events are read at a time.
const changesChunk = 500

// ChangesQuery narrows Changes.
type ChangesQuery struct {
	Since Instant     // not older; required
	After EventCursor // only events after this one in the order newest first; zero: from the newest on
	Site  int32       // 0: all
	Kinds []EventKind // none: all
	Limit int         // at most so many, > 0
}

// Changes returns events, the newest first, at most q.Limit. For the next page set After to the last one's cursor.
//
// The log is ordered by (bucket, seq), and within a bucket times grow with seq but for what batches of visits that
// ended together may differ. So each bucket is read from its end backward, a chunk at a time, until a whole chunk is
// older than what is asked for: the cost is that of the events since q.Since, in memory those of q.Limit.
func (s *Store) Changes(ctx context.Context, q ChangesQuery) ([]Event, error) {
	var newest []Event
	for bucket := range int16(Buckets) {
		found, err := s.bucketChanges(ctx, bucket, q)
		if err != nil {
			return nil, fmt.Errorf("read changes: %w", err)
		}
		newest = append(newest, found...)
		slices.SortFunc(newest, newestFirst)
		newest = newest[:min(len(newest), q.Limit)]
	}
	return newest, nil
}

// bucketChanges returns at most q.Limit of one bucket's events.
func (s *Store) bucketChanges(ctx context.Context, bucket int16, q ChangesQuery) ([]Event, error) {
	var kept []Event
	for seq := int64(0); ; {
		chunk, err := s.eventsBefore(ctx, bucket, seq)
		if err != nil {
			return nil, err
		}
		fresh := false
		for _, e := range chunk {
			fresh = fresh || e.At >= q.Since
			if q.matches(e) {
				kept = append(kept, e)
			}
		}
		slices.SortFunc(kept, newestFirst)
		full := len(kept) >= q.Limit
		kept = kept[:min(len(kept), q.Limit)]
		if !fresh || full || len(chunk) < changesChunk {
			return kept, nil
		}
		seq = chunk[len(chunk)-1].Seq
	}
}

func (q ChangesQuery) matches(e Event) bool {
	return e.At >= q.Since && (q.Site == 0 || e.SiteID == q.Site) &&
		(len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Kind)) &&
		(q.After == EventCursor{} || q.After.compare(e.Cursor()) < 0)
}

// Cursor is the event's place in the order newest first.
func (e Event) Cursor() EventCursor { return EventCursor{At: e.At, Bucket: e.Bucket, Seq: e.Seq} }

// compare is negative where c comes first, that is where it is newer.
func (c EventCursor) compare(other EventCursor) int {
	return cmp.Or(cmp.Compare(other.At, c.At), cmp.Compare(c.Bucket, other.Bucket), cmp.Compare(other.Seq, c.Seq))
}

func newestFirst(a, b Event) int { return a.Cursor().compare(b.Cursor()) }

// eventsBefore reads a chunk of a bucket's log backward from before seq (0: from its end). It reads the key.
func (s *Store) eventsBefore(ctx context.Context, bucket int16, seq int64) ([]Event, error) {
	if seq == 0 {
		seq = math.MaxInt64
	}
	return eventTable.scan(s.rows(ctx, "SELECT "+eventTable.list()+` FROM events
		WHERE bucket = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`, bucket, seq, changesChunk))
}

// ChangeCounts counts the events since a moment by site and kind. The cost is that of the events since then.
func (s *Store) ChangeCounts(ctx context.Context, since Instant) (map[int32]map[EventKind]int64, error) {
	counts := map[int32]map[EventKind]int64{}
	for bucket := range int16(Buckets) {
		for seq, fresh := int64(0), true; fresh; {
			chunk, err := s.eventsBefore(ctx, bucket, seq)
			if err != nil {
				return nil, fmt.Errorf("count changes: %w", err)
			}
			fresh = false
			for _, e := range chunk {
				if e.At < since {
					continue
				}
				fresh = len(chunk) == changesChunk
				if counts[e.SiteID] == nil {
					counts[e.SiteID] = map[EventKind]int64{}
				}
				counts[e.SiteID][e.Kind]++
			}
			if len(chunk) > 0 {
				seq = chunk[len(chunk)-1].Seq
			}
		}
	}
	return counts, nil
}
