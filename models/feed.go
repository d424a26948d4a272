package models

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
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

	marks [Buckets]uint16 // of these events, see brief; 0: not known, the number alone is held against the log
}

var (
	// ErrNoCursor is what ParseFeedCursor gives for what is no FeedCursor's text, or not all of it.
	ErrNoCursor = errors.New("not a cursor, or not all of it")

	// ErrCursorLost says that events after a cursor are not there any more, or that it is of another database, of what was there
	// before a checkpoint was restored, or behind events that a server lacks which took another's place: to go on from there would
	// miss some.
	ErrCursorLost = errors.New("events after this cursor are gone, or it is of another state of the database")
)

// The forms of String, by the bits of its first byte. Each has the first, or the second in its place.
const (
	cursorForm = 1
	pagesForm  = 2 // has the place among the pages as well
	markedForm = 4 // has a mark after each number; else it is of a release that had none
)

// String is the cursor as text, which ParseFeedCursor reads: letters, digits, "-" and "_", about seven for each bucket that has events.
func (p FeedCursor) String() string {
	form := byte(cursorForm | markedForm)
	if p.pages.told {
		form = pagesForm | markedForm
	}
	b := binary.BigEndian.AppendUint32([]byte{form}, p.epoch)
	b = append(b, byte(p.first))
	if p.pages.told {
		b = p.pages.append(b)
	}
	gap := uint64(0)
	for bucket, seq := range p.seqs {
		if gap++; seq > 0 {
			b = binary.AppendUvarint(binary.AppendUvarint(b, gap), uint64(seq))
			b = binary.BigEndian.AppendUint16(b, p.marks[bucket])
			gap = 0
		}
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// ParseFeedCursor reads what String wrote. It returns ErrNoCursor for all else.
func ParseFeedCursor(text string) (p FeedCursor, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	const head, tail = 6, 4
	if err != nil || len(b) < head+tail || b[0]&^markedForm != cursorForm && b[0]&^markedForm != pagesForm {
		return FeedCursor{}, ErrNoCursor
	}
	body := b[:len(b)-tail]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(b[len(b)-tail:]) {
		return FeedCursor{}, ErrNoCursor
	}
	p.epoch, p.first = binary.BigEndian.Uint32(body[1:]), int16(body[5])
	body = body[head:]
	if b[0]&pagesForm != 0 {
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
		if b[0]&markedForm != 0 {
			if len(body) < 2 {
				return FeedCursor{}, ErrNoCursor
			}
			p.marks[bucket-1], body = binary.BigEndian.Uint16(body), body[2:]
		}
	}
	return p, nil
}

// Newest is the cursor behind all events.
func (s *Store) Newest(ctx context.Context) (FeedCursor, error) {
	p, heads, err := s.unread(ctx)
	for bucket, head := range heads {
		p.move(bucket, head)
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
		if len(first) > 0 { // else all were pruned
			head = EventRef{Seq: first[0].Seq - 1}
		}
		p.move(bucket, head)
	}
	return p, nil
}

// unread is one of this database with nothing read, and the newest events.
func (s *Store) unread(ctx context.Context) (p FeedCursor, heads map[int16]EventRef, err error) {
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

// LogName tells this database's event log from all others, and from what it was before a checkpoint was restored: with it the bucket,
// the number and the mark name an event for ever. It is letters, digits and "-".
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
func (e Event) ID(log string) string {
	id := fmt.Sprintf("%s-%d-%d", log, e.Bucket, e.Seq)
	if e.Mark == 0 {
		return id
	}
	return id + "-" + strconv.FormatInt(e.Mark, 36)
}

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
