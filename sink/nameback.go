package sink

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
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
	if !looksLikeFile(base) {
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
		if i+2 >= len(part) || !isHex(part[i+1]) || !isHex(part[i+2]) {
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
		case c == mark && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			b.WriteByte(unhex(text[i+1])<<4 | unhex(text[i+2]))
			i += 2
		case c == ' ' || c >= utf8.RuneSelf:
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// authority is where a URL leads: its scheme, host and port.
type authority struct {
	scheme, host string
	port         string // "" where the URL names none
}

func (a authority) String() string {
	if a.port == "" {
		return a.scheme + "://" + a.host
	}
	return a.scheme + "://" + a.host + ":" + a.port
}

// splitURL takes a URL apart into its authority and what follows, which begins with a slash.
func splitURL(url string) (authority, string, bool) {
	scheme, rest, ok := strings.Cut(url, "://")
	end := strings.IndexAny(rest, "/?#")
	if !ok || (scheme != "http" && scheme != "https") || end < 1 || rest[end] != '/' {
		return authority{}, "", false
	}
	a := authority{scheme: scheme, host: rest[:end]}
	if i := strings.LastIndexByte(a.host, ':'); i > 0 && isPortNumber(a.host[i+1:]) {
		a.host, a.port = a.host[:i], a.host[i+1:]
	}
	return a, rest[end:], true
}

func isPortNumber(s string) bool {
	return len(s) > 0 && len(s) <= 5 && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// part is the name of the top directory. A port that ends in 443 speaks https, another one http, unless the scheme is
// there; "_80" is http without a port.
func (a authority) part() string {
	var b strings.Builder
	for i := range len(a.host) {
		c := a.host[i]
		inside := i > 0 && i+1 < len(a.host)
		if 'a' <= c && c <= 'z' || isDigit(c) || c == '-' || c == '.' && inside {
			b.WriteByte(c)
		} else {
			escapeByte(&b, c)
		}
	}
	host := guard(b.String())
	switch {
	case a.port == "" && a.scheme == "https":
		return host
	case a.port == "":
		return host + "_80"
	case a.port != "443" && a.port != "80" && a.scheme == schemeOf(a.port):
		return host + "_" + a.port
	}
	return host + "_" + a.port + "_" + a.scheme
}

func schemeOf(port string) string {
	if strings.HasSuffix(port, "443") {
		return "https"
	}
	return "http"
}

// authorityOf undoes part.
func authorityOf(part string) (authority, bool) {
	fields := strings.Split(part, "_")
	a := authority{scheme: "https", host: unescape(unguard(fields[0]))}
	switch {
	case len(fields) == 1:
		return a, true
	case len(fields) == 2 && fields[1] == "80":
		a.scheme = "http"
		return a, true
	case len(fields) == 2:
		a.port, a.scheme = fields[1], schemeOf(fields[1])
		return a, true
	case len(fields) == 3:
		a.port, a.scheme = fields[1], fields[2]
		return a, true
	}
	return a, false
}
