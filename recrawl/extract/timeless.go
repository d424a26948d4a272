package extract

import (
	"strconv"
	"strings"
	"time"

	"recrawld/recrawl/canon"
)

// stampSlack is how far the clock of a server, or a page that it keeps ready, may be from the moment at which the page was asked for.
const stampSlack = 10 * time.Minute

// Timeless is a URL without what of its query is the moment at which the page that names it was made, in seconds or milliseconds since
// 1970: such as style.css?v=1764125712 and counter.php?id=start&1764125712. They keep caches from what lies there, which answers the same
// without; taken as they are, each visit to the page would find another URL. at is when the page was asked for; the zero time: the URL stays.
func Timeless(u canon.URL, at time.Time) canon.URL {
	query := u.Query()
	if at.IsZero() || len(query) < len("1764125712") {
		return u
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
	text := u.Origin() + u.Path()
	if len(kept) > 0 {
		text += "?" + strings.Join(kept, "&")
	}
	if bare, err := canon.Parse(text); err == nil {
		return bare
	}
	return u
}

// isMoment tells whether a number is a moment about at.
func isMoment(value string, at time.Time) bool {
	if len(value) != len("1764125712") && len(value) != len("1764125712345") {
		return false
	}
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		return false
	}
	moment := time.Unix(int64(n), 0)
	if len(value) > len("1764125712") {
		moment = time.UnixMilli(int64(n))
	}
	return moment.Sub(at).Abs() <= stampSlack
}
