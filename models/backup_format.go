package models

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/gzip"
)

// What a value is.
const (
	tagNull = iota
	tagInt
	tagBytes
)

// cell is one value of a row: an integer, bytes (or text), or neither.
type cell struct {
	tag   byte
	int   int64
	bytes []byte
}

// maxCell bounds a value, so that a damaged length cannot ask for all memory.
const maxCell = 64 << 20

// backupWriter writes the form of a backup.
type backupWriter struct {
	zip   *gzip.Writer
	sum   hash.Hash
	block []byte // rows not written yet
	rows  int    // in block
	total int64  // of the table
}

func newBackupWriter(w io.Writer) *backupWriter {
	zip, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return &backupWriter{zip: zip, sum: sha256.New()}
}

func (b *backupWriter) write(p []byte) error {
	b.sum.Write(p)
	_, err := b.zip.Write(p)
	return err
}

func (b *backupWriter) begin(head BackupHead) error {
	line, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return b.write([]byte(backupMagic + string(line) + "\n"))
}

func (b *backupWriter) null()       { b.block = append(b.block, tagNull) }
func (b *backupWriter) int(v int64) { b.block = binary.AppendVarint(append(b.block, tagInt), v) }
func (b *backupWriter) bytes(v []byte) {
	b.block = binary.AppendUvarint(append(b.block, tagBytes), uint64(len(v)))
	b.block = append(b.block, v...)
}

func (b *backupWriter) text(v string) {
	b.block = binary.AppendUvarint(append(b.block, tagBytes), uint64(len(v)))
	b.block = append(b.block, v...)
}

// endRow counts the row whose values were written, and writes the block when it is full.
func (b *backupWriter) endRow() error {
	if b.rows++; b.rows < blockRows {
		return nil
	}
	return b.flush()
}

func (b *backupWriter) flush() error {
	if b.rows == 0 {
		return nil
	}
	err := errors.Join(b.write(binary.AppendUvarint(nil, uint64(b.rows))), b.write(b.block))
	b.total += int64(b.rows)
	b.block, b.rows = b.block[:0], 0
	return err
}

// endTable returns the number of the table's rows.
func (b *backupWriter) endTable() (int64, error) {
	err := errors.Join(b.flush(), b.write([]byte{0}))
	n := b.total
	b.total = 0
	return n, err
}

func (b *backupWriter) end(rows map[string]int64) error {
	line, err := json.Marshal(backupTrailer{Rows: rows, SHA256: hex.EncodeToString(b.sum.Sum(nil))})
	if err != nil {
		return err
	}
	return errors.Join(b.write(append(line, '\n')), b.zip.Close())
}

// backupReader reads what a backupWriter wrote. All its errors but those of the source are ErrBadBackup.
type backupReader struct {
	src *bufio.Reader
	sum hash.Hash
}

func newBackupReader(r io.Reader) (*backupReader, BackupHead, error) {
	var head BackupHead
	zip, err := gzip.NewReader(r)
	if err != nil {
		return nil, head, fmt.Errorf("%w: %w", ErrBadBackup, err)
	}
	b := &backupReader{sum: sha256.New()}
	b.src = bufio.NewReaderSize(zip, 1<<20)
	magic, err := b.line()
	if err != nil {
		return nil, head, err
	}
	if magic != backupMagic {
		return nil, head, fmt.Errorf("%w: it begins with %.40q", ErrBadBackup, magic)
	}
	line, err := b.line()
	if err != nil {
		return nil, head, err
	}
	if err := json.Unmarshal([]byte(line), &head); err != nil {
		return nil, head, fmt.Errorf("%w: %w", ErrBadBackup, err)
	}
	return b, head, nil
}

// line reads a line with its end.
func (b *backupReader) line() (string, error) {
	line, err := b.src.ReadSlice('\n')
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadBackup, err)
	}
	b.sum.Write(line)
	return string(line), nil
}

// ReadByte implements io.ByteReader for varints.
func (b *backupReader) ReadByte() (byte, error) {
	c, err := b.src.ReadByte()
	if err == nil {
		b.sum.Write([]byte{c})
	}
	return c, err
}

// count reads how many rows follow, 0 at a table's end.
func (b *backupReader) count() (int, error) {
	n, err := binary.ReadUvarint(b)
	if err != nil || n > blockRows {
		return 0, fmt.Errorf("%w: block of %d rows (%v)", ErrBadBackup, n, err)
	}
	return int(n), nil
}

// cell reads a value into c, whose bytes it uses again.
func (b *backupReader) cell(c *cell) error {
	tag, err := b.ReadByte()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadBackup, err)
	}
	switch c.tag = tag; tag {
	case tagNull:
		return nil
	case tagInt:
		c.int, err = binary.ReadVarint(b)
	case tagBytes:
		var n uint64
		if n, err = binary.ReadUvarint(b); err == nil && n > maxCell {
			err = fmt.Errorf("value of %d bytes", n)
		}
		if err == nil {
			c.bytes = append(c.bytes[:0], make([]byte, n)...)
			_, err = io.ReadFull(b.src, c.bytes)
			b.sum.Write(c.bytes)
		}
	default:
		err = fmt.Errorf("value of kind %d", tag)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadBackup, err)
	}
	return nil
}

// end reads the trailer and compares it with what was read.
func (b *backupReader) end(rows map[string]int64) error {
	want := hex.EncodeToString(b.sum.Sum(nil))
	line, err := b.line()
	if err != nil {
		return err
	}
	var trailer backupTrailer
	if err := json.Unmarshal([]byte(line), &trailer); err != nil {
		return fmt.Errorf("%w: trailer: %w", ErrBadBackup, err)
	}
	if trailer.SHA256 != want {
		return fmt.Errorf("%w: its SHA-256 is %s, want %s", ErrBadBackup, want, trailer.SHA256)
	}
	for table, n := range rows {
		if trailer.Rows[table] != n {
			return fmt.Errorf("%w: %d rows of %s, want %d", ErrBadBackup, n, table, trailer.Rows[table])
		}
	}
	if _, err := b.src.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows its end (%v)", ErrBadBackup, err)
	}
	return nil
}
