package robots

import "strings"

// upperEscapes writes %c3 as %C3: the case of an escape makes no difference (RFC 3986, 2.1).
func upperEscapes(path string) string {
	at := strings.IndexByte(path, '%')
	if at < 0 {
		return path
	}
	b := []byte(path)
	for i := at; i+2 < len(b); i++ {
		if b[i] == '%' && isHex(b[i+1]) && isHex(b[i+2]) {
			b[i+1], b[i+2] = upper(b[i+1]), upper(b[i+2])
		}
	}
	return string(b)
}

// escapePattern escapes the bytes of a pattern that have to be escaped in the path of a canonical URL or in its query.
func escapePattern(pattern string) string {
	escape := 0
	for i := range len(pattern) {
		if mustEscape(pattern[i]) {
			escape++
		}
	}
	if escape == 0 {
		return upperEscapes(pattern)
	}
	b := make([]byte, 0, len(pattern)+2*escape)
	for i := range len(pattern) {
		if c := pattern[i]; mustEscape(c) {
			b = appendEscaped(b, c)
		} else {
			b = append(b, c)
		}
	}
	return upperEscapes(string(b))
}

// escapePath brings a path into the spelling of patterns: what a path escapes stands as it is in a query, and an apostrophe
// the other way round. Bytes that are not ASCII are left: no canonical URL has them, and Google's matcher tells them apart.
func escapePath(path string) string {
	for i := range len(path) {
		if c := path[i]; c < 0x80 && mustEscape(c) {
			return upperEscapes(string(escapeASCII(path)))
		}
	}
	return upperEscapes(path)
}

func escapeASCII(path string) []byte {
	b := make([]byte, 0, len(path)+16)
	for i := range len(path) {
		if c := path[i]; c < 0x80 && mustEscape(c) {
			b = appendEscaped(b, c)
		} else {
			b = append(b, c)
		}
	}
	return b
}

func appendEscaped(b []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(b, '%', digits[c>>4], digits[c&0xF])
}

func mustEscape(c byte) bool {
	return c <= ' ' || c >= 0x7F || c == '"' || c == '<' || c == '>' || c == '`' || c == '{' || c == '}' || c == '^' ||
		c == '\''
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func upper(c byte) byte {
	if c >= 'a' {
		c -= 'a' - 'A'
	}
	return c
}
