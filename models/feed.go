package models

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// FeedCursor is how far somebody has read the event log: the number of the last event of each bucket. Numbers of a bucket have no gaps
// and become visible in their order, whoever commits at once, so that whoever has read up to a cursor has missed nothing before
// it. There is no order of all events that is as safe: their times are those of the visits, which commit in another order.
type FeedCursor struct {
	epoch uint32         // of the database: another one after it went back to a checkpoint
	first int16          // bucket to read first, so that none waits for ever
	seqs  [Buckets]int64 // by bucket; 0: before its first event
	pages feedPages      // to be told before them
}

var (
	// ErrNoCursor is what ParseFeedCursor gives for what is no FeedCursor's text, or not all of it.
	ErrNoCursor = errors.New("not a cursor, or not all of it")

	// ErrCursorLost says that events after a cursor are not there any more, or that it is of another database or of what was there
	// before a checkpoint was restored: to go on from there would miss some.
	ErrCursorLost = errors.New("events after this cursor are gone")
)

// The forms of String, by its first byte.
const (
	cursorForm = 1
	pagesForm  = 2 // has the place among the pages as well
)

// String is the cursor as text, which ParseFeedCursor reads: letters, digits, "-" and "_", about four for each bucket that has events.
func (p FeedCursor) String() string {
	form := byte(cursorForm)
	if p.pages.told {
		form = pagesForm
	}
	b := binary.BigEndian.AppendUint32([]byte{form}, p.epoch)
	b = append(b, byte(p.first))
	if p.pages.told {
		b = p.pages.append(b)
	}
	gap := uint64(0)
	for _, seq := range p.seqs {
		if gap++; seq > 0 {
			b = binary.AppendUvarint(binary.AppendUvarint(b, gap), uint64(seq))
			gap = 0
		}
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// ParseFeedCursor reads what String wrote. It returns ErrNoCursor for all else.
func ParseFeedCursor(text string) (p FeedCursor, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	const head, tail = 6, 4
	if err != nil || len(b) < head+tail || b[0] != cursorForm && b[0] != pagesForm {
		return FeedCursor{}, ErrNoCursor
	}
	body, sum := b[:len(b)-tail], binary.BigEndian.Uint32(b[len(b)-tail:])
	if crc32.ChecksumIEEE(body) != sum {
		return FeedCursor{}, ErrNoCursor
	}
	p.epoch, p.first = binary.BigEndian.Uint32(body[1:]), int16(body[5])
	if body = body[head:]; b[0] == pagesForm {
		if p.pages, body, err = parsePages(body); err != nil {
			return FeedCursor{}, err
		}
	}
	for bucket := uint64(0); len(body) > 0; {
		gap, n := binary.Uvarint(body)
		seq, m := binary.Uvarint(body[max(n, 0):])
		if n <= 0 || m <= 0 || gap == 0 || gap > Buckets-bucket || int64(seq) <= 0 {
			return FeedCursor{}, ErrNoCursor
		}
		bucket, body = bucket+gap, body[n+m:]
		p.seqs[bucket-1] = int64(seq)
	}
	return p, nil
}

// Newest is the cursor behind all events.
func (s *Store) Newest(ctx context.Context) (FeedCursor, error) {
	p, heads, err := s.unread(ctx)
	for bucket, seq := range heads {
		p.seqs[bucket] = seq
	}
	return p, err
}

// Oldest is the cursor before the first event that is still there.
func (s *Store) Oldest(ctx context.Context) (FeedCursor, error) {
	p, heads, err := s.unread(ctx)
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

// unread is one of this database with nothing read, and the numbers of the newest events.
func (s *Store) unread(ctx context.Context) (p FeedCursor, heads map[int16]int64, err error) {
	if p.epoch, err = s.epoch(ctx); err != nil {
		return p, nil, err
	}
	heads, err = s.EventHeads(ctx)
	return p, heads, err
}

// epoch is another one after each time that the database went back to a checkpoint.
func (s *Store) epoch(ctx context.Context) (uint32, error) {
	restored, err := s.Restored(ctx)
	return crc32.ChecksumIEEE([]byte(restored)), err
}

// LogName tells this database's event log from all others, and from what it was before a checkpoint was restored: with it the bucket
// and the number name an event for ever. It is letters, digits and "-".
func (s *Store) LogName(ctx context.Context) (string, error) {
	name, err := s.Meta(ctx, logKey)
	if err == nil && name == "" {
		name, err = s.SetMeta(ctx, logKey, "", rand.Text()[:16])
	}
	if err != nil {
		return "", err
	}
	epoch, err := s.epoch(ctx)
	return fmt.Sprintf("%s-%x", name, epoch), err
}

// ID names an event for ever, in the log of that name: letters, digits and "-".
func (e Event) ID(log string) string { return fmt.Sprintf("%s-%d-%d", log, e.Bucket, e.Seq) }

const (
	restoredKey = "restored"
	logKey      = "log"
	feedEvents  = 1000 // looked at at a time
)

// NoteRestored says that the database went back to a checkpoint: the numbers of events since then are given again.
func (s *Store) NoteRestored(ctx context.Context, now time.Time) error {
	old, err := s.Meta(ctx, restoredKey)
	if err == nil {
		_, err = s.SetMeta(ctx, restoredKey, old, now.UTC().Format(time.RFC3339Nano))
	}
	return err
}

// Restored tells when the database went back to a checkpoint last, as a text that is another one each time; "": it never did.
func (s *Store) Restored(ctx context.Context) (string, error) { return s.Meta(ctx, restoredKey) }

// Feed goes on in the event log after a cursor, after that of All with the pages first: at most q.Limit events, and the cursor
// behind them. Those of a page are in order; of those that q leaves out none comes later. Fewer than q.Limit: there are no more. It
// returns ErrCursorLost where some would be missed.
func (s *Store) Feed(ctx context.Context, after FeedCursor, q ChangesQuery) (found []Event, at FeedCursor, err error) {
	here, heads, err := s.unread(ctx)
	if err != nil {
		return nil, after, err
	}
	for bucket, seq := range after.seqs {
		if here.epoch != after.epoch || seq > heads[int16(bucket)] {
			return nil, after, fmt.Errorf("read on in the events: %w", ErrCursorLost)
		}
	}
	at = after
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
		for at.seqs[bucket] < heads[bucket] {
			chunk, err := s.feedChunk(ctx, bucket, at.seqs[bucket], min(heads[bucket], at.seqs[bucket]+feedEvents), q)
			if err != nil {
				return nil, after, err
			}
			if len(chunk) == 0 || chunk[0].Seq != at.seqs[bucket]+1 {
				return nil, after, fmt.Errorf("read on in the events: %w", ErrCursorLost)
			}
			for _, e := range chunk {
				if q.Matches(e) {
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

// feedChunk reads what a query may ask for of a bucket's log above one number up to another, in order; the first and the last of all these in
// any case, by which it is known that none is missing, and where to go on.
func (s *Store) feedChunk(ctx context.Context, bucket int16, above, upTo int64, q ChangesQuery) ([]Event, error) {
	query, args := q.within(bucket, above, upTo)
	return s.readEvents(ctx, bucket, query, args)
}
