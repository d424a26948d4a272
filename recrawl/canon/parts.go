package canon

import (
	"net/netip"
	"strings"
)

// String is the canonical spelling, "" for the zero URL.
func (u URL) String() string { return u.s }

// IsZero tells whether u is no URL.
func (u URL) IsZero() bool { return u.s == "" }

// Scheme is "http" or "https".
func (u URL) Scheme() string {
	scheme, _, _ := strings.Cut(u.s, ":")
	return scheme
}

// Hostname is the host without its port: a lower-case name in A-labels, an IPv4 address, or an IPv6 address in
// brackets.
func (u URL) Hostname() string { return u.s[u.host:u.hostEnd] }

// Port is the port in decimal, or "" for the scheme's own.
func (u URL) Port() string { return strings.TrimPrefix(u.s[u.hostEnd:u.path], ":") }

// HostName is the name that politeness goes by: the host, with ":port" where the port is not the scheme's own. http
// and https of one name share it.
func (u URL) HostName() string { return u.s[u.host:u.path] }

// Origin is scheme and host, as in "https://example.org:8443": what one robots.txt is for.
func (u URL) Origin() string { return u.s[:u.path] }

// Path is the escaped path, at least "/".
func (u URL) Path() string { return u.s[u.path:u.query] }

// Query is the raw query without its "?". An empty query and none are different URLs and look the same here.
func (u URL) Query() string { return strings.TrimPrefix(u.s[u.query:], "?") }

// RequestURI is path and query as sent in a request, and as robots.txt rules are matched.
func (u URL) RequestURI() string { return u.s[u.path:] }

// Directory is the URL up to and with the last slash of its path.
func (u URL) Directory() string {
	return u.s[:int(u.path)+strings.LastIndexByte(u.Path(), '/')+1]
}

// IsLoopback tells whether the host is localhost or a loopback address. A name that merely resolves to one is not.
func (u URL) IsLoopback() bool {
	host := u.Hostname()
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}

// IsRelativeRef tells whether a reference is written without a host, so that it leads elsewhere when the page that
// holds it is served under another name. A reference that names a scheme counts as written with a host.
func IsRelativeRef(ref string) bool {
	if _, ok := SchemeOf(ref); ok {
		return false
	}
	ref = clean(ref)
	return len(ref) < 2 || !isSlash(ref[0]) || !isSlash(ref[1])
}

// SchemeOf is the lower-case scheme that a reference begins with, as the standard's parser would read it.
func SchemeOf(ref string) (string, bool) {
	ref = clean(ref)
	for i := range len(ref) {
		c := ref[i]
		switch {
		case c == ':' && i > 0:
			return strings.ToLower(ref[:i]), true
		case isAlpha(c), i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return "", false
		}
	}
	return "", false
}

// clean does what the standard does before all parsing: controls and spaces off the ends, tabs and line ends out.
func clean(ref string) string {
	ref = strings.TrimFunc(ref, func(r rune) bool { return r <= ' ' })
	if !strings.ContainsAny(ref, "\t\r\n") {
		return ref
	}
	return strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(ref)
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
