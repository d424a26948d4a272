package content

// sayings are words that follow each other, by their first byte: a text is looked through once for all of them.
type sayings [1 << 8][]string

// sayingsOf makes sayings of texts in lower case.
func sayingsOf(all ...string) *sayings {
	s := &sayings{}
	for _, one := range all {
		s[one[0]] = append(s[one[0]], one)
	}
	return s
}

// and is both.
func (s *sayings) and(others *sayings) *sayings {
	all := *s
	for first, some := range others {
		all[first] = append(all[first][:len(all[first]):len(all[first])], some...)
	}
	return &all
}

// in tells whether a text says one of them in upper or lower case, from the beginning of a word on.
func (s *sayings) in(text string) bool {
	within := false
	for i := range len(text) {
		b := lower(text, i)
		if !within {
			for _, one := range s[b] {
				if saidAt(text[i:], one) {
					return true
				}
			}
		}
		within = b >= 0x80 || 'a' <= b && b <= 'z' || '0' <= b && b <= '9'
	}
	return false
}

func saidAt(text, one string) bool {
	if len(text) < len(one) {
		return false
	}
	for i := 1; i < len(one); i++ {
		if lower(text, i) != one[i] {
			return false
		}
	}
	return true
}

// lower is a byte of a text in lower case: of ASCII and of the letters of Latin-1, whose second byte in UTF-8 differs by one bit as well.
func lower(text string, i int) byte {
	switch b := text[i]; {
	case 'A' <= b && b <= 'Z', i > 0 && text[i-1] == 0xc3 && 0x80 <= b && b <= 0x9e:
		return b | 0x20
	default:
		return b
	}
}
