package pdf

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// withoutDates is a font without when it was made and the sums over that (OpenType 1.9, "Organization of an OpenType Font" and "head"): who puts a part
// of a font into a file dates it. What is no font is returned as it is.
func withoutDates(font []byte) []byte {
	const directory, entry, sumAt, datesAt, datesEnd = 12, 16, 8, 20, 36
	if len(font) < directory {
		return font
	}
	font = slices.Clone(font)
	for i := range int(binary.BigEndian.Uint16(font[4:])) {
		table := font[min(directory+i*entry, len(font)):]
		if len(table) < entry {
			break
		}
		if !bytes.HasPrefix(table, []byte("head")) {
			continue
		}
		clear(table[4:8])
		head := int64(binary.BigEndian.Uint32(table[8:]))
		if head+datesEnd <= int64(len(font)) {
			clear(font[head+sumAt : head+sumAt+4])
			clear(font[head+datesAt : head+datesEnd])
		}
	}
	return font
}
