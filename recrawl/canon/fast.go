package canon

import (
	"net/netip"
	"strconv"
	"strings"
)

// Most links on most pages are canonical as they stand, or are once a prefix of the page's URL is put before them. The
// standard's state machine takes microseconds and dozens of allocations for each; the functions here see that nothing
// needs doing, and leave everything they are not sure of to it. FuzzCanon holds them to its answers.

// parseFast reads an absolute URL that is canonical already.
func parseFast(raw string) (URL, bool) {
	if len(raw) > MaxBytes {
		return URL{}, false
	}
	var start int
	switch {
	case strings.HasPrefix(raw, "https://"):
		start = len("https://")
	case strings.HasPrefix(raw, "http://"):
		start = len("http://")
	default:
		return URL{}, false
	}
	n := strings.IndexByte(raw[start:], '/')
	if n < 0 {
		return URL{}, false
	}
	path := start + n
	host, port, hasPort := strings.Cut(raw[start:path], ":")
	if !plainHost(host) || hasPort && !plainPort(port, raw[:start]) {
		return URL{}, false
	}
	rest, ok := plainRest(raw[path:])
	if !ok {
		return URL{}, false
	}
	return assemble(raw[:path+len(rest)], start, start+len(host), path), true
}

// resolveFast reads a reference that needs no more than a prefix of u.
func (u URL) resolveFast(ref string) (URL, bool) {
	if target, ok := parseFast(ref); ok {
		return target, true
	}
	if u.IsZero() || ref == "" || len(u.s)+len(ref) > MaxBytes {
		return URL{}, false
	}
	prefix := u.Origin()
	if ref[0] != '/' {
		prefix = u.Directory()
		if ref[0] == '?' || ref[0] == '#' {
			return URL{}, false
		}
		if _, ok := SchemeOf(ref); ok {
			return URL{}, false
		}
	} else if len(ref) > 1 && ref[1] == '/' {
		return URL{}, false
	}
	rest, ok := plainRest(ref)
	if !ok {
		return URL{}, false
	}
	return assemble(prefix+rest, int(u.host), int(u.hostEnd), int(u.path)), true
}

func assemble(s string, host, hostEnd, path int) URL {
	query := len(s)
	if n := strings.IndexByte(s[path:], '?'); n >= 0 {
		query = path + n
	}
	return URL{s: s, host: uint16(host), hostEnd: uint16(hostEnd), path: uint16(path), query: uint16(query)}
}

// plainPort tells whether a port is written as the standard writes it, and is not that of the scheme.
func plainPort(port, scheme string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && port[0] >= '1' && port[0] <= '9' && n != 80 && n != 443 ||
		scheme == "http://" && port == "443" || scheme == "https://" && port == "80"
}

// plainHost tells whether a host is a lower-case ASCII name with no A-label to check and no number at its end, or an
// IPv4 address as the standard writes it.
func plainHost(host string) bool {
	if host == "" || strings.Contains(host, "xn--") {
		return false
	}
	label := 0 // bytes in the label so far
	for i := range len(host) {
		switch c := host[i]; {
		case c == '.':
			if label == 0 {
				return false
			}
			label = 0
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			label++
		default:
			return false
		}
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last != "" && isAlpha(last[0]) {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Is4()
}

// plainRest is a path with query that the standard leaves alone, without its fragment. A segment that is dots, plain or
// escaped, is not plain.
func plainRest(s string) (string, bool) {
	inQuery, atSegment := false, true
	for i := range len(s) {
		switch c := s[i]; {
		case c == '#':
			return s[:i], true
		case c == '?':
			inQuery = true
		case c == '.' || c == '%':
			if atSegment && !inQuery && mayBeDots(s[i:]) {
				return "", false
			}
		case !plainByte(c):
			return "", false
		}
		atSegment = s[i] == '/'
	}
	return s, true
}

// mayBeDots tells whether a segment could be "." or "..", given what it begins with: a dot that no plain byte follows,
// or the escape of one.
func mayBeDots(segment string) bool {
	if segment[0] == '%' {
		return len(segment) > 2 && segment[1] == '2' && segment[2]|0x20 == 'e'
	}
	return len(segment) < 2 || segment[1] == '/' || !plainByte(segment[1])
}

// plainByte tells the bytes that stand for themselves in paths and in queries.
func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte("/-_~!$&()*+,;=:@", c) >= 0
}
