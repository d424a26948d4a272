package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"

	"recrawld/models"
)

// Flaw is a place in a segment that no whole record fills, or a record without an answer that is not what it says it is.
type Flaw struct {
	Offset, Length int64 // bytes
	Why            string
}

// Flaws calls yield with each flaw of a segment, in the order in which they lie there, until it returns false, and counts the records that
// it read: those that have no answer, such as requests, revisits and the one on the segment itself. An answer is passed over by the length
// that its head says; Read finds out what is wrong with it. The end of a segment that still grows may be about to be written, and is no flaw.
// The error is fs.ErrNotExist where there is no such segment.
func (r *Reader) Flaws(segment string, yield func(Flaw) bool) (records int64, err error) {
	f, err := r.open(segment)
	if err != nil {
		return 0, fmt.Errorf("look through %s: %w", segment, err)
	}
	defer f.Close()
	if records, err = r.flaws(f, segment, yield); err != nil {
		return records, fmt.Errorf("look through %s: %w", segment, err)
	}
	return records, nil
}

func (r *Reader) flaws(f *os.File, segment string, yield func(Flaw) bool) (records int64, err error) {
	stat, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size, grows := stat.Size(), strings.HasSuffix(f.Name(), openSuffix)
	if r.elsewhere != nil && r.elsewhere(WorkerOf(segment)) != "" {
		grows = true // it grows there, and is here as it was when it was brought
	}
	w := &window{file: f}
	var at, whole int64 // whole: up to where records follow one another
	for at < size {
		length, err := memberLength(w, at, size)
		if err != nil {
			return records, err
		}
		if length == 0 {
			if at, err = nextMember(w, at+1, size); err != nil {
				return records, err
			}
			continue
		}
		if whole < at && !yield(Flaw{whole, at - whole, "no whole record lies there"}) {
			return records, nil
		}
		place := models.Record{File: segment, Offset: at, Length: length}
		if at += length; !r.isAnswer(w, place) {
			records++
			if why, err := r.otherThanSaid(f, place); err != nil {
				return records, err
			} else if why != "" && !yield(Flaw{place.Offset, length, why}) {
				return records, nil
			}
		}
		whole = at
	}
	if whole < size && !grows {
		yield(Flaw{whole, size - whole, "no whole record lies there, up to the end of the segment"})
	}
	return records, nil
}

// isAnswer tells by the head of a record whether it holds an answer.
func (r *Reader) isAnswer(f io.ReaderAt, at models.Record) bool {
	const kind = "WARC/1.1\r\nWARC-Type: response\r\n"
	zr, ok := r.unpackers.Get().(*gzip.Reader)
	if !ok {
		zr = new(gzip.Reader)
	}
	defer r.unpackers.Put(zr)
	for _, packed := range []int64{min(packedKind, at.Length), at.Length} {
		if err := zr.Reset(bufio.NewReaderSize(io.NewSectionReader(f, at.Offset, packed), int(min(packed, 4<<10)))); err != nil {
			return false
		}
		zr.Multistream(false)
		head := make([]byte, len(kind))
		if _, err := io.ReadFull(zr, head); err == nil {
			return string(head) == kind
		}
	}
	return false
}

// packedKind is how many bytes of a packed record have its kind: the head of the member, a table of codes of at most 320 bytes, and the first
// line. Of more, 32 KiB would be unpacked at once.
const packedKind = 512

// otherThanSaid reads a record of any kind and says what is wrong with it, "" for nothing. The error is one of the file system.
func (r *Reader) otherThanSaid(f *os.File, at models.Record) (why string, err error) {
	record, _, err := r.recordIn(f, at)
	if err == nil {
		err = checkDigest(record.field("WARC-Block-Digest"), record.block)
	} else if !errors.Is(err, ErrDamaged) {
		return "", err
	}
	if err != nil {
		return strings.TrimPrefix(err.Error(), ErrDamaged.Error()+": "), nil
	}
	return "", nil
}
