package export

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recrawld/archive"
	"recrawld/internal/sorter"
	"recrawld/models"
)

// found is a capture with its records, once they were read.
type found struct {
	capture
	digest models.Digest
	body   archive.Stored
	head   archive.Stored // its own record; the body's where that is not known
	date   time.Time      // when the request was sent
	place  models.Record  // of its own record: the body's or a revisit record; zero: it is not known
	first  bool           // no other capture of the body was taken before
}

// original tells whether the capture's own record is the one that has the body.
func (f *found) original() bool { return f.place == f.capture.body }

// bodies reads each body once, for all that was captured of it.
type bodies struct {
	*Exporter
	session *archive.Session
	sum     Summary
	missed  func(url string) error // told of each version that cannot be had; nil: nobody

	at     models.Record // of the body that was read last
	body   archive.Stored
	digest models.Digest
	bad    error // that it cannot be had
	loss   Loss  // the versions that this costs
	taken  int64 // captures of it
	owned  bool  // one of them was the answer that it came with
}

func (e *Exporter) newBodies() *bodies {
	return &bodies{Exporter: e, session: e.o.Archive.NewSession()}
}

// each calls take for all captures in the order of their bodies' places: of those of one body first the one whose own record has it,
// where that was selected. An error of take ends it.
func (b *bodies) each(ctx context.Context, captures *sorter.Sorter, take func(found) error) (err error) {
	defer func() { err = errors.Join(err, b.session.Close()) }()
	for entry, err := range captures.All() {
		if err != nil {
			return err
		}
		c, err := readCapture(entry)
		if err != nil {
			return err
		}
		if c.body != b.at {
			if err := ctx.Err(); err != nil {
				return err
			}
			b.turnTo(c)
		}
		if b.bad != nil {
			b.sum.Lost++
			b.loss.Versions++
			if b.missed != nil {
				if err := b.missed(c.url); err != nil {
					return err
				}
			}
			continue
		}
		if err := take(b.find(c)); err != nil {
			return err
		}
		b.taken++
		if b.sum.Versions++; b.sum.Versions%100 == 0 {
			b.o.Step("versions written", b.sum.Versions)
		}
	}
	b.tell()
	return nil
}

// turnTo reads the next body, after it has told of what was lost with the one before.
func (b *bodies) turnTo(c capture) {
	b.tell()
	b.at, b.taken, b.owned = c.body, 0, false
	b.body, b.bad = b.session.Answer(c.body)
	if b.bad == nil {
		b.digest = models.DigestOf(b.body.Body())
	}
	if b.bad == nil && b.digest.String() != c.digest {
		b.bad = fmt.Errorf("read %s at %d: %w: the body's SHA-256 is %s, not %s", c.body.File, c.body.Offset, archive.ErrDamaged,
			b.digest, c.digest)
	}
	if b.bad != nil {
		b.loss = Loss{Segment: c.body.File, URL: c.url, At: models.Instant(c.at), Err: b.bad}
	}
}

// tell tells of a loss, once: the bodies may be read again.
func (b *bodies) tell() {
	if b.loss.Versions > 0 && !b.told[b.at] {
		b.told[b.at] = true
		b.o.Lost(b.loss)
	}
	b.loss = Loss{}
}

// find reads a capture's own record. One that cannot be read costs the version its own header, and not its body.
func (b *bodies) find(c capture) found {
	f := found{capture: c, digest: b.digest, body: b.body, head: b.body, date: models.Instant(c.at).Time(),
		first: b.taken == 0}
	if c.own.File != "" {
		if own, err := b.session.Answer(c.own); err == nil {
			f.head, f.date, f.place = own, own.At(), c.own
		}
	} else if before := f.date.Sub(b.body.At()); !b.owned && c.url == b.body.URL() && before >= 0 && before <= longestVisit {
		f.date, f.place, b.owned = b.body.At(), c.body, true
	}
	return f
}
