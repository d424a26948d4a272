package content

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

// in tells whether a text says one of them in upper or lower case, from the beginning of a word on.
func (s *sayings) in(text string) bool {
	within := false
	for i := range len(text) - 1 {
		b := wordBytes[text[i]]
		if b != 0 && !within && s.nexts[b]>>(text[i+1]%32)&1 == 1 && s.at(text[i:], b) {
			return true
		}
		within = b != 0
	}
	return false
}

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
		if lower(text, i) != one[i] {
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

// lower is a byte of a text in lower case: of ASCII and of the letters of Latin-1, whose second byte in UTF-8 differs by one bit as well.
func lower(text string, i int) byte {
	switch b := text[i]; {
	case 'A' <= b && b <= 'Z', i > 0 && text[i-1] == 0xc3 && 0x80 <= b && b <= 0x9e:
		return b | 0x20
	default:
		return b
	}
}
