package extract

import (
	"path"
	"strconv"
	"strings"
	"time"

	"recrawld/recrawl/canon"
)

// stampSlack is how far the clock of a server, or a page that it keeps ready, may be from the moment at which the page was asked for.
const stampSlack = 10 * time.Minute

// Timeless is a URL without what of its query is the moment at which the page that names it was made, in seconds or milliseconds since
// 1970: such as style.css?v=1764125712 and counter.php?id=start&1764125712. A UUID that is the whole query of a file, such as
// data.json?0c7ba505-5706-40e0-9e73-2f5c122505a0, is that of a build. They keep caches from what lies there, which answers the same
// without; taken as they are, each visit to the page, or each after a build, would find another URL. at is when the page was asked for; the
// zero time: the URL stays.
func Timeless(u canon.URL, at time.Time) canon.URL {
	query := u.Query()
	if at.IsZero() || len(query) < len("1764125712") {
		return u
	}
	if isUUID(query) && lies(u.Path()) {
		return without(u, "")
	}
	var kept []string
	all := strings.Split(query, "&")
	for _, part := range all {
		value := part[strings.IndexByte(part, '=')+1:]
		if !isMoment(value, at) {
			kept = append(kept, part)
		}
	}
	if len(kept) == len(all) {
		return u
	}
	return without(u, strings.Join(kept, "&"))
}

// without is a URL with another query; "" for none.
func without(u canon.URL, query string) canon.URL {
	text := u.Origin() + u.Path()
	if query != "" {
		text += "?" + query
	}
	if bare, err := canon.Parse(text); err == nil {
		return bare
	}
	return u
}

// fileKinds are the extensions of what servers hand out as it lies there, without a look at the query.
var fileKinds = map[string]bool{".css": true, ".gif": true, ".ico": true, ".jpeg": true, ".jpg": true, ".js": true, ".json": true, ".mjs": true,
	".png": true, ".svg": true, ".ttf": true, ".wasm": true, ".webmanifest": true, ".webp": true, ".woff": true, ".woff2": true}

func lies(at string) bool { return fileKinds[strings.ToLower(path.Ext(at))] }

// isUUID tells the form of RFC 9562, section 4.
func isUUID(s string) bool {
	if len(s) != len("0c7ba505-5706-40e0-9e73-2f5c122505a0") {
		return false
	}
	for i := range len(s) {
		c := s[i] | 0x20
		switch dash := i == 8 || i == 13 || i == 18 || i == 23; {
		case dash && s[i] != '-', !dash && (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}

// isMoment tells whether a number is a moment about at.
func isMoment(value string, at time.Time) bool {
	moment, is := UnixMoment(value)
	return is && moment.Sub(at).Abs() <= stampSlack
}

// UnixMoment reads a moment in seconds or milliseconds since 1970 that lies between 2001 and 2286, which is a number of ten or thirteen digits.
func UnixMoment(s string) (time.Time, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil || s[0] < '1' || s[0] > '9':
		return time.Time{}, false
	case len(s) == len("1764125712"):
		return time.Unix(n, 0), true
	case len(s) == len("1764125712345"):
		return time.UnixMilli(n), true
	}
	return time.Time{}, false
}
