package css

import (
	"strings"
	"unicode/utf8"
)

// startsName tells whether a name begins at a place (4.3.9).
func (s *scanner) startsName(at int) bool {
	if at < len(s.text) && s.text[at] == '-' {
		at++
		if at < len(s.text) && s.text[at] == '-' {
			return true
		}
	}
	if at >= len(s.text) {
		return false
	}
	c := s.text[at]
	return isNameByte(c) && !isDigit(c) && c != '-' || s.startsEscape(at)
}

// startsEscape tells whether a backslash at a place escapes what follows (4.3.8).
func (s *scanner) startsEscape(at int) bool {
	return at < len(s.text) && s.text[at] == '\\' && (at+1 == len(s.text) || !isNewline(s.text[at+1]))
}

// isNameByte tells a byte that may stand in a name. NUL stands for U+FFFD, which may.
func isNameByte(c byte) bool {
	return c|0x20-'a' < 26 || isDigit(c) || c == '-' || c == '_' || c >= utf8.RuneSelf || c == 0
}

// longName is longer than any name that says something here.
const longName = 32

// name reads a name, escapes resolved; of one that has some and is long no more than that it is. Most have none, and stay where they
// are.
func (s *scanner) name() []byte {
	start := s.at
	for s.at < len(s.text) && isNameByte(s.text[s.at]) {
		s.at++
	}
	name := s.text[start:s.at]
	if !s.startsEscape(s.at) {
		return name
	}
	var b strings.Builder
	b.Write(name[:min(len(name), longName)])
	for s.at < len(s.text) {
		switch {
		case b.Len() >= longName:
			if !s.namePart() {
				return []byte(b.String())
			}
		case s.startsEscape(s.at):
			s.escape(&b)
		case isNameByte(s.text[s.at]):
			b.WriteByte(s.text[s.at])
			s.at++
		default:
			return []byte(b.String())
		}
	}
	return []byte(b.String())
}

// namePart reads a byte or an escape of a name; false: there is none.
func (s *scanner) namePart() bool {
	switch {
	case isNameByte(s.text[s.at]):
		s.at++
	case s.startsEscape(s.at):
		var ignored strings.Builder
		s.escape(&ignored)
	default:
		return false
	}
	return true
}

// number reads a number and its unit (4.3.3).
func (s *scanner) number() {
	s.digits()
	if s.peek(0) == '.' && isDigit(s.peek(1)) {
		s.at++
		s.digits()
	}
	if e := s.peek(0); e == 'e' || e == 'E' {
		signed := s.peek(1) == '+' || s.peek(1) == '-'
		if isDigit(s.peek(1)) || signed && isDigit(s.peek(2)) {
			s.at += 2
			s.digits()
		}
	}
	if s.startsName(s.at) {
		for s.at < len(s.text) && s.namePart() {
		}
	}
}

func (s *scanner) digits() {
	for s.at < len(s.text) && isDigit(s.text[s.at]) {
		s.at++
	}
}

// escape reads a backslash and what it escapes (4.3.7): up to six digits of a code point and one white space behind them, or a
// character that stands for itself.
func (s *scanner) escape(b *strings.Builder) {
	s.at++
	if s.at == len(s.text) {
		b.WriteRune(utf8.RuneError)
		return
	}
	const most = 6
	code, n := rune(0), 0
	for ; n < most && s.at < len(s.text); n++ {
		digit, ok := hexDigit(s.text[s.at])
		if !ok {
			break
		}
		code = code<<4 | digit
		s.at++
	}
	if n == 0 {
		s.plain(b) // its first byte; those that may follow stand for themselves, too
		return
	}
	if code == 0 {
		code = utf8.RuneError
	}
	b.WriteRune(code) // of a surrogate, and beyond Unicode, U+FFFD
	if s.at < len(s.text) && isSpace(s.text[s.at]) {
		s.newline()
	}
}

// newline reads one white space; a carriage return and the line feed behind it are one.
func (s *scanner) newline() {
	if s.text[s.at] == '\r' && s.peek(1) == '\n' {
		s.at++
	}
	s.at++
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case isDigit(c):
		return rune(c - '0'), true
	case c|0x20-'a' < 6:
		return rune(c|0x20-'a') + 10, true
	}
	return 0, false
}
