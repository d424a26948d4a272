package export

import (
	"encoding/binary"
	"encoding/hex"
	"errors"

	"recrawld/models"
)

// Entries are sorted as bytes: texts end in a zero byte, which no URL and no file name has, and numbers are written with the highest
// byte first and the sign turned around.

func appendText(b []byte, text string) []byte { return append(append(b, text...), 0) }

func appendNumber(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)^1<<63) }

// errEntry says that a sorted entry does not read back as it was written.
var errEntry = errors.New("the sorted versions are damaged")

// entryReader takes an entry apart. Once something is missing all further parts are empty, and err says so.
type entryReader struct {
	rest []byte
	err  error
}

func (r *entryReader) text() string {
	for i, c := range r.rest {
		if c == 0 {
			text := string(r.rest[:i])
			r.rest = r.rest[i+1:]
			return text
		}
	}
	r.rest, r.err = nil, errEntry
	return ""
}

func (r *entryReader) number() int64 {
	if len(r.rest) < 8 {
		r.rest, r.err = nil, errEntry
		return 0
	}
	n := int64(binary.BigEndian.Uint64(r.rest) ^ 1<<63)
	r.rest = r.rest[8:]
	return n
}

func (r *entryReader) record() models.Record {
	return models.Record{File: r.text(), Offset: r.number(), Length: r.number()}
}

func appendRecord(b []byte, at models.Record) []byte {
	return appendNumber(appendNumber(appendText(b, at.File), at.Offset), at.Length)
}

// keyOf begins the entries of versions and of revisit records that may be theirs: the page, and what it said.
func keyOf(url, digest string) []byte {
	return appendText(appendText(make([]byte, 0, len(url)+len(digest)+64), url), digest)
}

// wanted is a set of digests that never lacks one that was put in, and seldom has another: one bit for each of their first 27.
type wanted []uint64

func newWanted() wanted { return make(wanted, 1<<21) }

func (w wanted) put(d models.Digest) {
	at := binary.BigEndian.Uint32(d[:]) >> 5
	w[at>>6] |= 1 << (at & 63)
}

// has takes a digest as it is written.
func (w wanted) has(text string) bool {
	var d [4]byte
	if len(text) < 2*len(d) {
		return false
	}
	if _, err := hex.Decode(d[:], []byte(text[:2*len(d)])); err != nil {
		return false
	}
	at := binary.BigEndian.Uint32(d[:]) >> 5
	return w[at>>6]&(1<<(at&63)) != 0
}
