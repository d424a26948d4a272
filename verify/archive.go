package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"syscall"

	"recrawld/archive"
	"recrawld/models"
)

// Reader reads records; archive.Reader is one.
type Reader interface {
	Read(models.Record) (archive.Answer, error)
}

// Options set up a Check. The zero value checks all.
type Options struct {
	Dir      string                       // of temporary files
	Sample   Sample                       // what part of the versions is looked at
	Here     func(segment string) bool    // tells segments that this archive ought to have; nil: all
	Progress func(done, all, bytes int64) // told of versions that were looked at, and of bytes of records that were read; nil: nobody is
	Refuted  func(k models.Kept) bool     // tells of one that differs whether the database says something else by now; nil: never
	Bad      func(Trouble) error          // told of each version that has lost its body, in the order of the archive
	Again    func(models.Kept) error      // told of each that was found to be lost before and is there again
	Gone     func(models.Kept) error      // told of each that was found to be lost before and still is
}

// Trouble is a version whose body is not where the database says.
type Trouble struct {
	models.Kept
	Missing bool   // its segment is not there; else it is damaged
	Why     string // in words
}

// Found is what came of a Check.
type Found struct {
	All       int64 `json:"all"`             // versions that ought to be here and are not known to be lost
	Versions  int64 `json:"versions"`        // of them those that were looked at
	Records   int64 `json:"records"`         // that they lie in
	Segments  int64 `json:"segments"`        // that those lie in
	Bytes     int64 `json:"bytes"`           // of records that were read, compressed
	Bad       int64 `json:"bad"`             // versions that have lost their bodies
	Damaged   int64 `json:"damaged"`         // records
	Missing   int64 `json:"missing"`         // records, in segments that are not there
	Lost      int64 `json:"lost"`            // versions that were found to be lost before, and are
	Again     int64 `json:"again"`           // versions that were found to be lost before, and are there again
	Elsewhere int64 `json:"elsewhere"`       // versions in segments that other machines have, and not here
	Ended     bool  `json:"ended,omitempty"` // early, because the context did
}

// Check looks at versions. Where ctx ends it returns what was found until then. The error is one of reading the database or the file system,
// or of the functions that were told; damage is none.
func Check(ctx context.Context, versions iter.Seq2[models.Kept, error], r Reader, o Options) (Found, error) {
	c := check{Options: o, reader: r}
	s := newByPlace(o.Dir)
	defer s.entries.Close()
	err := c.gather(versions, s)
	if err == nil {
		err = c.each(ctx, s.sorted())
	}
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		c.found.Ended = true
		return c.found, nil
	}
	return c.found, err
}

type check struct {
	Options
	reader Reader
	found  Found
	queued int64         // versions that are to be looked at
	last   models.Record // that was read
	same   error         // what came of it
	digest models.Digest // of its body
	told   models.Record // the last that was counted as bad
}

// gather sorts the versions that are to be looked at.
func (c *check) gather(versions iter.Seq2[models.Kept, error], s *byPlace) error {
	draw := NewDraw[models.Kept](c.Sample)
	for k, err := range versions {
		switch {
		case err != nil:
			return err
		case c.Here != nil && !c.Here(k.Record.File):
			c.found.Elsewhere++
			continue
		case k.Record.Lost() && c.Sample != (Sample{}):
			c.found.Lost++ // what is known says nothing of what is not
			continue
		case !k.Record.Lost():
			c.found.All++
			if !draw.Take(k) {
				continue
			}
		}
		if err := s.add(k); err != nil {
			return err
		}
		c.queued++
	}
	for _, k := range draw.Held() {
		if err := s.add(k); err != nil {
			return err
		}
		c.queued++
	}
	return nil
}

// each looks at versions in the order of their places.
func (c *check) each(ctx context.Context, versions iter.Seq2[models.Kept, error]) error {
	done, segment := int64(0), ""
	for k, err := range versions {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if k.Record.File != segment {
			segment = k.Record.File
			c.found.Segments++
		}
		if err := c.one(k); err != nil {
			return err
		}
		if done++; c.Progress != nil {
			c.Progress(done, c.queued, c.found.Bytes)
		}
	}
	return nil
}

// one looks at a version.
func (c *check) one(k models.Kept) error {
	lost := k.Record.Lost()
	trouble, err := c.look(k)
	if err != nil {
		return err
	}
	if !lost && errors.Is(c.same, archive.ErrElsewhere) {
		c.found.All--
		c.found.Elsewhere++
		return nil
	}
	if !lost {
		c.found.Versions++
	}
	switch {
	case trouble == nil && lost:
		c.found.Again++
		return tell(c.Again, k)
	case lost:
		c.found.Lost++
		return tell(c.Gone, k)
	case trouble == nil || c.Refuted != nil && c.Refuted(k):
		return nil
	}
	c.found.Bad++
	if place := c.last; c.told != place {
		c.told = place
		if trouble.Missing {
			c.found.Missing++
		} else {
			c.found.Damaged++
		}
	}
	return tell(c.Bad, *trouble)
}

func tell[T any](f func(T) error, what T) error {
	if f == nil {
		return nil
	}
	return f(what)
}

// look reads the record of a version, unless the one before has it as well, and says what is wrong; nil: nothing.
func (c *check) look(k models.Kept) (*Trouble, error) {
	at := k.Record
	at.Length = length(at)
	if at != c.last {
		answer, err := c.reader.Read(at)
		if err != nil && !isDamage(err) {
			return nil, fmt.Errorf("read the archive: %w", err)
		}
		c.last, c.same, c.digest = at, err, answer.Digest
		c.found.Records++
		if err == nil {
			c.found.Bytes += at.Length
		}
	}
	switch {
	case errors.Is(c.same, fs.ErrNotExist):
		return &Trouble{Kept: k, Missing: true, Why: "the segment is missing"}, nil
	case c.same != nil:
		return &Trouble{Kept: k, Why: wordsOf(c.same)}, nil
	case c.digest != k.Digest:
		return &Trouble{Kept: k, Why: "the record is whole and holds another body"}, nil
	}
	return nil, nil
}

// isDamage tells whether an error says that what was stored is not there, or the disk cannot read it. Others, such as a lack of permission,
// say nothing of the record.
func isDamage(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, archive.ErrDamaged) || errors.Is(err, syscall.EIO)
}

// wordsOf is an error of reading a record without where that lies, which is said beside it.
func wordsOf(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}

// Look reads one record and tells whether it holds the body of a digest.
func Look(r Reader, at models.Record, digest models.Digest) (archive.Answer, bool, error) {
	answer, err := r.Read(at)
	if err != nil && !isDamage(err) {
		return answer, false, fmt.Errorf("read the archive: %w", err)
	}
	return answer, err == nil && answer.Digest == digest, nil
}
