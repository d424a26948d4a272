// Package css finds what a style sheet refers to, and where: url(…), the strings of @import and of image-set(…).
//
// It reads the tokens of CSS Syntax Level 3 as far as they decide what is a reference and where it ends: comments, strings, escapes,
// and urls that are broken, which end as browsers end them. Nothing is nested and nothing fails: time is linear in the bytes read,
// and of a sheet that makes no sense, little is found.
package css

import (
	"bytes"
	"iter"
	"strings"
	"unicode/utf8"
)

// Ref is one reference of a style sheet.
type Ref struct {
	Text string // as it is meant, escapes resolved; it may be empty, a fragment alone or no URL at all

	// Start and End are where it stands in the sheet: the string with its quotes or, where a url has none, what stands between
	// the parentheses without the white space around it. A string in quotes may be put in its place.
	Start, End int

	Import bool // of @import: it leads to another style sheet
}

// Refs are the references of a style sheet, or of the content of a style attribute, in UTF-8, in the order in which they stand
// there. What names a namespace or a document is none. A reference may come more than once. They are found as they are asked for: a
// sheet may be nothing but references, and ten times its own size if all were held at once.
func Refs(sheet []byte) iter.Seq[Ref] {
	return func(yield func(Ref) bool) {
		s := scanner{text: sheet, yield: yield}
		if bytes.HasPrefix(sheet, []byte("\ufeff")) {
			s.at = len("\ufeff")
		}
		for s.at < len(s.text) && !s.ended {
			s.next()
		}
	}
}

// scanner is one pass over a style sheet.
type scanner struct {
	text []byte
	at   int

	yield func(Ref) bool
	ended bool // no more is asked for

	called   bool // url( was the last token, so a string is its argument
	imports  bool // @import was, so what follows is what it imports
	names    bool // within the prelude of a rule whose url is a name: @namespace, @document
	imageSet int  // how many parentheses are open since and with those of image-set; 0: none
}

// next reads one token.
func (s *scanner) next() {
	switch c := s.text[s.at]; {
	case isSpace(c):
		s.at++
	case c == '/' && s.peek(1) == '*':
		s.comment()
	case c == '"' || c == '\'':
		s.quoted()
	case c == '@':
		s.at++
		if s.startsName(s.at) {
			s.atRule(s.name())
		} else {
			s.other()
		}
	case c == '#':
		s.at++
		for s.at < len(s.text) && s.namePart() { // a hash, which is no url whatever it spells
		}
		s.other()
	case isDigit(c), c == '.' && isDigit(s.peek(1)):
		s.number()
		s.other()
	case s.startsName(s.at):
		s.word(s.name())
	default:
		s.at++
		s.delimiter(c)
	}
}

// other ends what waits for the token after it: what came is not what it waits for.
func (s *scanner) other() { s.called, s.imports = false, false }

// delimiter is a token of one character.
func (s *scanner) delimiter(c byte) {
	s.other()
	switch c {
	case '{', '}', ';':
		s.names, s.imageSet = false, 0 // a declaration's value is over, also where its parentheses are not
	case '(', '[':
		if s.imageSet > 0 {
			s.imageSet++
		}
	case ')', ']':
		s.imageSet = max(0, s.imageSet-1)
	}
}

func (s *scanner) comment() {
	end := bytes.Index(s.text[s.at+2:], []byte("*/"))
	if end < 0 {
		s.at = len(s.text)
		return
	}
	s.at += 2 + end + 2
}

func (s *scanner) atRule(name []byte) {
	s.other()
	switch {
	case is(name, "import"):
		s.imports = true
	case is(name, "namespace"), is(name, "document"), is(name, "-moz-document"):
		s.names = true
	}
}

// is tells whether a name is a word, in any case.
func is(name []byte, word string) bool {
	return len(name) == len(word) && strings.EqualFold(string(name), word)
}

// word is a name; a parenthesis right after it makes it a function.
func (s *scanner) word(name []byte) {
	if s.peek(0) != '(' {
		s.other()
		return
	}
	s.at++
	switch {
	case is(name, "url") && !s.quoteAhead():
		s.url()
		s.other()
		return
	case is(name, "url"), is(name, "src"):
		s.called = true
	default:
		s.other()
	}
	if s.imageSet > 0 {
		s.imageSet++
	} else if is(name, "image-set") || is(name, "-webkit-image-set") {
		s.imageSet = 1
	}
}

// quoteAhead tells whether a string follows, white space aside: url( is a function like others then (4.3.4).
func (s *scanner) quoteAhead() bool {
	rest := bytes.TrimLeft(s.text[s.at:], space)
	return len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'')
}

// quoted is a string (4.3.5). A line end that is not escaped breaks it: it says nothing then.
func (s *scanner) quoted() {
	start, quote := s.at, s.text[s.at]
	s.at++
	if end := bytes.IndexAny(s.text[s.at:], "\"'\\\n\r\f\x00"); end >= 0 && s.text[s.at+end] == quote && !s.refers() {
		s.at += end + 1 // as most strings
		s.other()
		return
	}
	var b strings.Builder
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == quote:
			s.at++
			s.found(b.String(), start)
			return
		case isNewline(c):
			s.other()
			return
		case c == '\\' && s.at+1 == len(s.text):
			s.at++
		case c == '\\' && isNewline(s.text[s.at+1]):
			s.at++
			s.newline()
		case c == '\\':
			s.escape(&b)
		default:
			s.plain(&b)
		}
	}
	s.found(b.String(), start) // the sheet ends within it, which ends it
}

// found takes a string or an unquoted url where it is a reference.
func (s *scanner) found(text string, start int) {
	if s.refers() {
		s.ended = !s.yield(Ref{Text: text, Start: start, End: s.at, Import: s.imports})
	}
	s.other()
}

// refers tells whether a string at this place is a reference.
func (s *scanner) refers() bool { return (s.called || s.imports || s.imageSet == 1) && !s.names }

// url is an unquoted url, after its parenthesis (4.3.6).
func (s *scanner) url() {
	s.spaces()
	start := s.at
	var b strings.Builder
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ')' || isSpace(c):
			end := s.at
			s.spaces()
			if s.at < len(s.text) && s.text[s.at] != ')' {
				s.badURL()
				return
			}
			s.take(b.String(), start, end)
			s.at = min(s.at+1, len(s.text))
			return
		case c == '"', c == '\'', c == '(', isControl(c), c == '\\' && !s.startsEscape(s.at):
			s.badURL()
			return
		case c == '\\':
			s.escape(&b)
		default:
			s.plain(&b)
		}
	}
	s.take(b.String(), start, s.at)
}

// take takes an unquoted url.
func (s *scanner) take(text string, start, end int) {
	if !s.names {
		s.ended = !s.yield(Ref{Text: text, Start: start, End: end, Import: s.imports})
	}
}

// badURL skips what is left of a broken url (4.3.14).
func (s *scanner) badURL() {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ')':
			s.at++
			return
		case c == '\\' && s.startsEscape(s.at):
			s.at += 2
		default:
			s.at++
		}
	}
}

const space = " \t\n\r\f"

func (s *scanner) spaces() {
	for s.at < len(s.text) && isSpace(s.text[s.at]) {
		s.at++
	}
}

// peek is the byte that is so far ahead, 0 behind the end.
func (s *scanner) peek(ahead int) byte {
	if s.at+ahead < len(s.text) {
		return s.text[s.at+ahead]
	}
	return 0
}

// plain copies one byte as it is; NUL stands for no character.
func (s *scanner) plain(b *strings.Builder) {
	if c := s.text[s.at]; c == 0 {
		b.WriteRune(utf8.RuneError)
	} else {
		b.WriteByte(c)
	}
	s.at++
}

func isSpace(c byte) bool   { return c == ' ' || c == '\t' || isNewline(c) }
func isNewline(c byte) bool { return c == '\n' || c == '\r' || c == '\f' }
func isDigit(c byte) bool   { return c-'0' < 10 }
func isControl(c byte) bool {
	return c <= 0x08 && c != 0 || c == 0x0B || c >= 0x0E && c <= 0x1F || c == 0x7F
}
