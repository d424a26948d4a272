package robots

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
)

// decode reads UTF-16 by its byte order mark, which some editors write; everything else is taken as it is.
func decode(body []byte) string {
	var order binary.ByteOrder
	switch {
	case len(body) >= 2 && body[0] == 0xFF && body[1] == 0xFE:
		order = binary.LittleEndian
	case len(body) >= 2 && body[0] == 0xFE && body[1] == 0xFF:
		order = binary.BigEndian
	default:
		return string(body[:min(len(body), MaxBytes+1)])
	}
	body = body[2:min(len(body), 2*MaxBytes)]
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = order.Uint16(body[2*i:])
	}
	return string(utf16.Decode(units))
}

// wholeLines cuts a line that was cut, lest "Disallow: /private" become "Disallow: /".
func wholeLines(text string) string {
	return text[:strings.LastIndexAny(text, "\r\n")+1]
}

// byteOrderMark is how many bytes of a byte order mark a text begins with: a torn one is skipped too, as Google does.
func byteOrderMark(text string) int {
	const mark = "\ufeff"
	n := 0
	for n < min(len(mark), len(text)) && text[n] == mark[n] {
		n++
	}
	return n
}

// eachLine reads the lines that are not empty, counted as Google does: LF, CR and CRLF each end one. A line is read up to
// maxLine bytes.
func eachLine(text string, read func(line)) {
	const maxLine = 2083*8 - 1
	text = text[byteOrderMark(text):]
	number, start := 1, 0
	for i := range len(text) {
		c := text[i]
		if c != '\n' && c != '\r' {
			continue
		}
		if c == '\n' && i == start && i > 0 && text[i-1] == '\r' {
			start = i + 1
			continue
		}
		if i > start {
			read(line{number, text[start:min(i, start+maxLine)]})
		}
		number, start = number+1, i+1
	}
	read(line{number, text[start:min(len(text), start+maxLine)]})
}

// keyAndValue cuts a line at its colon, or at the white space where the colon was forgotten and one word follows.
func keyAndValue(text string) (key, value string, ok bool) {
	text, _, _ = strings.Cut(text, "#")
	text = strings.TrimSpace(text)
	if key, value, ok = strings.Cut(text, ":"); !ok {
		at := strings.IndexAny(text, " \t")
		if at < 0 {
			return "", "", false
		}
		key, value = text[:at], strings.TrimSpace(text[at:])
		if strings.ContainsAny(value, " \t") {
			return "", "", false
		}
	}
	key = strings.TrimSpace(key)
	return key, strings.TrimSpace(value), key != ""
}

// hasPrefixFold tells whether s begins with one of the ASCII prefixes, in any case.
func hasPrefixFold(s string, prefixes ...string) bool {
	for _, prefix := range prefixes {
		if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}

// printable makes a line fit to be shown to a person.
func printable(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), 200)], "?")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}
