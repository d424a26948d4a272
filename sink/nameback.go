package sink

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"recrawld/internal/filename"
)

// ErrCut says that a name cannot be taken back to its URL: a part of it was cut. The manifest has the URL.
var ErrCut = errors.New("name was cut")

// URL is the URL of a name that Name made. It returns ErrCut for a name of which a part was cut or folded, and another
// error for what is no such name.
func URL(name string) (string, error) {
	if strings.Contains(name, hashed) {
		return "", fmt.Errorf("%q: %w", name, ErrCut)
	}
	parts := strings.Split(name, "/")
	a, ok := authorityOf(parts[0])
	if !ok || len(parts) < 2 {
		return "", fmt.Errorf("%q is no name of a mirror", name)
	}
	var b strings.Builder
	b.WriteString(a.String())
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		b.WriteByte('/')
		b.WriteString(directoryText(part))
	}
	b.WriteByte('/')
	b.WriteString(fileText(parts[last]))
	if url := b.String(); Name(url) == name {
		return url, nil
	}
	return "", fmt.Errorf("%q is no name of a mirror", name)
}

func directoryText(part string) string {
	text, _ := strings.CutSuffix(part, string(mark))
	return unescape(unguard(text))
}

// fileText is the last path segment and the query of a file's name.
func fileText(part string) string {
	literal := unguard(part)
	i := separator(literal)
	if i < 0 {
		if part == index {
			return ""
		}
		return unescape(literal)
	}
	base, rest := literal[:i], literal[i+1:]
	text := unescape(base)
	if base == index && literal == part {
		text = ""
	}
	if !filename.LooksLikeFile(base) {
		rest = strings.TrimSuffix(rest, ".html")
		if rest == "" {
			return text
		}
	}
	if rest == string(mark) {
		return text + "?"
	}
	return text + "?" + unescape(rest)
}

// unguard takes a leading mark off that begins no escaped byte.
func unguard(part string) string {
	if separator(part) == 0 {
		return part[1:]
	}
	return part
}

// separator is the place of the first mark that begins no escaped byte, -1 for none.
func separator(part string) int {
	for i := 0; i < len(part); i++ {
		if part[i] != mark {
			continue
		}
		if i+2 >= len(part) || !filename.IsHex(part[i+1]) || !filename.IsHex(part[i+2]) {
			return i
		}
	}
	return -1
}

// unescape undoes escape.
func unescape(text string) string {
	var b strings.Builder
	const digits = "0123456789ABCDEF"
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == mark && i+2 < len(text) && filename.IsHex(text[i+1]) && filename.IsHex(text[i+2]):
			b.WriteByte(filename.Unhex(text[i+1])<<4 | filename.Unhex(text[i+2]))
			i += 2
		case c == ' ' || c >= utf8.RuneSelf:
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// authorityOf undoes Authority.Part.
func authorityOf(part string) (filename.Authority, bool) {
	fields := strings.Split(part, "_")
	a := filename.Authority{Scheme: "https", Host: unescape(unguard(fields[0]))}
	switch {
	case len(fields) == 1:
		return a, true
	case len(fields) == 2 && fields[1] == "80":
		a.Scheme = "http"
		return a, true
	case len(fields) == 2:
		a.Port, a.Scheme = fields[1], filename.SchemeOf(fields[1])
		return a, true
	case len(fields) == 3:
		a.Port, a.Scheme = fields[1], fields[2]
		return a, true
	}
	return a, false
}
