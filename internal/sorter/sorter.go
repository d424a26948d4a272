// Package sorter sorts more than memory holds.
package sorter

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// Sorter puts any number of entries in the order of their bytes, which is that of sort with LC_ALL=C. It holds 16 MiB of them in
// memory; of more, sorted runs go to a temporary file, which has no name and so does not outlive the process. It is not safe for
// concurrent use.
type Sorter struct {
	dir  string // where the file is made
	most int    // bytes in memory

	text []byte
	ends []int32 // of the entries in text
	file *os.File
	end  int64 // of the file
	runs []sortedRun
}

type sortedRun struct{ at, size int64 }

// heldBytes is what a Sorter holds in memory, without the 4 to 8 bytes an entry that tell where each ends.
const heldBytes = 16 << 20

// New returns a Sorter whose file would be made in a folder; "": where the system has such files.
func New(dir string) *Sorter { return &Sorter{dir: dir, most: heldBytes} }

// Add keeps a copy of an entry.
func (s *Sorter) Add(entry []byte) error {
	if len(s.ends) > 0 && len(s.text)+len(entry) > s.most {
		if err := s.spill(); err != nil {
			return fmt.Errorf("sort: %w", err)
		}
	}
	s.text = append(s.text, entry...)
	s.ends = append(s.ends, int32(len(s.text)))
	return nil
}

// held is the entries in memory, sorted.
func (s *Sorter) held() [][]byte {
	entries, from := make([][]byte, len(s.ends)), int32(0)
	for i, end := range s.ends {
		entries[i], from = s.text[from:end], end
	}
	slices.SortFunc(entries, bytes.Compare)
	return entries
}

// spill writes a run.
func (s *Sorter) spill() error {
	if s.file == nil {
		file, err := os.CreateTemp(s.dir, "recrawld-sort-*.tmp")
		if err != nil {
			return err
		}
		s.file = file
		if err := os.Remove(file.Name()); err != nil {
			return err
		}
	}
	at := s.end
	out := bufio.NewWriterSize(io.NewOffsetWriter(s.file, at), 1<<20)
	var head [binary.MaxVarintLen64]byte
	for _, entry := range s.held() {
		n := binary.PutUvarint(head[:], uint64(len(entry)))
		out.Write(head[:n]) // an error is that of Flush
		out.Write(entry)
		s.end += int64(n + len(entry))
	}
	s.runs = append(s.runs, sortedRun{at, s.end - at})
	s.text, s.ends = s.text[:0], s.ends[:0]
	return out.Flush()
}

// All yields the entries in order; each is valid until the next. After it nothing may be added. An error ends the sequence.
func (s *Sorter) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		m := merge{&heldRun{entries: s.held()}}
		for _, run := range s.runs {
			m = append(m, &fileRun{in: bufio.NewReaderSize(io.NewSectionReader(s.file, run.at, run.size), 64<<10)})
		}
		heads := m
		for m = nil; len(heads) > 0; heads = heads[1:] {
			switch err := heads[0].next(); {
			case err == nil:
				m = append(m, heads[0])
			case !errors.Is(err, io.EOF):
				yield(nil, fmt.Errorf("sort: %w", err))
				return
			}
		}
		heap.Init(&m)
		for len(m) > 0 {
			if !yield(m[0].head(), nil) {
				return
			}
			switch err := m[0].next(); {
			case err == nil:
				heap.Fix(&m, 0)
			case errors.Is(err, io.EOF):
				heap.Pop(&m)
			default:
				yield(nil, fmt.Errorf("sort: %w", err))
				return
			}
		}
	}
}

// Close gives the memory and the file back.
func (s *Sorter) Close() {
	if s.file != nil {
		_ = s.file.Close() // it has no name any more, and nobody reads it
	}
	s.file, s.text, s.ends, s.runs = nil, nil, nil, nil
}

// entries is a sorted run.
type entries interface {
	next() error // io.EOF behind the last
	head() []byte
}

type heldRun struct {
	entries [][]byte
	now     []byte
}

func (r *heldRun) head() []byte { return r.now }

func (r *heldRun) next() error {
	if len(r.entries) == 0 {
		return io.EOF
	}
	r.now, r.entries = r.entries[0], r.entries[1:]
	return nil
}

type fileRun struct {
	in  *bufio.Reader
	now []byte
}

func (r *fileRun) head() []byte { return r.now }

func (r *fileRun) next() error {
	n, err := binary.ReadUvarint(r.in)
	if err != nil {
		return err
	}
	r.now = slices.Grow(r.now[:0], int(n))[:n]
	if _, err = io.ReadFull(r.in, r.now); err != nil {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// merge is a heap of runs, the one with the smallest head first.
type merge []entries

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return bytes.Compare(m[i].head(), m[j].head()) < 0 }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }

// Push implements heap.Interface; nothing is pushed.
func (m *merge) Push(run any) { *m = append(*m, run.(entries)) }

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
