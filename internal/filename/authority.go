package filename

import "strings"

// Authority is where a URL leads: its scheme, host and port.
type Authority struct {
	Scheme, Host string
	Port         string // "" where the URL names none
}

// String is how a URL begins that leads there.
func (a Authority) String() string {
	if a.Port == "" {
		return a.Scheme + "://" + a.Host
	}
	return a.Scheme + "://" + a.Host + ":" + a.Port
}

// SplitURL takes a URL of scheme http or https apart into its authority and what follows, which begins with a slash.
func SplitURL(url string) (a Authority, rest string, ok bool) {
	scheme, rest, ok := strings.Cut(url, "://")
	end := strings.IndexAny(rest, "/?#")
	if !ok || (scheme != "http" && scheme != "https") || end < 1 || rest[end] != '/' {
		return Authority{}, "", false
	}
	a = Authority{Scheme: scheme, Host: rest[:end]}
	if i := strings.LastIndexByte(a.Host, ':'); i > 0 && isPortNumber(a.Host[i+1:]) {
		a.Host, a.Port = a.Host[:i], a.Host[i+1:]
	}
	return a, rest[end:], true
}

func isPortNumber(s string) bool {
	return len(s) > 0 && len(s) <= 5 && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// Part is the name of the top directory, in two halves: of the host letters, digits, dots and dashes, all else as a mark and two digits,
// and what tells its scheme and port. A port that ends in 443 speaks https, another one http, unless the scheme is there; "_80" is http
// without a port. Different authorities have different names. What Windows takes for a device is not told apart.
func (a Authority) Part(mark byte) (host, port string) {
	var b strings.Builder
	for i := range len(a.Host) {
		c := a.Host[i]
		inside := i > 0 && i+1 < len(a.Host)
		if 'a' <= c && c <= 'z' || IsDigit(c) || c == '-' || c == '.' && inside {
			b.WriteByte(c)
		} else {
			EscapeByte(&b, mark, c)
		}
	}
	return b.String(), a.suffix()
}

func (a Authority) suffix() string {
	switch {
	case a.Port == "" && a.Scheme == "https":
		return ""
	case a.Port == "":
		return "_80"
	case a.Port != "443" && a.Port != "80" && a.Scheme == SchemeOf(a.Port):
		return "_" + a.Port
	}
	return "_" + a.Port + "_" + a.Scheme
}

// SchemeOf is the scheme that a port speaks where a name does not say it.
func SchemeOf(port string) string {
	if strings.HasSuffix(port, "443") {
		return "https"
	}
	return "http"
}
