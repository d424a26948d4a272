// Package filename is what the names of files have in common that are made of URLs: what systems take in a name and what not. How such
// names look as a whole is said by those who make them.
package filename

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxPart is the longest part of a name, in bytes: most file systems take 255.
const MaxPart = 200

// LooksLikeFile tells whether a name ends in an extension: a dot, a letter and up to seven letters or digits.
func LooksLikeFile(part string) bool {
	dot := strings.LastIndexByte(part, '.')
	return dot >= 0 && IsExtension(part[dot+1:])
}

// IsExtension tells whether a text can stand behind the dot: a letter and up to seven letters or digits.
func IsExtension(extension string) bool {
	if len(extension) < 1 || len(extension) > 8 || !IsLetter(extension[0]) {
		return false
	}
	for i := range len(extension) {
		if !IsLetter(extension[i]) && !IsDigit(extension[i]) {
			return false
		}
	}
	return true
}

// Forbidden are the characters that some system does not take in a name, besides control characters.
const Forbidden = `<>:"|*\/?`

// Taken tells whether the byte of a segment at i can stand in a name as it is, wherever that is read: it is a printable one of ASCII
// that no system forbids, no space, no dot at the end, and none at the beginning, so that no .htaccess and no .git comes from a site.
// The segment ".well-known" keeps its dot.
func Taken(segment string, i int) bool {
	c := segment[i]
	return c > ' ' && c < 0x7f && strings.IndexByte(Forbidden, c) < 0 &&
		(c != '.' || i+1 < len(segment) && (i > 0 || segment == ".well-known"))
}

// Printed reads the percent-encoded form of a space or of a printable character beyond ASCII that begins text: its rune and the length of
// the form, or 0. Only the canonical form with upper-case digits counts, so that it can be told from the others.
func Printed(text string) (rune, int) {
	var raw [utf8.UTFMax]byte
	n := 0
	for n < len(raw) && len(text) >= 3*n+3 && text[3*n] == '%' && IsHex(text[3*n+1]) && IsHex(text[3*n+2]) {
		raw[n] = Unhex(text[3*n+1])<<4 | Unhex(text[3*n+2])
		n++
		if raw[0] == ' ' {
			return ' ', 3
		}
		if utf8.FullRune(raw[:n]) {
			break
		}
	}
	r, size := utf8.DecodeRune(raw[:n])
	if n == 0 || size != n || r < utf8.RuneSelf || (r == utf8.RuneError && n < 3) || !unicode.IsPrint(r) {
		return 0, 0
	}
	return r, 3 * n
}

// Reserved tells whether Windows takes a part for a device.
func Reserved(part string) bool {
	stem, _, _ := strings.Cut(part, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	for _, device := range []string{"COM", "LPT"} {
		if number, ok := strings.CutPrefix(stem, device); ok && isPort(number) {
			return true
		}
	}
	return false
}

func isPort(number string) bool {
	return len(number) == 1 && IsDigit(number[0]) || number == "¹" || number == "²" || number == "³"
}

// Cut is the beginning of a text, at most so many bytes long, that ends with a whole character.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:max(most, 0)]
}

// EscapeByte writes a byte as a mark and two upper-case digits.
func EscapeByte(b *strings.Builder, mark, c byte) {
	const digits = "0123456789ABCDEF"
	b.Write([]byte{mark, digits[c>>4], digits[c&15]})
}

// IsDigit tells whether a byte is a digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsHex tells whether a byte is a digit of the canonical form of an escape.
func IsHex(c byte) bool { return IsDigit(c) || 'A' <= c && c <= 'F' }

// IsLetter tells whether a byte is a letter of ASCII.
func IsLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Unhex is what a digit for which IsHex is true stands for.
func Unhex(c byte) byte {
	if IsDigit(c) {
		return c - '0'
	}
	return c - 'A' + 10
}
