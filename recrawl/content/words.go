package content

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordsOf parts a text at its spaces, and where a script that is written without them meets anything else: "3時間前に更新" is 3, 時間, 前 and
// に更新, since what is counted, and what a reader is told of it, is told apart behind a number.
func wordsOf(s string) []string {
	words := strings.Fields(s)
	if isASCII(s) {
		return words
	}
	parted := make([]string, 0, len(words)+8)
	for _, word := range words {
		if isASCII(word) {
			parted = append(parted, word)
			continue
		}
		parted = partWord(parted, word)
	}
	return parted
}

// runeKind is what a rune is, as far as words are parted by it.
type runeKind uint8

const (
	signRune runeKind = iota
	openRune
	digitRune
	letterRune
	joinedRune
)

func runeKindOf(r rune) runeKind {
	switch {
	case isJoined(r):
		return joinedRune
	case unicode.IsDigit(r):
		return digitRune
	case isLetter(r):
		return letterRune
	case unicode.In(r, unicode.Ps):
		return openRune
	}
	return signRune
}

// partWord appends the parts of a word. Signs stay with what stands before them, brackets with what is in them.
func partWord(parts []string, word string) []string {
	start, last, before := 0, signRune, signRune // last: of what is no sign; before: of the rune before
	for i, r := range word {
		kind := runeKindOf(r)
		apart := last == joinedRune && kind != joinedRune && kind != signRune || last != joinedRune && kind == joinedRune ||
			before == digitRune && kind == letterRune && r >= utf8.RuneSelf // 3ч
		if apart && i > start {
			parts = times.unjoin(parts, word[start:i], endsInDigit(parts))
			start = i
		}
		if before = kind; kind != signRune {
			last = kind
		}
	}
	return times.unjoin(parts, word[start:], endsInDigit(parts))
}

// unjoin appends the words of a run of letters, with the signs behind it: behind a number the words of times that it begins with and what is left
// of it, elsewhere such words if it is made of them alone.
func (l *lexicon) unjoin(parts []string, run string, behind bool) []string {
	first, _ := utf8.DecodeRuneInString(run)
	if !isJoined(first) {
		return append(parts, run)
	}
	letters := strings.TrimRightFunc(run, func(r rune) bool { return !isJoined(r) && !unicode.IsMark(r) })
	known := len(parts)
	for rest := letters; rest != ""; {
		word := l.begins(rest)
		if word == "" {
			if !behind {
				parts, rest = parts[:known], letters
			}
			parts = append(parts, rest)
			break
		}
		parts, rest = append(parts, word), rest[len(word):]
	}
	parts[len(parts)-1] += run[len(letters):]
	return parts
}

// begins is the longest word of times that a run of letters begins with; "": none.
func (l *lexicon) begins(run string) string {
	first, _ := utf8.DecodeRuneInString(run)
	for _, word := range l.joined[first] {
		if strings.HasPrefix(run, word) {
			return word
		}
	}
	return ""
}

// endsInDigit tells whether the last of some words does.
func endsInDigit(words []string) bool {
	if len(words) == 0 {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(words[len(words)-1])
	return unicode.IsDigit(r)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// eachWord yields the words of a text; of a script that is written without spaces each letter, as a paragraph would be one word.
func eachWord(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsSeq(s) {
			if isASCII(word) {
				if !yield(word) {
					return
				}
				continue
			}
			start := 0
			for i, r := range word {
				if !isJoined(r) {
					continue
				}
				if start < i && !yield(word[start:i]) || !yield(word[i:i+utf8.RuneLen(r)]) {
					return
				}
				start = i + utf8.RuneLen(r)
			}
			if start < len(word) && !yield(word[start:]) {
				return
			}
		}
	}
}

// isLetter tells what words are made of: with the marks that write the vowels of many scripts.
func isLetter(r rune) bool { return unicode.IsLetter(r) || r >= 0x300 && unicode.IsMark(r) }

// bareWord is a word without what stands around it, in lower case.
func bareWord(s string) string {
	return strings.ToLower(strings.Trim(s, ".,:;()~[]،؛。、，：（）【】·・|"))
}

// number is the number that a word writes in the digits of any script; false: it writes none, or one of more than seven digits.
func number(word string) (n int, is bool) {
	digits := 0
	for _, r := range word {
		if !unicode.IsDigit(r) || digits == 7 {
			return 0, false
		}
		digits++
		n = 10*n + digitOf(r)
	}
	return n, digits > 0
}

// plainDigits writes the digits of all scripts as 0 to 9.
func plainDigits(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && unicode.IsDigit(r) {
			return '0' + rune(digitOf(r))
		}
		return r
	}, s)
}

// digitOf is the value of a digit: those of a script follow each other from 0 on (Unicode, section 4.6), and so do the scripts that have theirs
// side by side.
func digitOf(r rune) int {
	if r <= unicode.MaxASCII {
		return int(r - '0')
	}
	for _, in := range unicode.Nd.R16 {
		if rune(in.Lo) <= r && r <= rune(in.Hi) {
			return int(r-rune(in.Lo)) % 10
		}
	}
	for _, in := range unicode.Nd.R32 {
		if rune(in.Lo) <= r && r <= rune(in.Hi) {
			return int(r-rune(in.Lo)) % 10
		}
	}
	return 0
}
