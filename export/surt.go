package export

import (
	"cmp"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

// SURT is the key by which indexes in CDXJ are sorted and looked up: the host's labels from the last to the first, ")", path and
// query, "org,example)/path?a=b". It is what the surt package of the Internet Archive makes of a URL of scheme http or https, which
// pywb and cdxj-indexer use: without "www.", the scheme, its own port, a final slash and session IDs, in lower case, escapes
// written anew, the query's parameters sorted. Another URL is its own key.
func SURT(rawURL string) string {
	scheme, authority, path, query, ok := split(rawURL)
	if !ok {
		return rawURL
	}
	host, port := hostPort(authority, scheme)
	host = lower(escape(strings.Trim(strings.ReplaceAll(unescape(host), "..", "."), ".")))
	path = lower(escape(normalPath(unescape(path))))
	for _, id := range pathIDs {
		path = id.ReplaceAllString(path, "$1$2")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	key := labels(numberedWWW.ReplaceAllString(host, "")) + port + ")" + path
	if query = sortedQuery(lower(withoutIDs(escape(unescape(query))))); query != "" {
		key += "?" + query
	}
	return key
}

// packageKey is SURT as the readers of WACZ have it (warcio.js, getSurt): they look a URL up by a key that keeps final slashes, session
// IDs and escapes as they are. The URL is canonical.
func packageKey(rawURL string) string {
	scheme, authority, path, query, ok := split(rawURL)
	if !ok {
		return rawURL
	}
	host, port := hostPort(authority, scheme)
	if strings.Contains(authority, "[") {
		host = "[" + host + "]" // as a browser's URL has it
	}
	key := labels(numberedWWW.ReplaceAllString(lower(host), "")) + port + ")" + lower(path)
	if query == "" {
		return key
	}
	args := strings.Split(lower(query), "&")
	slices.Sort(args)
	return key + "?" + strings.Join(args, "&")
}

// split takes a URL of scheme http or https apart, without its fragment.
func split(rawURL string) (scheme, authority, path, query string, ok bool) {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if scheme = lower(scheme); !ok || scheme != "http" && scheme != "https" {
		return "", "", "", "", false
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ = strings.Cut(rest, "?")
	authority, path, _ = strings.Cut(rest, "/")
	return scheme, authority, "/" + path, query, true
}

// hostPort is the host, an IPv6 address without its brackets, and ":port" where that is not the scheme's own.
func hostPort(authority, scheme string) (host, port string) {
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	colon := strings.LastIndexByte(authority, ':')
	if colon < 0 || colon < strings.LastIndexByte(authority, ']') {
		colon = len(authority)
	}
	host, port = strings.Trim(authority[:colon], "[]"), authority[colon:]
	if port == ":" || scheme == "http" && port == ":80" || scheme == "https" && port == ":443" {
		port = ""
	}
	return host, port
}

// numberedWWW is what servers put before their name to share the load.
var numberedWWW = regexp.MustCompile(`^www\d*\.`)

func labels(host string) string {
	parts := strings.Split(host, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ",")
}

// normalPath resolves dots and takes empty segments away, but for the last one.
func normalPath(path string) string {
	var kept []string
	for _, segment := range strings.Split(path, "/")[1:] {
		switch {
		case segment == ".":
		case segment == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, segment)
		}
	}
	var b strings.Builder
	b.WriteByte('/')
	for i, segment := range kept {
		b.WriteString(segment)
		if i+1 < len(kept) && segment != "" {
			b.WriteByte('/')
		}
	}
	return b.String()
}

// pathIDs are session IDs of ASP.NET in a path.
var pathIDs = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^\?]+\.aspx.*)$`),
	regexp.MustCompile(`(?i)^(.*/)(?:\([0-9a-z]{24}\)/)([^\?]+\.aspx.*)$`),
}

// queryIDs are session IDs in a query, with what stands before and behind them.
var queryIDs = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^(.*)(?:jsessionid=[0-9a-zA-Z]{32})(?:&(.*))?$`),
	regexp.MustCompile(`(?i)^(.*)(?:phpsessid=[0-9a-zA-Z]{32})(?:&(.*))?$`),
	regexp.MustCompile(`(?i)^(.*)(?:sid=[0-9a-zA-Z]{32})(?:&(.*))?$`),
	regexp.MustCompile(`(?i)^(.*)(?:ASPSESSIONID[a-zA-Z]{8}=[a-zA-Z]{24})(?:&(.*))?$`),
	regexp.MustCompile(`(?i)^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$`),
}

func withoutIDs(query string) string {
	for _, id := range queryIDs {
		query = id.ReplaceAllString(query, "$1$2")
	}
	return query
}

// sortedQuery sorts parameters by name and then by value.
func sortedQuery(query string) string {
	if len(query) <= 1 {
		return query
	}
	args := strings.Split(query, "&")
	slices.SortStableFunc(args, func(a, b string) int {
		nameA, valueA, hasA := strings.Cut(a, "=")
		nameB, valueB, hasB := strings.Cut(b, "=")
		order := cmp.Or(strings.Compare(nameA, nameB), strings.Compare(valueA, valueB))
		if order == 0 && hasA != hasB { // "a" stands before "a="
			return map[bool]int{false: -1, true: 1}[hasA]
		}
		return order
	})
	return strings.Join(args, "&")
}

// unescape decodes percent escapes until there are none left.
func unescape(s string) string {
	for {
		plain := unescapeOnce(s)
		if plain == s {
			return s
		}
		s = plain
	}
}

func unescapeOnce(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		var c [1]byte
		if s[i] == '%' && i+2 < len(s) {
			if _, err := hex.Decode(c[:], []byte(s[i+1:i+3])); err == nil {
				out = append(out, c[0])
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// escape writes what may not stand in a URL, "#" and "%" as escapes.
func escape(s string) string {
	const kept = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte(kept, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString(strings.ToUpper("%" + hex.EncodeToString([]byte{c})))
		}
	}
	return b.String()
}

// lower is for what is ASCII, as what was escaped is.
func lower(s string) string { return strings.ToLower(s) }
