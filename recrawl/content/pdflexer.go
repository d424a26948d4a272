package content

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
)

// mostNested is how deep arrays and dictionaries of a PDF file may lie in each other.
const mostNested = 64

// pdfValue is a value in a PDF file (ISO 32000-2, section 7.3); the zero one: there is none.
type pdfValue struct {
	token string     // itself, "[" or "<<"; "R" of a reference
	ref   int        // the object that it refers to; 0: none
	list  []pdfValue // of an array
	dict  []pdfEntry // of a dictionary, by key
}

type pdfEntry struct {
	key   string
	value pdfValue
}

// entry is the value of a key of a dictionary.
func (v *pdfValue) entry(key string) pdfValue {
	for i := range v.dict {
		if v.dict[i].key == key {
			return v.dict[i].value
		}
	}
	return pdfValue{}
}

// pdfLexer reads a PDF file token by token (section 7.2).
type pdfLexer struct {
	text   []byte
	at     int
	broken bool // what was read makes no sense
}

// value reads a value; depth is in how many others it lies.
func (l *pdfLexer) value(depth int) (v pdfValue) {
	v.token = l.next()
	switch {
	case v.token == "" || depth > mostNested:
		l.broken = true
	case v.token == "<<":
		for key := l.next(); key != ">>" && !l.broken; key = l.next() {
			l.broken = l.broken || key == "" || key[0] != '/'
			v.dict = append(v.dict, pdfEntry{key, l.value(depth + 1)})
		}
		slices.SortStableFunc(v.dict, func(a, b pdfEntry) int { return cmp.Compare(a.key, b.key) })
	case v.token == "[":
		for !l.broken && !l.skip("]") {
			v.list = append(v.list, l.value(depth+1))
		}
	case isNumber(v.token):
		at := l.at
		if isNumber(l.next()) && l.next() == "R" {
			v.ref, _ = strconv.Atoi(v.token)
			v.token = "R"
		} else {
			l.at = at
		}
	}
	return v
}

// skip passes by a token, if it is the next.
func (l *pdfLexer) skip(token string) bool {
	at := l.at
	if l.next() == token {
		return true
	}
	l.at = at
	return false
}

// stream reads the stream that belongs to a dictionary just read; false: it has none.
func (l *pdfLexer) stream(object *pdfValue) ([]byte, bool) {
	if !l.skip("stream") {
		return nil, false
	}
	if l.at < len(l.text) && l.text[l.at] == '\r' {
		l.at++
	}
	if l.at < len(l.text) && l.text[l.at] == '\n' {
		l.at++
	}
	rest, end := l.text[l.at:], []byte("endstream")
	length, err := strconv.Atoi(object.entry("/Length").token)
	if err != nil || length < 0 || length > len(rest) || !bytes.HasPrefix(bytes.TrimLeft(rest[length:], "\r\n"), end) {
		length = bytes.Index(rest, end) // another object says how long it is, or what says so is wrong
	}
	if length < 0 {
		l.broken = true
		return nil, false
	}
	l.at += length + bytes.Index(rest[length:], end) + len(end)
	return rest[:length], true
}

// next is the next token; "": there is none.
func (l *pdfLexer) next() string {
	l.space()
	if l.at >= len(l.text) {
		return ""
	}
	start := l.at
	switch c := l.text[start]; {
	case c == '(':
		l.literal()
	case bytes.HasPrefix(l.text[start:], []byte("<<")) || bytes.HasPrefix(l.text[start:], []byte(">>")):
		l.at += 2
	case c == '<':
		l.at = len(l.text)
		if end := bytes.IndexByte(l.text[start:], '>'); end >= 0 {
			l.at = start + end + 1
		}
	case c == '/':
		l.at++
		l.regular()
	case delimits(c):
		l.at++
	default:
		l.regular()
	}
	return string(l.text[start:l.at])
}

// space passes by white space and comments.
func (l *pdfLexer) space() {
	for ; l.at < len(l.text); l.at++ {
		switch c := l.text[l.at]; {
		case c == '%':
			end := bytes.IndexAny(l.text[l.at:], "\r\n")
			if end < 0 {
				l.at = len(l.text)
				return
			}
			l.at += end
		case !isSpace(c):
			return
		}
	}
}

// literal passes by a string in parentheses, which may lie in each other.
func (l *pdfLexer) literal() {
	for depth := 0; l.at < len(l.text); {
		c := l.text[l.at]
		l.at++
		switch c {
		case '\\':
			l.at = min(l.at+1, len(l.text))
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return
			}
		}
	}
}

// regular passes by what is neither white space nor a delimiter.
func (l *pdfLexer) regular() {
	for l.at < len(l.text) && !isSpace(l.text[l.at]) && !delimits(l.text[l.at]) {
		l.at++
	}
}

func isSpace(c byte) bool {
	switch c {
	case 0, '\t', '\n', '\f', '\r', ' ':
		return true
	}
	return false
}

func delimits(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

// isNumber tells a whole number without a sign, as those of objects are.
func isNumber(token string) bool {
	_, err := strconv.ParseUint(token, 10, 31)
	return err == nil
}
