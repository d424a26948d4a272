package models

import (
	"context"
	"fmt"
	"math"
)

// Feed goes on in the event log after a cursor, after that of All with the pages first: at most q.Limit events, and the cursor
// behind them. Those of a page are in order; of those that q leaves out none comes later. Fewer than q.Limit: there are no more. It
// returns ErrCursorLost where some would be missed.
func (s *Store) Feed(ctx context.Context, after FeedCursor, q ChangesQuery) (found []Event, at FeedCursor, err error) {
	here, heads, err := s.unread(ctx)
	if err != nil {
		return nil, after, err
	}
	at = after
	if err := at.hold(here.epoch, heads); err != nil {
		return nil, after, fmt.Errorf("read on in the events: %w", err)
	}
	if at.pages.told {
		if found, err = s.tellPages(ctx, &at.pages, q); err != nil {
			return nil, after, err
		}
		if at.pages.told { // the limit came first
			return found, at, nil
		}
	}
	for i := range int16(Buckets) {
		bucket := (after.first + i) % Buckets
		for at.seqs[bucket] < heads[bucket].Seq {
			chunk, err := s.feedChunk(ctx, &at, bucket, min(heads[bucket].Seq, at.seqs[bucket]+feedEvents), q)
			if err != nil {
				return nil, after, fmt.Errorf("read on in the events: %w", err)
			}
			for _, e := range chunk {
				if q.Matches(e) {
					if len(found) == q.Limit {
						at.first = (bucket + 1) % Buckets
						return found, at, nil
					}
					found = append(found, e)
				}
				at.move(bucket, e.Ref())
			}
		}
	}
	return found, at, nil
}

// hold holds the cursor against the newest events. It returns ErrCursorLost where it is not behind what the log has. Of a bucket that has
// newer events this is not known until its log is read on.
func (p *FeedCursor) hold(epoch uint32, heads map[int16]EventRef) error {
	for i, seq := range p.seqs {
		head := heads[int16(i)]
		if p.epoch != epoch || seq > head.Seq || seq == head.Seq && !p.fits(head, int16(i)) {
			return ErrCursorLost
		}
		if seq == head.Seq {
			p.marks[i] = brief(head.Mark)
		}
	}
	return nil
}

// fits tells whether an event that has the number of the one that the cursor is behind is that one.
func (p *FeedCursor) fits(ref EventRef, bucket int16) bool {
	return p.marks[bucket] == 0 || p.marks[bucket] == brief(ref.Mark)
}

// move moves the cursor in a bucket.
func (p *FeedCursor) move(bucket int16, to EventRef) {
	p.seqs[bucket], p.marks[bucket] = to.Seq, brief(to.Mark)
}

// brief is a mark in a cursor, short since a cursor may have one for each bucket: another one is the same once in 65,535 times.
func brief(mark int64) uint16 {
	if mark == 0 {
		return 0
	}
	return uint16(mark%math.MaxUint16) + 1
}

// feedChunk reads what a query may ask for of a bucket's log behind a cursor up to a number, in order; the first and the last of all these
// in any case, by which it is known that none is missing, and where to go on. It returns ErrCursorLost where some are missing. The event
// that the cursor is behind is read as well, to be held against it.
func (s *Store) feedChunk(ctx context.Context, p *FeedCursor, bucket int16, upTo int64, q ChangesQuery) ([]Event, error) {
	seq := p.seqs[bucket]
	query, args := q.within(bucket, seq-1, upTo)
	chunk, err := s.readEvents(ctx, bucket, query, args)
	if err != nil {
		return nil, err
	}
	if len(chunk) > 0 && chunk[0].Seq == seq { // else it was pruned
		if !p.fits(chunk[0].Ref(), bucket) {
			return nil, ErrCursorLost
		}
		chunk = chunk[1:]
	}
	if len(chunk) == 0 || chunk[0].Seq != seq+1 {
		return nil, ErrCursorLost
	}
	return chunk, nil
}
