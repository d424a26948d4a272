package verify

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"recrawld/models"
)

// sortRows is how many versions are held in memory: some 25 MB.
const sortRows = 1 << 18

// sorter puts versions in the order of their places in the archive. What does not fit into memory goes to a temporary file in sorted
// runs, which are merged in the end; the file has no name and so does not outlive the process. It is not safe for concurrent use.
type sorter struct {
	dir   string // where the file is made
	limit int    // versions in memory
	rows  []models.Kept
	file  *os.File
	end   int64   // of the file
	runs  []int64 // where each ends
	files map[string]uint32
	names []string // by number, of the segments
}

func newSorter(dir string) *sorter {
	return &sorter{dir: dir, limit: sortRows, files: make(map[string]uint32)}
}

// add takes a version. Segments are few, so it makes their names one string each.
func (s *sorter) add(k models.Kept) error {
	number, known := s.files[k.Record.File]
	if !known {
		number = uint32(len(s.names))
		s.files[k.Record.File], s.names = number, append(s.names, k.Record.File)
	}
	k.Record.File = s.names[number]
	if s.rows = append(s.rows, k); len(s.rows) < s.limit {
		return nil
	}
	return s.spill()
}

// byPlace is the order of versions: of their records, whether they are lost or not, and of their keys.
func byPlace(a, b models.Kept) int {
	return cmp.Or(cmp.Compare(a.Record.File, b.Record.File), cmp.Compare(a.Record.Offset, b.Record.Offset),
		cmp.Compare(length(a.Record), length(b.Record)), cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.PageID, b.PageID),
		cmp.Compare(a.Number, b.Number))
}

// length is that of a record, also of one that is lost.
func length(r models.Record) int64 { return max(r.Length, -r.Length) }

// packedSize is the length of a version in the file: segment, offset, length, bucket, page, number, digest.
const packedSize = 4 + 8 + 8 + 2 + 8 + 4 + 32

func (s *sorter) pack(out []byte, k models.Kept) []byte {
	little := binary.LittleEndian
	out = little.AppendUint32(out, s.files[k.Record.File])
	out = little.AppendUint64(out, uint64(k.Record.Offset))
	out = little.AppendUint64(out, uint64(k.Record.Length))
	out = little.AppendUint16(out, uint16(k.Bucket))
	out = little.AppendUint64(out, uint64(k.PageID))
	out = little.AppendUint32(out, uint32(k.Number))
	return append(out, k.Digest[:]...)
}

func (s *sorter) unpack(in []byte) models.Kept {
	little := binary.LittleEndian
	k := models.Kept{Bucket: int16(little.Uint16(in[20:])), PageID: int64(little.Uint64(in[22:])), Number: int32(little.Uint32(in[30:])),
		Record: models.Record{File: s.names[little.Uint32(in)], Offset: int64(little.Uint64(in[4:])), Length: int64(little.Uint64(in[12:]))}}
	copy(k.Digest[:], in[34:])
	return k
}

// spill writes what is in memory as a run.
func (s *sorter) spill() error {
	if s.file == nil {
		file, err := os.CreateTemp(s.dir, "verify-*.tmp")
		if err != nil {
			return fmt.Errorf("keep versions until they are sorted: %w", err)
		}
		s.file = file
		if err := os.Remove(file.Name()); err != nil {
			return fmt.Errorf("keep versions until they are sorted: %w", err)
		}
	}
	slices.SortFunc(s.rows, byPlace)
	out := bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.end), 1<<20)
	var packed [packedSize]byte
	for _, k := range s.rows {
		if _, err := out.Write(s.pack(packed[:0], k)); err != nil {
			return fmt.Errorf("keep versions until they are sorted: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("keep versions until they are sorted: %w", err)
	}
	s.end += packedSize * int64(len(s.rows))
	s.runs, s.rows = append(s.runs, s.end), s.rows[:0]
	return nil
}

// sorted yields the versions in their order. Nothing is added afterwards.
func (s *sorter) sorted() iter.Seq2[models.Kept, error] {
	slices.SortFunc(s.rows, byPlace)
	return func(yield func(models.Kept, error) bool) {
		merge := &runs{{rest: s.rows}} // what is in memory is a run as well
		at := int64(0)
		for _, end := range s.runs {
			*merge = append(*merge, &run{from: bufio.NewReaderSize(io.NewSectionReader(s.file, at, end-at), 64<<10)})
			at = end
		}
		for i := len(*merge) - 1; i >= 0; i-- {
			if !s.take(yield, merge, i) {
				return
			}
		}
		heap.Init(merge)
		for len(*merge) > 0 {
			if !yield((*merge)[0].first, nil) || !s.take(yield, merge, 0) {
				return
			}
			if len(*merge) > 0 {
				heap.Fix(merge, 0)
			}
		}
	}
}

// take brings a run to its next version, and removes one that has none: what is last takes its place. It returns false where all ends.
func (s *sorter) take(yield func(models.Kept, error) bool, merge *runs, i int) bool {
	more, err := s.next((*merge)[i])
	if err != nil {
		yield(models.Kept{}, fmt.Errorf("read sorted versions: %w", err))
		return false
	}
	if !more {
		last := len(*merge) - 1
		(*merge)[i] = (*merge)[last]
		*merge = (*merge)[:last]
	}
	return true
}

func (s *sorter) next(r *run) (more bool, err error) {
	if r.from == nil {
		if len(r.rest) == 0 {
			return false, nil
		}
		r.first, r.rest = r.rest[0], r.rest[1:]
		return true, nil
	}
	var packed [packedSize]byte
	if _, err := io.ReadFull(r.from, packed[:]); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, err
	}
	r.first = s.unpack(packed[:])
	return true, nil
}

// close gives the file back.
func (s *sorter) close() {
	if s.file != nil {
		_ = s.file.Close() // it has no name any more, and nobody reads it
	}
}

// run is sorted versions, in memory or in the file, from first on.
type run struct {
	first models.Kept
	rest  []models.Kept
	from  *bufio.Reader // nil: in memory
}

// runs is a heap of them.
type runs []*run

func (r runs) Len() int           { return len(r) }
func (r runs) Less(i, j int) bool { return byPlace(r[i].first, r[j].first) < 0 }
func (r runs) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *runs) Push(x any)        { *r = append(*r, x.(*run)) }
func (r *runs) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
