package models

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// An event log is read backward in chunks of this many events, the first and the last.
const (
	firstChunk = 50
	lastChunk  = 5000
)

// ChangesQuery narrows Changes.
type ChangesQuery struct {
	Since Instant     // not older; required
	After EventCursor // only events after this one in the order newest first; zero: from the newest on
	Sites []int32     // none: all
	Kinds []EventKind // none: all
	Limit int         // at most so many, > 0

	Requisites bool // those of requisites, too, which are left out otherwise

	// Weight leaves out changes and refreshed copies of less significance, 0–1. Changes that were never weighed stay, and
	// so do other kinds of event.
	Weight float32
}

// Changes returns events, the newest first, at most q.Limit. For the next page set After to the last one's cursor.
//
// The log is ordered by (bucket, seq), and within a bucket times grow with seq but for what batches of visits that
// ended together may differ. So each bucket is read from its end backward, a chunk at a time, until a whole chunk is
// older than what is asked for: the cost is that of the events since q.Since, in memory twice those of q.Limit.
func (s *Store) Changes(ctx context.Context, q ChangesQuery) ([]Event, error) {
	var newest []Event
	for bucket := range int16(Buckets) {
		found, err := s.bucketChanges(ctx, bucket, q)
		if err != nil {
			return nil, fmt.Errorf("read changes: %w", err)
		}
		if newest = append(newest, found...); len(newest) > 2*q.Limit {
			newest = q.newest(newest)
		}
	}
	return q.newest(newest), nil
}

// newest orders events and cuts them to what is asked for.
func (q ChangesQuery) newest(events []Event) []Event {
	slices.SortFunc(events, newestFirst)
	return events[:min(len(events), q.Limit)]
}

// bucketChanges returns at most q.Limit of one bucket's events.
func (s *Store) bucketChanges(ctx context.Context, bucket int16, q ChangesQuery) ([]Event, error) {
	var kept []Event
	size := min(max(q.Limit, firstChunk), lastChunk)
	for seq := int64(math.MaxInt64); ; {
		chunk, err := s.eventsBefore(ctx, bucket, seq, size)
		if err != nil {
			return nil, err
		}
		fresh := false
		for _, e := range chunk {
			fresh = fresh || e.At >= q.Since
			if q.Matches(e) {
				kept = append(kept, e)
			}
		}
		if !fresh || len(kept) >= q.Limit || len(chunk) < size {
			return q.newest(kept), nil
		}
		seq, size = chunk[len(chunk)-1].Seq, min(2*size, lastChunk)
	}
}

// Matches tells whether an event is among those that the query asks for, however many these are.
func (q ChangesQuery) Matches(e Event) bool {
	return e.At >= q.Since && (q.Requisites || !e.Requisite) && (len(q.Sites) == 0 || slices.Contains(q.Sites, e.SiteID)) &&
		(len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Kind)) &&
		(q.After == EventCursor{} || q.After.compare(e.Cursor()) < 0) && q.heavy(e)
}

func (q ChangesQuery) heavy(e Event) bool {
	switch e.Kind {
	case EventChanged:
		return e.Significance >= q.Weight || e.Significance == 0 && e.Reasons == 0
	case EventRefreshed:
		return e.Significance >= q.Weight
	}
	return true
}

// Cursor is the event's place in the order newest first.
func (e Event) Cursor() EventCursor { return EventCursor{At: e.At, Bucket: e.Bucket, Seq: e.Seq} }

// compare is negative where c comes first, that is where it is newer.
func (c EventCursor) compare(other EventCursor) int {
	return cmp.Or(cmp.Compare(other.At, c.At), cmp.Compare(c.Bucket, other.Bucket), cmp.Compare(other.Seq, c.Seq))
}

func newestFirst(a, b Event) int { return a.Cursor().compare(b.Cursor()) }

// eventsBefore reads a chunk of a bucket's log backward from before seq. It reads the key.
func (s *Store) eventsBefore(ctx context.Context, bucket int16, seq int64, size int) ([]Event, error) {
	return eventTable.scan(s.rows(ctx, "SELECT "+eventTable.list()+` FROM events
		WHERE bucket = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`, bucket, seq, size))
}

// ChangeCounts counts the events since a moment by site and kind, with those of requisites or without. The cost is that of the events since
// then.
func (s *Store) ChangeCounts(ctx context.Context, since Instant, requisites bool) (map[int32]map[EventKind]int64, error) {
	counts := map[int32]map[EventKind]int64{}
	for bucket := range int16(Buckets) {
		if err := s.bucketCounts(ctx, bucket, since, requisites, counts); err != nil {
			return nil, fmt.Errorf("count changes: %w", err)
		}
	}
	return counts, nil
}

// bucketCounts adds one bucket's events, read backward as Changes does.
func (s *Store) bucketCounts(ctx context.Context, bucket int16, since Instant, requisites bool, counts map[int32]map[EventKind]int64) error {
	const query = "SELECT seq, at, site_id, kind, requisite FROM events WHERE bucket = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3"
	seq, size := int64(math.MaxInt64), firstChunk
	for {
		var at Instant
		var site int32
		var kind EventKind
		var requisite bool
		rows, fresh := 0, false
		for _, err := range s.scan(ctx, []any{&seq, &at, &site, &kind, &requisite}, query, bucket, seq, size) {
			if err != nil {
				return err
			}
			if rows++; at < since {
				continue
			}
			if fresh = true; requisite && !requisites {
				continue
			}
			if counts[site] == nil {
				counts[site] = map[EventKind]int64{}
			}
			counts[site][kind]++
		}
		if !fresh || rows < size {
			return nil
		}
		size = min(2*size, lastChunk)
	}
}
