// Package script finds what a script imports: the literal strings of import and export … from, of import(…), and of new URL(…,
// import.meta.url), by which modules name their files.
//
// It reads the tokens of ECMAScript as far as they decide what is code: comments, strings, templates and regular expressions. Whether a slash
// divides or begins an expression is decided by what stands before it, which code that nobody writes deceives; a string or an expression ends with
// its line at the latest, so that no more than a line is misread. Nothing fails: time is linear in the bytes read, and of a script that makes no
// sense, little is found.
package script

import (
	"bytes"
	"iter"
	"strings"
)

// Imports are the specifiers of a script, in UTF-8, that name a file by an address: with a scheme, from the root of the host, or relative to the script
// (/a.js, ./a.js, ../a.js; in a URL also a.js). What is put together from parts is none, and neither is a name alone, as of a package. One
// may come more than once.
func Imports(text []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !bytes.Contains(text, []byte("import")) && !bytes.Contains(text, []byte("export")) {
			return
		}
		s := scanner{text: text, yield: yield}
		for s.at < len(s.text) && !s.ended {
			s.next()
		}
	}
}

// scanner is one pass over a script.
type scanner struct {
	text  []byte
	at    int
	yield func(string) bool
	ended bool // no more is asked for

	operand bool   // what was read last is a value, so that a slash divides it
	member  bool   // a dot was read last: what follows is a name, whatever it spells
	last    []byte // the word that was read last, where nothing else was since

	open    []opened // brackets that are open
	slashes int      // up to where a slash begins no expression: one before it in the line did not end
}

// opened is what a bracket that is open stands for.
type opened byte

const (
	grouping  opened = iota // what is in it is a value
	heading                 // the condition of an if or a loop, behind which a statement begins
	block                   // in braces
	inserting               // ${ in a template
)

// next reads one token.
func (s *scanner) next() {
	c := s.text[s.at]
	word, member := s.last, s.member
	switch {
	case isSpace(c) || s.comment():
		s.at += btoi(isSpace(c))
		return
	case startsWord(c):
		s.word(word, member)
		return
	}
	s.last, s.member = nil, c == '.'
	switch {
	case c == '"' || c == '\'':
		s.quoted()
		s.operand = true
	case c == '`':
		s.at++
		s.template()
	case c == '/' && !s.operand && s.at >= s.slashes:
		s.expression()
	case (c == '+' || c == '-') && s.peek(1) == c: // behind a value or before one, which it leaves as it was
		s.at += 2
	default:
		s.at++
		s.bracket(c, word)
	}
}

// bracket takes a character that is no part of anything longer. word is the one right before it.
func (s *scanner) bracket(c byte, word []byte) {
	s.operand = c == ')' || c == ']'
	switch c {
	case '(':
		kind := grouping
		switch string(word) {
		case "if", "while", "for", "with":
			kind = heading
		}
		s.open = append(s.open, kind)
	case '{':
		s.open = append(s.open, block)
	case ')':
		s.operand = s.close() != heading
	case '}':
		if s.close() == inserting {
			s.template()
		}
	}
}

// close closes the innermost bracket.
func (s *scanner) close() opened {
	if len(s.open) == 0 {
		return grouping
	}
	kind := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	return kind
}

// beforeValue are the words behind which a value comes, and so a slash begins an expression.
var beforeValue = map[string]bool{"await": true, "case": true, "default": true, "delete": true, "do": true, "else": true, "export": true,
	"from": true, "import": true, "in": true, "instanceof": true, "new": true, "of": true, "return": true, "throw": true, "typeof": true,
	"void": true, "yield": true}

// word reads a name or a number, and what is imported by it.
func (s *scanner) word(before []byte, member bool) {
	start := s.at
	for s.at < len(s.text) && (startsWord(s.text[s.at]) || s.text[s.at] == '.' && isDigit(s.text[start])) {
		s.at++
	}
	s.last, s.member = s.text[start:s.at], false
	s.operand = member || !beforeValue[string(s.last)]
	if member {
		s.last = nil
	}
	switch string(s.last) {
	case "import":
		s.skip()
		if s.peek(0) == '(' {
			s.argument("", false)
			return
		}
		fallthrough
	case "from": // before a string it is nothing but what it is in import and export
		s.skip()
		if ref, end := s.literal(s.at); end > s.at && s.text[s.at] != '`' {
			s.take(ref, false)
		}
	case "URL":
		if string(before) == "new" {
			s.skip()
			s.argument("import.meta.url", true)
		}
	}
}

// argument takes the literal that is the first argument, where nothing or what is given follows it; what it is part of is read on as any other.
func (s *scanner) argument(second string, bare bool) {
	if s.peek(0) != '(' {
		return
	}
	ahead := scanner{text: s.text, at: s.at + 1}
	ahead.skip()
	ref, end := ahead.literal(ahead.at)
	if end == ahead.at {
		return
	}
	ahead.at = end
	ahead.skip()
	if c := ahead.peek(0); second == "" && c != ')' && c != ',' || second != "" && c != ',' {
		return
	}
	ahead.at++
	ahead.skip()
	if second == "" || bytes.HasPrefix(ahead.text[min(ahead.at, len(ahead.text)):], []byte(second)) {
		s.take(ref, bare)
	}
}

// literal is the string, or the template without parts, at a place, and where it ends; there if there is none.
func (s *scanner) literal(at int) (text string, end int) {
	if at >= len(s.text) || s.text[at] != '"' && s.text[at] != '\'' && s.text[at] != '`' {
		return "", at
	}
	ahead := scanner{text: s.text, at: at}
	ahead.quoted()
	if ahead.at < at+2 || ahead.text[ahead.at-1] != s.text[at] {
		return "", at
	}
	return string(s.text[at+1 : ahead.at-1]), ahead.at
}

// take takes a specifier, unless it is a name or no address. Of a directory, from which a script puts addresses together, a URL alone tells nothing.
func (s *scanner) take(ref string, bare bool) {
	ref = strings.ReplaceAll(ref, `\/`, "/")
	if file := ref[strings.LastIndexByte(ref, '/')+1:]; bare && (file == "" || file == "." || file == "..") {
		return
	}
	lower := strings.ToLower(ref[:min(len(ref), len("https://"))])
	address := strings.HasPrefix(ref, "/") || strings.HasPrefix(ref, "./") || strings.HasPrefix(ref, "../") ||
		strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") || bare && !strings.Contains(ref, ":")
	if address && !strings.ContainsAny(ref, "\\ \t\r\n<>{}\"'`") && !s.yield(ref) {
		s.ended = true
	}
}

// skip passes by white space and comments.
func (s *scanner) skip() {
	for s.at < len(s.text) && (isSpace(s.text[s.at]) || s.comment()) {
		s.at += btoi(s.at < len(s.text) && isSpace(s.text[s.at]))
	}
}

// comment passes by a comment; false: there is none.
func (s *scanner) comment() bool {
	if s.peek(0) != '/' || s.peek(1) != '/' && s.peek(1) != '*' {
		return false
	}
	end := "\n"
	if s.peek(1) == '*' {
		end = "*/"
	}
	s.at += 2
	if n := bytes.Index(s.text[s.at:], []byte(end)); n >= 0 {
		s.at += n + len(end)
	} else {
		s.at = len(s.text)
	}
	return true
}

// quoted passes by a string, or a template without parts; at the end of its line a string that nothing ends has its end.
func (s *scanner) quoted() {
	quote := s.text[s.at]
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == quote:
			s.at++
			return
		case c == '\\':
			s.at++
		case c == '\n' && quote != '`':
			return
		}
	}
	s.at = len(s.text)
}

// template passes by a template as far as what is put into it begins.
func (s *scanner) template() {
	s.operand = true
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '`':
			s.at++
			return
		case c == '\\':
			s.at++
		case c == '$' && s.peek(1) == '{':
			s.at += 2
			s.open = append(s.open, inserting)
			s.operand = false
			return
		}
	}
	s.at = len(s.text)
}

// expression passes by a regular expression. One that does not end with its line was a slash.
func (s *scanner) expression() {
	class := false
	s.operand = false
	at := s.at + 1
	for ; at < len(s.text) && s.text[at] != '\n'; at++ {
		switch c := s.text[at]; {
		case c == '\\':
			at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.at, s.operand = at+1, true
			return
		}
	}
	s.at++
	s.slashes = at
}

func (s *scanner) peek(ahead int) byte {
	if s.at+ahead < len(s.text) {
		return s.text[s.at+ahead]
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func startsWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '#' || c >= 0x80 || isDigit(c)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
