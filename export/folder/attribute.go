package folder

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html" // the standard library's html takes "&#x;" for a reference, and "&#0" for none

	"recrawld/internal/filename"
)

// attribute is where an attribute stands in its tag.
type attribute struct {
	start, nameEnd, end  int
	valueStart, valueEnd int  // without quotes
	quote                byte // 0: it has none
	valued               bool
}

// eachAttribute calls yield with the attributes of a start tag as it stands in the page, or of what follows the name of a processing
// instruction (HTML Standard, 13.2.5.32 and what follows).
func eachAttribute(tag []byte, from int, yield func(attribute)) {
	end := len(tag)
	if end > 0 && tag[end-1] == '>' {
		end--
	}
	for i := from; i < end; {
		for i < end && (isSpace(tag[i]) || tag[i] == '/') {
			i++
		}
		if i == end {
			return
		}
		a := attribute{start: i}
		for i++; i < end && !isSpace(tag[i]) && tag[i] != '/' && tag[i] != '='; i++ {
		}
		a.nameEnd, a.end = i, i
		next := i
		for next < end && isSpace(tag[next]) {
			next++
		}
		if next < end && tag[next] == '=' {
			i = a.value(tag, next+1, end)
		}
		yield(a)
	}
}

// value reads the value behind the equals sign, and says where it ends.
func (a *attribute) value(tag []byte, i, end int) int {
	a.valued = true
	for i < end && isSpace(tag[i]) {
		i++
	}
	if i < end && (tag[i] == '"' || tag[i] == '\'') {
		a.quote = tag[i]
		a.valueStart = i + 1
		n := bytes.IndexByte(tag[i+1:end], a.quote)
		if n < 0 {
			a.valueEnd, a.end = end, end
			return end
		}
		a.valueEnd, a.end = i+1+n, i+1+n+1
		return a.end
	}
	a.valueStart = i
	for i < end && !isSpace(tag[i]) {
		i++
	}
	a.valueEnd, a.end = i, i
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

// longName is longer than any name of an attribute or an element that is of interest.
const longName = 24

// lowerName is a name of an element or an attribute in lower case; "" where it is longer than any that is of interest.
func lowerName(name []byte) string {
	if len(name) > longName {
		return ""
	}
	var b [longName]byte
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		b[i] = c
	}
	return string(b[:len(name)])
}

// tagName is the name that a tag begins with, and where it ends.
func tagName(tag []byte) (name string, end int) {
	const begin = len("<")
	end = begin
	for end < len(tag) && !isSpace(tag[end]) && tag[end] != '/' && tag[end] != '>' {
		end++
	}
	return lowerName(tag[min(begin, len(tag)):end]), end
}

// plainValue is the value of an attribute without its character references. In an attribute those that have no semicolon count by a rule of
// their own: not where a letter, a digit or an equals sign follows (HTML Standard, 13.2.5.73), so that "?a=1&copy=2" stays.
func plainValue(value string) string {
	at := strings.IndexByte(value, '&')
	if at < 0 {
		return value
	}
	var b strings.Builder
	for ; at >= 0; at = strings.IndexByte(value, '&') {
		b.WriteString(value[:at])
		value = value[at:]
		n, plain := characterReference(value)
		b.WriteString(plain)
		value = value[n:]
	}
	b.WriteString(value)
	return b.String()
}

// longReference is longer than the name of any character.
const longReference = 40

// characterReference is how many bytes of an attribute's value the reference takes that begins it, and what they stand for: themselves where
// it is none.
func characterReference(value string) (n int, plain string) {
	n = len("&")
	numeric := len(value) > n && value[n] == '#'
	if numeric {
		n++
	}
	for n < len(value) && n < longReference && (filename.IsLetter(value[n]) || filename.IsDigit(value[n])) {
		n++
	}
	switch plain = value[:n]; {
	case numeric:
		if n < len(value) && value[n] == ';' {
			n++
		}
		plain = html.UnescapeString(value[:n])
	case n < len(value) && value[n] == ';':
		if whole := html.UnescapeString(value[:n+1]); !strings.HasSuffix(whole, ";") {
			return n + 1, whole
		}
	case n == len(value) || value[n] != '=':
		if whole := html.UnescapeString(plain); utf8.RuneCountInString(whole) == 1 {
			return n, whole
		}
	}
	return n, plain
}

// quotedValue is a value as it stands in a tag, with its quotes: those of before, or double ones where there were none. What is not ASCII
// is written as a character reference, so that it is right in any encoding.
func quotedValue(value string, quote byte) string {
	if quote == 0 {
		quote = '"'
	}
	var b strings.Builder
	b.WriteByte(quote)
	for _, c := range value {
		switch {
		case c == '&':
			b.WriteString("&amp;")
		case c == '<':
			b.WriteString("&lt;")
		case c == rune(quote), c >= 0x80, c < ' ':
			b.WriteString("&#")
			b.WriteString(strconv.Itoa(int(c)))
			b.WriteByte(';')
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte(quote)
	return b.String()
}
