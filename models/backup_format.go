package models

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/klauspost/compress/gzip"
)

// What a value is.
const (
	tagNull = iota
	tagInt
	tagBytes
	tagReal
)

// cell is one value of a row: an integer, bytes (or text), a number with a fraction, or neither.
type cell struct {
	tag   byte
	int   int64
	bytes []byte
	real  float64
}

const (
	blockRows  = 1000    // a block is written when it has so many rows ...
	blockBytes = 1 << 20 // ... or bytes
	maxBlock   = 1 << 30 // a longer one is damaged
)

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
func (b *backupWriter) real(v float64) {
	b.block = binary.BigEndian.AppendUint64(append(b.block, tagReal), math.Float64bits(v))
}
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
	if b.rows++; b.rows < blockRows && len(b.block) < blockBytes {
		return nil
	}
	return b.flush()
}

func (b *backupWriter) flush() error {
	if b.rows == 0 {
		return nil
	}
	head := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(b.rows)), uint64(len(b.block)))
	err := errors.Join(b.write(head), b.write(b.block))
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
	src    *bufio.Reader
	sum    hash.Hash
	buffer bytes.Buffer
	block  []byte // what is left of the block in buffer
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

// next reads a block and says how many rows it has; 0 is the table's end.
func (b *backupReader) next() (int, error) {
	if len(b.block) > 0 {
		return 0, fmt.Errorf("%w: %d bytes after the rows of a block", ErrBadBackup, len(b.block))
	}
	rows, err := binary.ReadUvarint(b)
	if err != nil || rows > blockRows {
		return 0, fmt.Errorf("%w: block of %d rows (%v)", ErrBadBackup, rows, err)
	}
	if rows == 0 {
		return 0, nil
	}
	size, err := binary.ReadUvarint(b)
	if err != nil || size > maxBlock {
		return 0, fmt.Errorf("%w: block of %d bytes (%v)", ErrBadBackup, size, err)
	}
	b.buffer.Reset()
	if _, err := io.CopyN(&b.buffer, b.src, int64(size)); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrBadBackup, err)
	}
	b.block = b.buffer.Bytes()
	b.sum.Write(b.block)
	return int(rows), nil
}

// cell reads a value of the block; its bytes are good until the next block.
func (b *backupReader) cell() (cell, error) {
	c := cell{tag: 0xff}
	if len(b.block) > 0 {
		c.tag = b.block[0]
		b.block = b.block[1:]
	}
	n := 0 // bytes of the number
	switch c.tag {
	case tagNull:
		return c, nil
	case tagInt:
		c.int, n = binary.Varint(b.block)
	case tagReal:
		if len(b.block) >= 8 {
			c.real, n = math.Float64frombits(binary.BigEndian.Uint64(b.block)), 8
		}
	case tagBytes:
		var size uint64
		if size, n = binary.Uvarint(b.block); n > 0 && size <= uint64(len(b.block)-n) {
			c.bytes = b.block[n : n+int(size)]
			n += int(size)
		} else {
			n = 0
		}
	}
	if n <= 0 {
		return c, fmt.Errorf("%w: value of kind %d", ErrBadBackup, c.tag)
	}
	b.block = b.block[n:]
	return c, nil
}

// blame adds to an error of writing rows that the backup is damaged, where that is so: then it is what they come of, and the database is
// not at fault. It reads the rest, of which gzip knows the checksum.
func (b *backupReader) blame(err error) error {
	if errors.Is(err, ErrBadBackup) {
		return err
	}
	if _, damage := io.Copy(io.Discard, b.src); damage != nil {
		return fmt.Errorf("%w: %w (%v)", ErrBadBackup, damage, err)
	}
	return err
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
