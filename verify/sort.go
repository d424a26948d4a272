package verify

import (
	"bytes"
	"encoding/binary"
	"iter"

	"recrawld/internal/sorter"
	"recrawld/models"
)

// byPlace puts versions in the order of their places in the archive: of their records, whether they are lost or not, and of their keys.
type byPlace struct {
	entries *sorter.Sorter
	entry   []byte
	names   map[string]string // of segments, which are few: one string each
}

func newByPlace(dir string) *byPlace {
	return &byPlace{entries: sorter.New(dir), names: make(map[string]string)}
}

// add takes a version.
func (b *byPlace) add(k models.Kept) error {
	big, lost := binary.BigEndian, byte(0)
	if k.Record.Lost() {
		lost = 1
	}
	out := append(append(b.entry[:0], k.Record.File...), 0)
	out = big.AppendUint64(out, uint64(k.Record.Offset))
	out = big.AppendUint64(out, uint64(length(k.Record)))
	out = big.AppendUint16(out, uint16(k.Bucket))
	out = big.AppendUint64(out, uint64(k.PageID))
	out = big.AppendUint32(out, uint32(k.Number))
	b.entry = append(append(out, lost), k.Digest[:]...)
	return b.entries.Add(b.entry)
}

// version is an entry's.
func (b *byPlace) version(entry []byte) models.Kept {
	end := bytes.IndexByte(entry, 0)
	name, known := b.names[string(entry[:end])]
	if !known {
		name = string(entry[:end])
		b.names[name] = name
	}
	big, rest := binary.BigEndian, entry[end+1:]
	k := models.Kept{Bucket: int16(big.Uint16(rest[16:])), PageID: int64(big.Uint64(rest[18:])), Number: int32(big.Uint32(rest[26:])),
		Record: models.Record{File: name, Offset: int64(big.Uint64(rest)), Length: int64(big.Uint64(rest[8:]))}}
	if rest[30] == 1 {
		k.Record.Length = -k.Record.Length
	}
	copy(k.Digest[:], rest[31:])
	return k
}

// sorted yields the versions in their order. Nothing is added afterwards.
func (b *byPlace) sorted() iter.Seq2[models.Kept, error] {
	return func(yield func(models.Kept, error) bool) {
		for entry, err := range b.entries.All() {
			if err != nil {
				yield(models.Kept{}, err)
				return
			}
			if !yield(b.version(entry), nil) {
				return
			}
		}
	}
}

// length is that of a record, also of one that is lost.
func length(r models.Record) int64 { return max(r.Length, -r.Length) }
