package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"recrawld/models"
)

// spool keeps the pages of an import by bucket until they are added, so that the database writes its indexes in one place
// after the other: in random order, ten million rows cost many times as much. Small lists stay in memory; of larger ones
// blocks go to a temporary file, which has no name and so does not outlive the process. It is not safe for concurrent use,
// but after the last add several goroutines may read.
type spool struct {
	dir     string // where the file is made
	file    *os.File
	end     int64 // of the file
	buckets [models.Buckets]spoolBucket

	lastHost string // whose bucket was computed last
	last     int16
}

// spoolBucket is the pages of one bucket: what is in the file, then what is in memory.
type spoolBucket struct {
	blocks []spoolBlock
	rest   []byte
}

type spoolBlock struct{ at, size int64 }

// spooled is one page of the list.
type spooled struct {
	url, host string
	site      int32 // 0: of a host that had none when it was read
	fr        int   // 0: the site's
}

// spoolBlockBytes is how much of a bucket is written at once. All buckets together hold 16 MiB in memory.
const spoolBlockBytes = 64 << 10

func newSpool(dir string) *spool { return &spool{dir: dir} }

// add keeps a page.
func (s *spool) add(p spooled) error {
	if p.host != s.lastHost {
		s.lastHost, s.last = p.host, models.BucketOf(p.host)
	}
	b := &s.buckets[s.last]
	if b.rest == nil {
		b.rest = make([]byte, 0, 1<<10) // a list may be short
	}
	b.rest = binary.AppendUvarint(b.rest, uint64(p.site))
	b.rest = binary.AppendUvarint(b.rest, uint64(p.fr))
	b.rest = binary.AppendUvarint(b.rest, uint64(len(p.url)))
	b.rest = append(b.rest, p.url...)
	if len(b.rest) < spoolBlockBytes {
		return nil
	}
	return s.spill(b)
}

// spill writes what a bucket has in memory.
func (s *spool) spill(b *spoolBucket) error {
	if s.file == nil {
		file, err := os.CreateTemp(s.dir, "import-*.tmp")
		if err != nil {
			return fmt.Errorf("keep the list until it is sorted: %w", err)
		}
		s.file = file
		if err := os.Remove(file.Name()); err != nil {
			return fmt.Errorf("keep the list until it is sorted: %w", err)
		}
	}
	if _, err := s.file.WriteAt(b.rest, s.end); err != nil {
		return fmt.Errorf("keep the list until it is sorted: %w", err)
	}
	b.blocks = append(b.blocks, spoolBlock{s.end, int64(len(b.rest))})
	s.end += int64(len(b.rest))
	b.rest = b.rest[:0]
	return nil
}

// part is a part of a bucket's pages in their order, of at most most bytes or one block, from block number from on, and
// the number of the block to go on with; 0: it was the last.
func (s *spool) part(bucket int16, from, most int) (text []byte, next int, err error) {
	b := &s.buckets[bucket]
	for n, block := range b.blocks[min(from, len(b.blocks)):] {
		if n > 0 && len(text)+int(block.size) > most {
			return text, from + n, nil
		}
		at := len(text)
		text = append(text, make([]byte, block.size)...)
		if _, err := s.file.ReadAt(text[at:], block.at); err != nil {
			return nil, 0, fmt.Errorf("read the sorted list: %w", err)
		}
	}
	return append(text, b.rest...), 0, nil
}

// errSpool is what a list that cannot be read back gives.
var errSpool = errors.New("the sorted list is damaged")

// takeSpooled reads the first page of a part, whose URL is a part of text, and returns what follows.
func takeSpooled(text []byte) (p spooledPage, rest []byte, err error) {
	var numbers [3]uint64
	for i := range numbers {
		n, size := binary.Uvarint(text)
		if size <= 0 {
			return p, nil, errSpool
		}
		numbers[i], text = n, text[size:]
	}
	length := numbers[2]
	if length > uint64(len(text)) {
		return p, nil, errSpool
	}
	p = spooledPage{url: text[:length], site: int32(numbers[0]), fr: int(numbers[1])}
	return p, text[length:], nil
}

// close gives the file back.
func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close() // it has no name any more, and nobody reads it
	}
}
