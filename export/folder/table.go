package folder

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"recrawld/internal/sorter"
)

// entry is what is known of a URL: the file of its page, or where it redirects to; or both, of a page that went away.
type entry struct {
	file   string // "": it has none
	number int32  // of the version
	lost   bool   // the version cannot be read, so there is no file
	to     string // the URL that it redirects to; "": it does not
}

// The kinds of entries.
const (
	ofFile     = 'f'
	ofLost     = 'l'
	ofRedirect = 'r'
)

// table finds entries by URL in a temporary file that has no name: sorted by a hash of the URL, in blocks whose beginnings alone are in
// memory, 16 bytes for some fifty entries. It is not safe for concurrent use.
type table struct {
	sorted *sorter.Sorter
	file   *os.File
	blocks []block
	end    int64
	buffer []byte
	recent map[string]entry // those asked for last
}

type block struct {
	first uint64 // hash
	at    int64
}

const (
	blockBytes = 8 << 10
	mostRecent = 1 << 16
)

func newTable(temp string) *table { return &table{sorted: sorter.New(temp)} }

// add takes an entry before the table is built.
func (t *table) add(url string, kind byte, number int32, value string) error {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, len(url)+len(value)+24), hashed(url))
	b = append(append(append(b, url...), 0, kind), strconv.Itoa(int(number))...)
	return t.sorted.Add(append(append(b, 0), value...))
}

// hashed spreads URLs evenly. Those that share a hash stand in one block.
func hashed(url string) uint64 {
	sum := sha256.Sum256([]byte(url))
	return binary.BigEndian.Uint64(sum[:])
}

// build writes the file. After it nothing may be added.
func (t *table) build(temp string) (err error) {
	if t.file, err = os.CreateTemp(temp, "recrawld-names-*.tmp"); err != nil {
		return err
	}
	if err := os.Remove(t.file.Name()); err != nil {
		return err
	}
	out := bufio.NewWriterSize(t.file, 1<<20)
	var head [binary.MaxVarintLen64]byte
	last := uint64(0)
	for row, err := range t.sorted.All() {
		if err != nil {
			return err
		}
		h := binary.BigEndian.Uint64(row)
		if n := len(t.blocks); n == 0 || h != last && t.end-t.blocks[n-1].at >= blockBytes {
			t.blocks = append(t.blocks, block{h, t.end})
		}
		last = h
		n := binary.PutUvarint(head[:], uint64(len(row)))
		out.Write(head[:n]) // an error is that of Flush
		out.Write(row)
		t.end += int64(n + len(row))
	}
	t.sorted.Close()
	t.recent = make(map[string]entry)
	return out.Flush()
}

func (t *table) close() {
	t.sorted.Close()
	if t.file != nil {
		_ = t.file.Close() // it has no name any more
	}
}

// find is what is known of a URL.
func (t *table) find(url string) (entry, error) {
	if e, ok := t.recent[url]; ok {
		return e, nil
	}
	var e entry
	err := t.rows(url, func(_ int64, kind byte, number int32, value string) {
		switch kind {
		case ofRedirect:
			e.to = value
		default:
			e.file, e.number, e.lost = value, number, kind == ofLost
		}
	})
	if err != nil || len(url) > longRemembered {
		return e, err
	}
	if len(t.recent) >= mostRecent {
		clear(t.recent)
	}
	t.recent[url] = e
	return e, nil
}

// lose notes that the version of a URL cannot be read.
func (t *table) lose(url string) error {
	kindAt := int64(-1)
	err := t.rows(url, func(at int64, kind byte, _ int32, _ string) {
		if kind == ofFile {
			kindAt = at
		}
	})
	if err != nil || kindAt < 0 {
		return err
	}
	delete(t.recent, url)
	_, err = t.file.WriteAt([]byte{ofLost}, kindAt)
	return err
}

// errTable says that the file does not read back as it was written.
var errTable = errors.New("the sorted names are damaged")

// rows calls yield with each row of a URL, and the place of its kind.
func (t *table) rows(url string, yield func(kindAt int64, kind byte, number int32, value string)) error {
	h := hashed(url)
	begin, err := t.read(h)
	if err != nil {
		return err
	}
	for at := 0; at < len(t.buffer); {
		size, n := binary.Uvarint(t.buffer[at:])
		if n <= 0 || size < 8 || size > uint64(len(t.buffer)-at-n) {
			return errTable
		}
		row := t.buffer[at+n : at+n+int(size)]
		if binary.BigEndian.Uint64(row) == h {
			name, rest, ok := bytes.Cut(row[8:], []byte{0})
			about, value, also := bytes.Cut(rest, []byte{0})
			if !ok || !also || len(about) < 2 {
				return errTable
			}
			number, err := strconv.ParseInt(string(about[1:]), 10, 32)
			if err != nil {
				return errTable
			}
			if string(name) == url {
				yield(begin+int64(at+n+8+len(name)+1), about[0], int32(number), string(value))
			}
		}
		at += n + int(size)
	}
	return nil
}

// read reads the block where a hash would be into the buffer, and says where it begins.
func (t *table) read(h uint64) (begin int64, err error) {
	t.buffer = t.buffer[:0]
	i, same := slices.BinarySearchFunc(t.blocks, h, func(b block, h uint64) int { return cmp.Compare(b.first, h) })
	if !same {
		i--
	}
	if i < 0 {
		return 0, nil
	}
	begin, end := t.blocks[i].at, t.end
	if i+1 < len(t.blocks) {
		end = t.blocks[i+1].at
	}
	t.buffer = slices.Grow(t.buffer, int(end-begin))[:end-begin]
	if _, err := t.file.ReadAt(t.buffer, begin); err != nil {
		return 0, fmt.Errorf("read sorted names: %w", err)
	}
	return begin, nil
}
