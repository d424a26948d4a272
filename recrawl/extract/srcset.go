package extract

import (
	"strconv"
	"strings"
)

// Span is where a part of a text stands.
type Span struct{ Start, End int }

// Srcset finds the URLs of a srcset attribute (HTML Standard, 4.8.4.2.2 "parse a srcset attribute"). A URL may hold commas; a
// candidate whose descriptors make no sense is none.
func Srcset(value string) []Span {
	var urls []Span
	for at := 0; ; {
		at = len(value) - len(strings.TrimLeft(value[at:], space+","))
		if at == len(value) {
			return urls
		}
		url := Span{at, len(value)}
		if n := strings.IndexAny(value[at:], space); n >= 0 {
			url.End = at + n
		}
		at = url.End
		ok := true
		if bare := strings.TrimRight(value[url.Start:url.End], ","); url.Start+len(bare) != url.End {
			url.End = url.Start + len(bare) // the comma ends the candidate, which has no descriptor
		} else {
			end := at + descriptorsEnd(value[at:])
			ok = describes(value[at:end])
			at = end
		}
		if ok {
			urls = append(urls, url)
		}
	}
}

// srcset are the URLs of a srcset attribute, as they are written.
func srcset(value string) []string {
	var urls []string
	for _, s := range Srcset(value) {
		urls = append(urls, value[s.Start:s.End])
	}
	return urls
}

// descriptorsEnd is where the descriptors of a candidate end: at a comma that stands in no parentheses.
func descriptorsEnd(s string) int {
	open := false
	for i := range len(s) {
		switch s[i] {
		case '(':
			open = true
		case ')':
			open = false
		case ',':
			if !open {
				return i
			}
		}
	}
	return len(s)
}

// describes tells whether descriptors make sense: one width with or without a height, or one density, or none.
func describes(descriptors string) bool {
	widths, densities, heights := 0, 0, 0
	for d := range strings.FieldsSeq(descriptors) {
		number := d[:len(d)-1]
		switch d[len(d)-1] {
		case 'w':
			widths++
		case 'h':
			heights++
		case 'x':
			if f, err := strconv.ParseFloat(number, 64); err != nil || f < 0 {
				return false
			}
			densities++
			continue
		default:
			return false
		}
		if n, err := strconv.ParseUint(number, 10, 32); err != nil || n == 0 {
			return false
		}
	}
	return widths <= 1 && densities <= 1 && heights <= widths && (densities == 0 || widths == 0)
}
