package pdf

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Bounds of an object of a PDF file.
const (
	mostNested = 64      // arrays and dictionaries that lie in each other
	mostValues = 1 << 18 // values in one: each takes some 100 bytes of memory
)

// value is a value in a PDF file (ISO 32000-2, section 7.3); the zero one: there is none.
type value struct {
	token string  // itself, "[" or "<<"; "R" of a reference
	ref   int     // the object that it refers to; 0: none
	list  []value // of an array
	dict  []entry // of a dictionary, by key
}

type entry struct {
	key   string
	value value
}

// entry is the value of a key of a dictionary, the first where it is there more than once.
func (v *value) entry(key string) value {
	if i, ok := slices.BinarySearchFunc(v.dict, key, func(e entry, key string) int { return cmp.Compare(e.key, key) }); ok {
		return v.dict[i].value
	}
	return value{}
}

// lexer reads a PDF file token by token (section 7.2).
type lexer struct {
	text   []byte
	at     int
	looked int  // how far it was read at most, to know what comes
	values int  // of the object that is read
	broken bool // what was read makes no sense
}

// value reads a value; depth is in how many others it lies.
func (l *lexer) value(depth int) (v value) {
	if depth == 0 {
		l.values = 0
	}
	l.values++
	v.token = l.next()
	switch {
	case v.token == "" || depth > mostNested || l.values > mostValues:
		l.broken = true
	case v.token == "<<":
		for key := l.next(); key != ">>" && !l.broken; key = l.next() {
			l.broken = l.broken || key == "" || key[0] != '/'
			v.dict = append(v.dict, entry{key, l.value(depth + 1)})
		}
		slices.SortStableFunc(v.dict, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
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
func (l *lexer) skip(token string) bool {
	at := l.at
	if l.next() == token {
		return true
	}
	l.at = at
	return false
}

// stream reads the stream that belongs to a dictionary just read; false: it has none.
func (l *lexer) stream(object *value) ([]byte, bool) {
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
func (l *lexer) next() string {
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
	l.looked = max(l.looked, l.at)
	if l.text[start] == '/' {
		return unescaped(string(l.text[start:l.at]))
	}
	return string(l.text[start:l.at])
}

// space passes by white space and comments.
func (l *lexer) space() {
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
func (l *lexer) literal() {
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
func (l *lexer) regular() {
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
	for _, c := range []byte(token) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return token != "" && len(token) < 10
}

// bytes are what a string says (section 7.3.4); nil: it is none.
func (v *value) bytes() []byte {
	switch {
	case strings.HasPrefix(v.token, "("):
		return literal(v.token)
	case strings.HasPrefix(v.token, "<") && v.token != "<<":
		return hexadecimal(v.token)
	}
	return nil
}

// literal reads a string in parentheses.
func literal(token string) []byte {
	token = strings.TrimSuffix(token[1:], ")")
	if strings.IndexByte(token, '\\') < 0 {
		return []byte(token)
	}
	var s []byte
	for i := 0; i < len(token); i++ {
		c := token[i]
		if c != '\\' || i+1 == len(token) {
			s = append(s, c)
			continue
		}
		i++
		switch c = token[i]; c {
		case 'n', 'r', 't', 'b', 'f':
			s = append(s, "\n\r\t\b\f"[strings.IndexByte("nrtbf", c)])
		case '\r', '\n': // the line goes on
			if c == '\r' && strings.HasPrefix(token[i+1:], "\n") {
				i++
			}
		default:
			end := i
			for end < min(i+3, len(token)) && token[end] >= '0' && token[end] <= '7' {
				end++
			}
			if code, err := strconv.ParseUint(token[i:end], 8, 16); err == nil {
				s, i = append(s, byte(code)), end-1
			} else {
				s = append(s, c)
			}
		}
	}
	return s
}

// hexadecimal reads a string between angle brackets.
func hexadecimal(token string) []byte {
	var s []byte
	half, first := false, byte(0)
	for _, c := range []byte(token) {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		switch {
		case digit < 0 || c < '0':
		case half:
			s, half = append(s, first<<4|byte(digit)), false
		default:
			first, half = byte(digit), true
		}
	}
	if half {
		s = append(s, first<<4)
	}
	return s
}

// unescaped is a name as it is meant (section 7.3.5).
func unescaped(name string) string {
	var b strings.Builder
	for {
		head, tail, escapes := strings.Cut(name, "#")
		if !escapes && b.Len() == 0 {
			return name
		}
		b.WriteString(head)
		if !escapes {
			return b.String()
		}
		if code, err := strconv.ParseUint(tail[:min(len(tail), 2)], 16, 8); err == nil && len(tail) >= 2 {
			b.WriteByte(byte(code))
			tail = tail[2:]
		} else {
			b.WriteByte('#')
		}
		name = tail
	}
}
