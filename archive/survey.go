package archive

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"recrawld/models"
)

// Segment is a segment by its name, with the time in which its worker appended to it, as far as the names of the worker's segments
// say: by the clock that named them, in whole seconds.
type Segment struct {
	Name string
	From time.Time // it was begun
	To   time.Time // the worker began its next one; zero: it is the newest
}

// Segments lists the segments of all workers, closed or growing, by worker and then in the order in which they were begun.
func (r *Reader) Segments() ([]Segment, error) {
	entries, err := fs.ReadDir(r.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	type named struct {
		Segment
		worker string
		serial int
	}
	var all []named
	for _, entry := range entries {
		m := segmentName.FindStringSubmatch(entry.Name())
		if m == nil {
			continue
		}
		n := named{worker: m[1], Segment: Segment{Name: strings.TrimSuffix(entry.Name(), openSuffix)}}
		n.serial, _ = strconv.Atoi(m[3])                 // digits; one that is too large is the largest
		n.From, err = time.Parse("20060102150405", m[2]) // digits, which need not be a time
		if err == nil && !slices.ContainsFunc(all, func(o named) bool { return o.Name == n.Name }) {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b named) int {
		return cmp.Or(strings.Compare(a.worker, b.worker), a.From.Compare(b.From), cmp.Compare(a.serial, b.serial))
	})
	segments := make([]Segment, len(all))
	for i, n := range all {
		if i+1 < len(all) && all[i+1].worker == n.worker {
			n.To = all[i+1].From
		}
		segments[i] = n.Segment
	}
	return segments, nil
}

// Reach tells whether the segment of a record is there as far as the record's end, and how many bytes of it are. It reads nothing. The error
// is fs.ErrNotExist where there is no such segment, ErrDamaged where it ends before, ErrElsewhere where it is known to lie, or to go on, in
// another archive.
func (r *Reader) Reach(at models.Record) (size int64, err error) {
	f, err := r.open(at.File)
	if err != nil {
		return 0, r.missing(at.File, err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("size of %s: %w", at.File, err)
	}
	if at.Offset > stat.Size()-at.Length {
		return stat.Size(), r.missing(at.File, fmt.Errorf("%w: %w", ErrDamaged, short{at.Length, stat.Size()}))
	}
	return stat.Size(), nil
}

// Revisit is a record that stands for a body which was seen before: what no models.Record leads to.
type Revisit struct {
	URL    string
	At     time.Time // when the request was sent, to the millisecond
	Digest string    // of the body, as models.Digest writes it
	Record models.Record
}

// Revisits calls yield with each revisit record of a segment, in the order in which they lie there, until it returns false. It looks
// at the head of each record alone, and passes over damaged places; those who read a record find out. The error is fs.ErrNotExist
// where there is no such segment.
func (r *Reader) Revisits(segment string, yield func(Revisit) bool) error {
	f, err := r.open(segment)
	if err != nil {
		return fmt.Errorf("look through %s: %w", segment, err)
	}
	defer f.Close()
	if err := r.revisits(f, segment, yield); err != nil {
		return fmt.Errorf("look through %s: %w", segment, err)
	}
	return nil
}

func (r *Reader) revisits(f *os.File, segment string, yield func(Revisit) bool) error {
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	w := &window{file: f}
	for at, size := int64(0), stat.Size(); at < size; {
		length, err := memberLength(w, at, size)
		if err != nil {
			return err
		}
		if length == 0 { // damaged, or written just now
			if at, err = nextMember(w, at+1, size); err != nil {
				return err
			}
			continue
		}
		if found, ok := r.revisitAt(w, models.Record{File: segment, Offset: at, Length: length}); ok && !yield(found) {
			return nil
		}
		at += length
	}
	return nil
}

// memberLength is the compressed length of the whole member at an offset, 0 where there is none. It believes a skip length that leads
// to the next member or to the end.
func memberLength(f io.ReaderAt, at, size int64) (int64, error) {
	head := make([]byte, memberHead)
	n, err := f.ReadAt(head, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if skip := skipLength(head[:n]); skip > 0 && (at+skip == size || beginsMember(f, at+skip)) {
		return skip, nil
	}
	length, _, err := wholeRecord(f, at, size)
	return length, err
}

// mostHead is how many bytes of a record are unpacked to read its header.
const mostHead = 16 << 10

// revisitAt reads the head of a record, if it is a revisit.
func (r *Reader) revisitAt(f io.ReaderAt, at models.Record) (Revisit, bool) {
	zr, ok := r.unpackers.Get().(*gzip.Reader)
	if !ok {
		zr = new(gzip.Reader)
	}
	defer r.unpackers.Put(zr)
	if err := zr.Reset(bufio.NewReaderSize(io.NewSectionReader(f, at.Offset, at.Length), int(min(at.Length, 4<<10)))); err != nil {
		return Revisit{}, false
	}
	zr.Multistream(false)
	const kind = "WARC/1.1\r\nWARC-Type: revisit\r\n"
	head := make([]byte, len(kind), mostHead)
	if _, err := io.ReadFull(zr, head); err != nil || string(head) != kind {
		return Revisit{}, false
	}
	n, err := io.ReadFull(zr, head[len(kind):mostHead])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Revisit{}, false
	}
	w, _, err := parseFields(head[:len(kind)+n])
	if err != nil {
		return Revisit{}, false
	}
	found := Revisit{URL: w.field("WARC-Target-URI"), Record: at}
	found.Digest, ok = strings.CutPrefix(w.field("WARC-Payload-Digest"), "sha256:")
	found.At, err = time.Parse(time.RFC3339, w.field("WARC-Date"))
	return found, ok && err == nil
}

// window is a file of which a part is held in memory, for whoever reads it from the front to the end with gaps. It is not safe for
// concurrent use.
type window struct {
	file io.ReaderAt
	from int64
	held []byte
}

// windowBytes is how much a window reads at once: the heads of some records, and no more of a large one.
const windowBytes = 64 << 10

// ReadAt implements io.ReaderAt.
func (w *window) ReadAt(p []byte, at int64) (int, error) {
	if at < w.from || at+int64(len(p)) > w.from+int64(len(w.held)) {
		if cap(w.held) == 0 {
			w.held = make([]byte, windowBytes)
		}
		n, err := w.file.ReadAt(w.held[:windowBytes], at)
		if w.from, w.held = at, w.held[:n]; err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
	}
	n := copy(p, w.held[min(at-w.from, int64(len(w.held))):])
	if n < len(p) && len(p) > windowBytes {
		return w.file.ReadAt(p, at)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
