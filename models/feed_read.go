package models

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
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
	behind, err := s.behind(ctx, &at, here.epoch, heads)
	if err != nil {
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
			chunk, err := s.feedChunk(ctx, bucket, behind[bucket], min(heads[bucket].Seq, at.seqs[bucket]+feedEvents), q)
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
				at.move(bucket, behind[bucket], e.Ref())
				behind[bucket] = e.Ref()
			}
		}
	}
	return found, at, nil
}

// behind is the events that a cursor is behind, by bucket. It returns ErrCursorLost where the log does not have them.
func (s *Store) behind(ctx context.Context, p *FeedCursor, epoch uint32, heads map[int16]EventRef) (refs [Buckets]EventRef, err error) {
	held := FeedCursor{epoch: epoch, summed: true}
	for i, seq := range p.seqs {
		bucket := int16(i)
		if refs[i].Seq = seq; seq == heads[bucket].Seq {
			refs[i] = heads[bucket]
		} else if seq > 0 && p.epoch == epoch && seq < heads[bucket].Seq {
			if refs[i], err = s.refAt(ctx, bucket, seq); err != nil {
				return refs, err
			}
		}
		held.move(bucket, EventRef{}, refs[i])
		if seq > heads[bucket].Seq {
			return refs, ErrCursorLost
		}
	}
	if p.epoch != epoch || p.summed && p.sum != held.sum {
		return refs, ErrCursorLost
	}
	p.sum, p.summed = held.sum, true
	return refs, nil
}

// move moves the cursor in a bucket.
func (p *FeedCursor) move(bucket int16, from, to EventRef) {
	p.sum += stamp(bucket, to) - stamp(bucket, from)
	p.seqs[bucket] = to.Seq
}

// stamp is what an event adds to the sum of a cursor that is behind it; 0 for none.
func stamp(bucket int16, ref EventRef) uint64 {
	if ref.Seq == 0 {
		return 0
	}
	var b [18]byte
	binary.BigEndian.PutUint16(b[:], uint16(bucket))
	binary.BigEndian.PutUint64(b[2:], uint64(ref.Seq))
	binary.BigEndian.PutUint64(b[10:], uint64(ref.Mark))
	sum := fnv.New64a()
	sum.Write(b[:])
	return sum.Sum64()
}

// feedChunk reads what a query may ask for of a bucket's log behind one event up to a number, in order; the first and the last of all these
// in any case, by which it is known that none is missing, and where to go on. It returns ErrCursorLost where some are missing. The event
// itself is read as well: since it was held against the cursor, another server may have taken the place of this one.
func (s *Store) feedChunk(ctx context.Context, bucket int16, behind EventRef, upTo int64, q ChangesQuery) ([]Event, error) {
	query, args := q.within(bucket, behind.Seq-1, upTo)
	chunk, err := s.readEvents(ctx, bucket, query, args)
	if err != nil {
		return nil, err
	}
	if len(chunk) > 0 && chunk[0].Seq == behind.Seq { // else it was pruned
		if chunk[0].Mark != behind.Mark {
			return nil, ErrCursorLost
		}
		chunk = chunk[1:]
	}
	if len(chunk) == 0 || chunk[0].Seq != behind.Seq+1 {
		return nil, ErrCursorLost
	}
	return chunk, nil
}
