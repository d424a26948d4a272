// Package canon gives every page one spelling: the WHATWG URL standard, restricted to what is crawled.
//
// A canonical URL is absolute, of scheme http or https, serialised as the standard says (lower-case scheme and host,
// A-labels, IPv4 numbers written out, default port and dot segments gone, unsafe bytes percent-encoded). Beyond the
// standard, and each for a reason:
//
//   - The fragment is dropped: it is never sent.
//   - User name and password are dropped: a link must not make us log in, and they must not end up in logs.
//   - The dot at the end of a host name is dropped, and a host with an empty label is refused: the first is the same
//     server, the second cannot be looked up.
//   - A byte that is not UTF-8 is percent-encoded as it stands, not as U+FFFD: the server knows what it meant.
//   - At most MaxBytes, before and after.
//
// Query parameters are neither sorted nor stripped: a server may care, and a duplicate page is found by its content. Only what campaigns add to a
// link is left out by those who read links (Untracked).
package canon

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// MaxBytes is the length in bytes of the longest URL or reference that is read.
const MaxBytes = 16 << 10

// Errors that Parse and Resolve wrap, for errors.Is.
var (
	ErrScheme  = errors.New("scheme is not http or https")
	ErrTooLong = fmt.Errorf("longer than %d bytes", MaxBytes)
	ErrHost    = errors.New("host is not a name that can be looked up")
	ErrSyntax  = errors.New("not a URL")
)

// URL is a canonical URL. The zero URL is no URL. URLs are equal by == exactly when their strings are. It is a small
// value, safe for concurrent use.
type URL struct {
	s string
	// Offsets into s: of the host, of its end (':' of the port or '/' of the path), of the path and of the '?'.
	host, hostEnd, path, query uint16
}

// Parse reads an absolute URL. The error wraps ErrScheme, ErrTooLong, ErrHost or ErrSyntax.
func Parse(raw string) (URL, error) {
	if u, ok := parseFast(raw); ok {
		return u, nil
	}
	return parse("", raw)
}

// Resolve reads a reference found on page u: relative or absolute, with white space around it as HTML allows. The zero
// URL resolves absolute references only. The errors are Parse's.
func (u URL) Resolve(ref string) (URL, error) {
	if target, ok := u.resolveFast(ref); ok {
		return target, nil
	}
	return parse(u.s, ref)
}

// parse is Parse and Resolve by the standard's own state machine.
func parse(base, ref string) (URL, error) {
	if len(ref) > MaxBytes {
		return URL{}, fmt.Errorf("parse URL: %w", ErrTooLong)
	}
	if scheme, ok := SchemeOf(ref); ok && !crawled(scheme) {
		return URL{}, fmt.Errorf("parse URL %.200q: %w", ref, ErrScheme)
	}
	if tooManyAts(ref) {
		return URL{}, fmt.Errorf("parse URL %.200q: %w", ref, ErrHost)
	}
	parser := whatwg.NewParser(whatwg.WithPreParseHostFunc(strictHost))
	parsed, err := parser.ParseRef(base, encodeInvalid(ref))
	if err != nil {
		return URL{}, fmt.Errorf("parse URL %.200q: %w%s", ref, ErrSyntax, reason(base, ref, err))
	}
	if !crawled(parsed.Scheme()) {
		return URL{}, fmt.Errorf("parse URL %.200q: %w", ref, ErrScheme)
	}
	return build(parsed, ref)
}

// reason says what the standard's parser found wrong, without the input, which it repeats in full.
func reason(base, ref string, err error) string {
	if _, scheme := SchemeOf(ref); base == "" && !scheme {
		return ": it does not begin with http:// or https://"
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "Error: "), " Url: ")
	return ": " + strings.TrimSuffix(text, ".")
}

func build(parsed *whatwg.Url, ref string) (URL, error) {
	host := strings.TrimSuffix(parsed.Hostname(), ".")
	if !lookupable(host) {
		return URL{}, fmt.Errorf("parse URL %.200q: %w", ref, ErrHost)
	}
	origin := parsed.Scheme() + "://" + host
	if port := parsed.Port(); port != "" {
		origin += ":" + port
	}
	rest := parsed.Pathname()
	path := len(origin)
	query := path + len(rest)
	if q, ok := rawQuery(parsed); ok {
		rest += "?" + q
	}
	s := origin + rest
	if len(s) > MaxBytes {
		return URL{}, fmt.Errorf("parse URL %.200q: %w", ref, ErrTooLong)
	}
	start := len(parsed.Scheme()) + len("://")
	return URL{s: s, host: uint16(start), hostEnd: uint16(start + len(host)), path: uint16(path), query: uint16(query)}, nil
}

// rawQuery tells an empty query from none, which the library's Query does not.
func rawQuery(parsed *whatwg.Url) (string, bool) {
	if q := parsed.Query(); q != "" {
		return q, true
	}
	return "", strings.HasSuffix(parsed.Href(true), "?")
}

// lookupable refuses what no resolver is asked for: no host at all, or an empty label.
func lookupable(host string) bool {
	return host != "" && host[0] != '.' && host[len(host)-1] != '.' && !strings.Contains(host, "..")
}

func crawled(scheme string) bool { return scheme == "http" || scheme == "https" }

// strictHost turns hosts that the library reads too kindly into one that it refuses: "[[::1]]" is no address, and
// neither are "+1" and "a.0x-1", where a number has a sign.
func strictHost(_ *whatwg.Url, host string) string {
	const refused = "<"
	if strings.HasPrefix(host, "[") && (strings.Count(host, "[") > 1 || strings.Count(host, "]") > 1) {
		return refused
	}
	name := strings.TrimSuffix(host, ".")
	last, digits := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]), "0123456789"
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = hex, digits+"abcdef"
	} else {
		last = strings.TrimPrefix(last, "0")
	}
	if len(last) > 1 && (last[0] == '+' || last[0] == '-') && strings.Trim(last[1:], digits) == "" {
		return refused
	}
	return host
}

// tooManyAts refuses what the library takes quadratic time for: credentials of many parts.
func tooManyAts(ref string) bool {
	const most = 16
	if strings.Count(ref, "@") <= most {
		return false
	}
	if _, ok := SchemeOf(ref); ok {
		_, ref, _ = strings.Cut(ref, ":")
	}
	ref = strings.TrimLeft(clean(ref), "/\\")
	if end := strings.IndexAny(ref, "/\\?#"); end >= 0 {
		ref = ref[:end]
	}
	return strings.Count(ref, "@") > most
}

// encodeInvalid percent-encodes each byte that is not part of valid UTF-8.
func encodeInvalid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02X", s[i])
		} else {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}
