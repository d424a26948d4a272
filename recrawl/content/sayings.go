package content

import (
	_ "embed"
	"strings"
)

//go:embed sayings.txt
var sayingsText string

// said are the sayings of pages without content, by what they are of.
var said = readSayings(sayingsText)

// readSayings reads a list of sayings by their sections.
func readSayings(list string) map[string][]string {
	all, section := map[string][]string{}, ""
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		default:
			_, sayings, _ := strings.Cut(line, ": ")
			all[section] = append(all[section], strings.Split(sayings, ", ")...)
		}
	}
	return all
}

// sayings are words that follow each other, of two bytes at least: a text is looked through once for all of them.
type sayings struct {
	by    [1 << 8][]string // by their first byte
	nexts [1 << 8]uint32   // which second bytes these have, modulo 32
}

// sayingsOf makes sayings of texts in lower case.
func sayingsOf(all ...string) *sayings {
	s := &sayings{}
	for _, one := range all {
		s.by[one[0]] = append(s.by[one[0]], one)
		s.nexts[one[0]] |= 1 << (one[1] % 32)
	}
	return s
}

// and is both.
func (s *sayings) and(others *sayings) *sayings {
	all := &sayings{}
	for first := range all.by {
		all.by[first] = append(append(all.by[first], s.by[first]...), others.by[first]...)
		all.nexts[first] = s.nexts[first] | others.nexts[first]
	}
	return all
}

// in tells whether a text says one of them in upper or lower case, from the beginning of a word on; what is written without spaces, anywhere.
func (s *sayings) in(text string) bool {
	if !isASCII(text) {
		text = strings.ToLower(text)
	}
	within := false
	for i := range len(text) - 1 {
		b := wordBytes[text[i]]
		if b != 0 && (!within || b >= threeBytes) && s.nexts[b]>>(text[i+1]%32)&1 == 1 && s.at(text[i:], b) {
			return true
		}
		within = b != 0
	}
	return false
}

// threeBytes is the first byte of the runes of three bytes, as those of all scripts that are written without spaces.
const threeBytes = 0xE0

// at tells whether a text begins with one of them, whose first byte that is.
func (s *sayings) at(text string, first byte) bool {
	for _, one := range s.by[first] {
		if len(text) >= len(one) && begins(text, one) {
			return true
		}
	}
	return false
}

func begins(text, one string) bool {
	for i := 1; i < len(one); i++ {
		if lower(text[i]) != one[i] {
			return false
		}
	}
	return true
}

// wordBytes are the bytes that words are made of, in lower case; 0: none is.
var wordBytes = func() (all [1 << 8]byte) {
	for i := range all {
		switch b := byte(i); {
		case b >= 0x80, 'a' <= b && b <= 'z', '0' <= b && b <= '9':
			all[i] = b
		case 'A' <= b && b <= 'Z':
			all[i] = b | 0x20
		}
	}
	return all
}()

// lower is a byte of a text in lower case, as far as it is one of ASCII.
func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b | 0x20
	}
	return b
}
