package content

import (
	"encoding/binary"
	"hash/crc32"
)

// A memory is stored as its form, its numbers and texts one after the other, and a checksum: what is cut or altered reads
// as nothing at all, since half a memory could call a change noise.

// writer puts a memory together.
type writer struct{ b []byte }

func newWriter(form byte) *writer { return &writer{[]byte{form}} }

func (w *writer) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) signed(n int64)  { w.b = binary.AppendVarint(w.b, n) }
func (w *writer) hash(h uint64)   { w.b = binary.LittleEndian.AppendUint64(w.b, h) }

func (w *writer) short(h uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, h) }

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) bool(v bool) {
	if v {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *writer) finish() []byte {
	return binary.LittleEndian.AppendUint32(w.b, crc32.ChecksumIEEE(w.b))
}

// parser takes a memory apart. After bad everything reads as zero.
type parser struct {
	b   []byte
	bad bool
}

const checksumBytes = 4

// newParser checks the form and the checksum.
func newParser(b []byte, form byte) *parser {
	n := len(b) - checksumBytes
	if n < 1 || b[0] != form || binary.LittleEndian.Uint32(b[n:]) != crc32.ChecksumIEEE(b[:n]) {
		return &parser{bad: true}
	}
	return &parser{b: b[1:n]}
}

func (p *parser) number() uint64 {
	n, size := binary.Uvarint(p.b)
	return n * uint64(p.took(size))
}

func (p *parser) signed() int64 {
	n, size := binary.Varint(p.b)
	return n * int64(p.took(size))
}

// took moves on by size bytes; it returns 1, or 0 where there were none.
func (p *parser) took(size int) int {
	if p.bad || size <= 0 {
		p.bad = true
		return 0
	}
	p.b = p.b[size:]
	return 1
}

func (p *parser) hash() uint64 {
	if p.bad || len(p.b) < 8 {
		p.bad = true
		return 0
	}
	h := binary.LittleEndian.Uint64(p.b)
	p.b = p.b[8:]
	return h
}

func (p *parser) short() uint32 {
	if p.bad || len(p.b) < 4 {
		p.bad = true
		return 0
	}
	h := binary.LittleEndian.Uint32(p.b)
	p.b = p.b[4:]
	return h
}

func (p *parser) text() string {
	n := p.number()
	if p.bad || n > uint64(len(p.b)) {
		p.bad = true
		return ""
	}
	s := string(p.b[:n])
	p.b = p.b[n:]
	return s
}

func (p *parser) bool() bool { return p.number() != 0 }

// count reads how many entries follow, of which each takes a byte at least.
func (p *parser) count() int {
	n := p.number()
	if p.bad || n > uint64(len(p.b)) {
		p.bad = true
		return 0
	}
	return int(n)
}

// whole tells whether everything was read and nothing is left.
func (p *parser) whole() bool { return !p.bad && len(p.b) == 0 }
