package models

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
)

// feedPages is the place of a FeedCursor among the pages that are told as they are, before events are.
type feedPages struct {
	told   bool  // they are; else all were, or none was asked for
	bucket int16 // the one under way
	after  int64 // the last page of it that was told; -1: none
	events int16 // told of the page with the number behind that, where it has more of them
}

// All is the cursor before every page as it is now (Current), and then before what comes: where somebody begins who has nothing, or
// has lost their cursor.
func (s *Store) All(ctx context.Context) (FeedCursor, error) {
	p, err := s.Newest(ctx)
	p.pages = feedPages{told: true, after: -1}
	return p, err
}

func (f feedPages) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(f.bucket))
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(f.after+1)), uint64(f.events))
}

// parsePages reads what append wrote, and returns what follows it.
func parsePages(b []byte) (f feedPages, rest []byte, err error) {
	var numbers [3]uint64
	for i := range numbers {
		var n int
		if numbers[i], n = binary.Uvarint(b); n <= 0 {
			return f, nil, ErrNoCursor
		}
		b = b[n:]
	}
	if numbers[0] >= Buckets || numbers[1] > math.MaxInt64 || numbers[2] > math.MaxInt8 {
		return f, nil, ErrNoCursor
	}
	return feedPages{told: true, bucket: int16(numbers[0]), after: int64(numbers[1]) - 1, events: int16(numbers[2])}, b, nil
}

// tellPages goes on with the pages as Current tells them, at most q.Limit events. What changes meanwhile comes again as an event.
func (s *Store) tellPages(ctx context.Context, at *feedPages, q ChangesQuery) (found []Event, err error) {
	size := min(max(q.Limit, firstChunk), currentRows)
	for at.bucket < Buckets {
		pages, versions, err := s.currentSlice(ctx, at.bucket, at.after, q, size)
		if err != nil {
			return nil, fmt.Errorf("read current pages: %w", err)
		}
		for i := range pages {
			var all bool
			if found, all = at.tell(found, pages[i].ID, currentEvents(pages[i], versions[i]), q); !all {
				return found, nil
			}
		}
		if len(pages) < size {
			at.bucket, at.after = at.bucket+1, -1
		}
	}
	*at = feedPages{}
	return found, nil
}

// tell adds the events of a page, and says whether there was room for all of them.
func (f *feedPages) tell(found []Event, page int64, events []Event, q ChangesQuery) (more []Event, all bool) {
	next := 0
	if f.events > 0 && page == f.after+1 { // or it is gone meanwhile, and this is another one
		next = int(f.events)
	}
	for i := next; i < len(events); i++ {
		if !q.Matches(events[i]) {
			continue
		}
		if len(found) == q.Limit {
			if f.events = int16(i); i > 0 {
				f.after = page - 1
			}
			return found, false
		}
		found = append(found, events[i])
	}
	f.after, f.events = page, 0
	return found, true
}
