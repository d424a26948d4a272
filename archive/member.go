package archive

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Every gzip member carries an extra field "sl" (skip lengths) with its compressed and its plain size, so that a
// scan after a crash walks a segment of a GiB by reading a few bytes of each record. Other readers skip it.
const (
	memberHead  = 10 + 2 + 4 + 8 // fixed header, XLEN, subfield header, two sizes
	extraOffset = 10 + 2 + 4
)

// members compresses records. The zero value is ready; it is safe for concurrent use.
type members struct {
	packers, storers sync.Pool // of *gzip.Writer
}

// append writes plain as one gzip member at the end of out.
func (m *members) append(out *bytes.Buffer, plain []byte) error {
	return appendMember(&m.packers, gzip.BestSpeed, out, plain)
}

// store is append for a record that is so short that its Huffman tables would cost more work, a third of that of a page of
// 8 KiB, than they save room.
func (m *members) store(out *bytes.Buffer, plain []byte) error {
	return appendMember(&m.storers, gzip.NoCompression, out, plain)
}

func appendMember(writers *sync.Pool, level int, out *bytes.Buffer, plain []byte) error {
	start := out.Len()
	zw, ok := writers.Get().(*gzip.Writer)
	if !ok {
		var err error
		if zw, err = gzip.NewWriterLevel(nil, level); err != nil {
			return fmt.Errorf("gzip writer: %w", err)
		}
	}
	defer writers.Put(zw)
	zw.Reset(out)
	zw.Extra = []byte{'s', 'l', 8, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	if _, err := zw.Write(plain); err != nil {
		return fmt.Errorf("compress record: %w", err)
	}
	if err := zw.Close(); err != nil {
		return fmt.Errorf("compress record: %w", err)
	}
	sizes := out.Bytes()[start+extraOffset:]
	binary.LittleEndian.PutUint32(sizes, uint32(out.Len()-start))
	binary.LittleEndian.PutUint32(sizes[4:], uint32(len(plain)))
	return nil
}

// skipLength is the compressed size that a member's head claims, 0 where it claims none.
func skipLength(head []byte) int64 {
	if len(head) < memberHead || !bytes.HasPrefix(head, []byte(memberMagic)) || head[3]&4 == 0 ||
		!bytes.Equal(head[12:16], []byte{'s', 'l', 8, 0}) {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(head[extraOffset:]))
}

// plainLength is the plain size that a member's head claims, as far as it may be believed before it is unpacked; 0 where
// it claims none.
func plainLength(member []byte) int {
	if skipLength(member) != int64(len(member)) {
		return 0
	}
	const most = 100 // times; more is left to grow
	return min(int(binary.LittleEndian.Uint32(member[extraOffset+4:])), most*len(member))
}

// counter counts the bytes that gzip took from its source: as an io.ByteReader it is read to the byte and no further.
type counter struct {
	src interface {
		io.Reader
		io.ByteReader
	}
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.src.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
