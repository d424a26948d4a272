package pdf

import (
	"cmp"
	"slices"
)

// codes are what is known of the codes of a font.
type codes[T any] struct {
	single map[int]T
	rows   []row[T] // by their first codes; of two that share a code the one that begins later counts
	room   *int     // of how many more of all fonts something may be known
}

// row is what is known of codes in a row.
type row[T any] struct {
	first, last int
	known       T
}

func newCodes[T any](room *int) codes[T] { return codes[T]{single: make(map[int]T), room: room} }

// add notes something of codes in a row, which are to be sorted then.
func (c *codes[T]) add(first, last int, known T) {
	switch {
	case *c.room <= 0:
		return
	case first == last:
		c.single[first] = known
	default:
		c.rows = append(c.rows, row[T]{first, last, known})
	}
	*c.room--
}

func (c *codes[T]) sort() {
	slices.SortStableFunc(c.rows, func(a, b row[T]) int { return cmp.Compare(a.first, b.first) })
}

// of is what is known of a code, and the first of the row in which it stands.
func (c *codes[T]) of(code int) (known T, first int, ok bool) {
	if known, ok = c.single[code]; ok {
		return known, code, true
	}
	at, _ := slices.BinarySearchFunc(c.rows, code+1, func(r row[T], code int) int { return cmp.Compare(r.first, code) })
	if at == 0 || c.rows[at-1].last < code {
		return known, 0, false
	}
	return c.rows[at-1].known, c.rows[at-1].first, true
}

// readCMap reads what a ToUnicode stream says that codes mean (section 9.10.3).
func readCMap(c *codes[string], text []byte) {
	l := lexer{text: text}
	for token := l.next(); token != "" && !l.broken; token = l.next() {
		switch token {
		case "beginbfchar":
			readChars(c, &l)
		case "beginbfrange":
			readRows(c, &l)
		}
	}
}

// readChars reads pairs of a code and what it means.
func readChars(c *codes[string], l *lexer) {
	for !l.broken {
		from := l.value(0)
		if from.bytes() == nil {
			return
		}
		to := l.value(0)
		c.add(codeOf(from), codeOf(from), utf16BE(to.bytes()))
	}
}

// readRows reads threes of a first code, a last one, and what the first means, or each of them.
func readRows(c *codes[string], l *lexer) {
	for !l.broken {
		first := l.value(0)
		if first.bytes() == nil {
			return
		}
		last, to := l.value(0), l.value(0)
		if to.token != "[" {
			c.add(codeOf(first), codeOf(last), utf16BE(to.bytes()))
			continue
		}
		for i := range to.list {
			c.add(codeOf(first)+i, codeOf(first)+i, utf16BE(to.list[i].bytes()))
		}
	}
}

// onwards is text whose last character is so many on: what a code means whose row begins with the text.
func onwards(text string, by int) string {
	if by == 0 || text == "" {
		return text
	}
	runes := []rune(text)
	runes[len(runes)-1] += rune(by)
	return string(runes)
}

func codeOf(v value) (code int) {
	for _, c := range v.bytes() {
		code = code<<8&0xffffff | int(c)
	}
	return code
}
