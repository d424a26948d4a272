package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// Address is an address as it is shown: to a person readable, in a pipe as it is, since a program may read it there.
func (s Style) Address(url string) string {
	if s.Width == 0 {
		return url
	}
	return Readable(url)
}

// Readable is an address with the letters that stand percent-encoded in its path and query as themselves, where they cannot be taken for
// anything else: letters and digits of scripts that are written from left to right, in their one normal form (NFKC), none that looks like what
// parts an address (after Unicode's confusables) or like nothing at all. All else stays encoded, and so do host names. What is shown stands for
// that one address: parsed as canon does, it is the address again.
func Readable(url string) string {
	if !strings.Contains(url, "%") {
		return url
	}
	var b strings.Builder
	for url != "" {
		r, size := encodedRune(url)
		if size == 0 {
			_, plain := utf8.DecodeRuneInString(url)
			b.WriteString(url[:plain])
			url = url[plain:]
			continue
		}
		letters, encoded := "", 0
		for size > 0 && isPlainly(r) && (letters != "" || !unicode.IsMark(r)) {
			letters, encoded = letters+string(r), encoded+size
			r, size = encodedRune(url[encoded:])
		}
		switch {
		case encoded == 0:
			encoded = size
			b.WriteString(url[:encoded])
		case norm.NFKC.IsNormalString(letters) && !heaped(letters):
			b.WriteString(letters)
		default:
			b.WriteString(url[:encoded])
		}
		url = url[encoded:]
	}
	return b.String()
}

// encodedRune is the character beyond ASCII that a text begins with, percent-encoded as canonical addresses have it, and of how many bytes of
// text; 0: it begins with none.
func encodedRune(text string) (r rune, size int) {
	var bytes [utf8.UTFMax]byte
	for n := range bytes {
		at := 3 * n
		if len(text) < at+3 || text[at] != '%' {
			return 0, 0
		}
		high, low := hexDigit(text[at+1]), hexDigit(text[at+2])
		if high < 8 || low < 0 {
			return 0, 0
		}
		bytes[n] = byte(high<<4 | low)
		if r, length := utf8.DecodeRune(bytes[:n+1]); r != utf8.RuneError && length == n+1 {
			return r, at + 3
		}
	}
	return 0, 0
}

// hexDigit is the value of a digit as it is written where what is shown is encoded again; -1: it is none.
func hexDigit(c byte) int { return strings.IndexByte("0123456789ABCDEF", c) }

// isPlainly tells whether a character is itself to whoever reads it.
func isPlainly(r rune) bool {
	if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || strings.ContainsRune(lookalikes, r) {
		return false
	}
	if unicode.Is(unicode.Lm, r) && !strings.ContainsRune(repeats, r) {
		return false
	}
	if p, _ := bidi.LookupRune(r); p.Class() != bidi.L && p.Class() != bidi.EN && p.Class() != bidi.NSM {
		return false
	}
	return unicode.IsLetter(r) || unicode.Is(unicode.Nd, r) || unicode.In(r, unicode.Mn, unicode.Mc)
}

// lookalikes are letters and marks that look like / ? # : ! & | . or cross a letter out.
const lookalikes = "\u2cc6\u30ce\u4e3f\u3033\u0337\u0338" + "\u0294\u0241\u0242\u097d\u13ae\ua6eb" + "\u0903\u0a83\u01c0\u01c1\u01c2\u01c3\ua778"

// repeats are the modifiers among letters that words are written with; others are small marks.
const repeats = "\u3005\u30fc\u0e46\u30fd\u30fe\u309d\u309e"

// heaped tells whether more marks stand on a letter than are read.
func heaped(letters string) bool {
	marks := 0
	for _, r := range letters {
		if marks++; !unicode.IsMark(r) {
			marks = 0
		}
		if marks > 2 {
			return true
		}
	}
	return false
}
