package pdf

// cmap is what codes mean (section 9.10.3).
type cmap map[int]string

// mostCodes bounds what is read of a cmap.
const mostCodes = 1 << 16

// readCMap reads what a ToUnicode stream says.
func readCMap(text []byte) cmap {
	c := make(cmap)
	l := lexer{text: text}
	for token := l.next(); token != "" && !l.broken; token = l.next() {
		switch token {
		case "beginbfchar":
			c.chars(&l)
		case "beginbfrange":
			c.spans(&l)
		}
	}
	return c
}

// chars reads pairs of a code and what it means.
func (c cmap) chars(l *lexer) {
	for len(c) < mostCodes {
		from := l.value(0)
		if from.token[:min(1, len(from.token))] != "<" {
			return
		}
		to := l.value(0)
		c[codeOf(from)] = utf16BE(to.bytes())
	}
}

// spans reads threes of a first code, a last one, and what the first means, or each of them.
func (c cmap) spans(l *lexer) {
	for len(c) < mostCodes {
		first := l.value(0)
		if first.token[:min(1, len(first.token))] != "<" {
			return
		}
		last, to := l.value(0), l.value(0)
		if to.token != "[" {
			c.row(codeOf(first), codeOf(last), []rune(utf16BE(to.bytes())))
			continue
		}
		for i := range to.list {
			c[codeOf(first)+i] = utf16BE(to.list[i].bytes())
		}
	}
}

// row gives codes in a row characters in a row, of which text is the first.
func (c cmap) row(first, last int, text []rune) {
	for code := first; code <= last && len(c) < mostCodes && len(text) > 0; code++ {
		c[code] = string(text)
		text[len(text)-1]++
	}
}

func codeOf(v value) (code int) {
	for _, c := range v.bytes() {
		code = code<<8&0xffffff | int(c)
	}
	return code
}
