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

// escapePattern brings a pattern into the spelling of canonical URLs: the bytes that have to be escaped in a path are.
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
	const digits = "0123456789ABCDEF"
	b := make([]byte, 0, len(pattern)+2*escape)
	for i := range len(pattern) {
		if c := pattern[i]; mustEscape(c) {
			b = append(b, '%', digits[c>>4], digits[c&0xF])
		} else {
			b = append(b, c)
		}
	}
	return upperEscapes(string(b))
}

func mustEscape(c byte) bool {
	return c <= ' ' || c >= 0x7F || c == '"' || c == '<' || c == '>' || c == '`' || c == '{' || c == '}' || c == '^'
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
