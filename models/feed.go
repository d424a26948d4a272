package models

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// Place is how far somebody has read the event log: the number of the last event of each bucket. Numbers of a bucket have no gaps
// and become visible in their order, whoever commits at once, so that whoever has read up to a place has missed nothing before
// it. There is no order of all events that is as safe: their times are those of the visits, which commit in another order.
type Place struct {
	epoch uint32         // of the database: another one after it went back to a checkpoint
	first int16          // bucket to read first, so that none waits for ever
	seqs  [Buckets]int64 // by bucket; 0: before its first event
}

var (
	// ErrNoPlace is what ParsePlace gives for what is no Place's text, or not all of it.
	ErrNoPlace = errors.New("not a cursor, or not all of it")

	// ErrPlaceLost says that events after a place are not there any more, or that it is of another database or of what was there
	// before a checkpoint was restored: to go on from there would miss some.
	ErrPlaceLost = errors.New("events after this cursor are gone")
)

const placeForm = 1 // of String

// String is the place as text, which ParsePlace reads: letters, digits, "-" and "_", about four for each bucket that has events.
func (p Place) String() string {
	b := binary.BigEndian.AppendUint32([]byte{placeForm}, p.epoch)
	b = append(b, byte(p.first))
	gap := uint64(0)
	for _, seq := range p.seqs {
		if gap++; seq > 0 {
			b = binary.AppendUvarint(binary.AppendUvarint(b, gap), uint64(seq))
			gap = 0
		}
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// ParsePlace reads what String wrote. It returns ErrNoPlace for all else.
func ParsePlace(text string) (p Place, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	const head, tail = 6, 4
	if err != nil || len(b) < head+tail || b[0] != placeForm {
		return Place{}, ErrNoPlace
	}
	body, sum := b[:len(b)-tail], binary.BigEndian.Uint32(b[len(b)-tail:])
	if crc32.ChecksumIEEE(body) != sum {
		return Place{}, ErrNoPlace
	}
	p.epoch, p.first = binary.BigEndian.Uint32(body[1:]), int16(body[5])
	bucket := uint64(0)
	for body = body[head:]; len(body) > 0; {
		gap, n := binary.Uvarint(body)
		seq, m := binary.Uvarint(body[max(n, 0):])
		if n <= 0 || m <= 0 || gap == 0 || gap > Buckets-bucket || int64(seq) <= 0 {
			return Place{}, ErrNoPlace
		}
		bucket, body = bucket+gap, body[n+m:]
		p.seqs[bucket-1] = int64(seq)
	}
	return p, nil
}

// Newest is the place behind all events.
func (s *Store) Newest(ctx context.Context) (Place, error) {
	p, heads, err := s.anyPlace(ctx)
	for bucket, seq := range heads {
		p.seqs[bucket] = seq
	}
	return p, err
}

// Oldest is the place before the first event that is still there.
func (s *Store) Oldest(ctx context.Context) (Place, error) {
	p, heads, err := s.anyPlace(ctx)
	if err != nil {
		return p, err
	}
	for bucket, head := range heads {
		first, err := s.Events(ctx, bucket, 0, 1)
		if err != nil {
			return p, err
		}
		p.seqs[bucket] = head // all were pruned
		if len(first) > 0 {
			p.seqs[bucket] = first[0].Seq - 1
		}
	}
	return p, nil
}

// anyPlace is a place of this database with nothing read, and the numbers of the newest events.
func (s *Store) anyPlace(ctx context.Context) (p Place, heads map[int16]int64, err error) {
	restored, err := s.Meta(ctx, restoredKey)
	if err != nil {
		return p, nil, err
	}
	p.epoch = crc32.ChecksumIEEE([]byte(restored))
	heads, err = s.EventHeads(ctx)
	return p, heads, err
}

const (
	restoredKey = "restored"
	feedChunk   = 1000 // events read at a time
)

// NoteRestored says that the database went back to a checkpoint: the numbers of events since then are given again.
func (s *Store) NoteRestored(ctx context.Context, now time.Time) error {
	old, err := s.Meta(ctx, restoredKey)
	if err == nil {
		_, err = s.SetMeta(ctx, restoredKey, old, now.UTC().Format(time.RFC3339Nano))
	}
	return err
}

// Feed goes on in the event log after a place: at most q.Limit events, and the place behind them. Those of a page are in order; of
// those that q leaves out none comes later. Fewer than q.Limit: there are no more. It returns ErrPlaceLost where some would be
// missed.
func (s *Store) Feed(ctx context.Context, after Place, q ChangesQuery) (found []Event, at Place, err error) {
	here, heads, err := s.anyPlace(ctx)
	if err != nil {
		return nil, after, err
	}
	for bucket, seq := range after.seqs {
		if here.epoch != after.epoch || seq > heads[int16(bucket)] {
			return nil, after, fmt.Errorf("read on in the events: %w", ErrPlaceLost)
		}
	}
	at = after
	for i := range int16(Buckets) {
		bucket := (after.first + i) % Buckets
		for at.seqs[bucket] < heads[bucket] {
			chunk, err := s.Events(ctx, bucket, at.seqs[bucket], feedChunk)
			if err != nil {
				return nil, after, err
			}
			if len(chunk) == 0 || chunk[0].Seq != at.seqs[bucket]+1 {
				return nil, after, fmt.Errorf("read on in the events: %w", ErrPlaceLost)
			}
			for _, e := range chunk {
				if q.matches(e) {
					if len(found) == q.Limit {
						at.first = (bucket + 1) % Buckets
						return found, at, nil
					}
					found = append(found, e)
				}
				at.seqs[bucket] = e.Seq
			}
		}
	}
	return found, at, nil
}
