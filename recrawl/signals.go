package recrawl

import (
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"recrawld/models"
	"recrawld/recrawl/extract"
)

// maxSeconds is the largest number of seconds that a header may count to: 68 years, as RFC 9111 section 1.2.2 advises.
const maxSeconds = 1<<31 - 1

// maxValidator is the length in bytes of the longest ETag or Last-Modified that is kept: it must fit into the request.
const maxValidator = 8 << 10

// freshUntil says until when the server promises that the answer is current, clamped to now + most. The zero time means
// that it promises nothing: no header, an unreadable one, or one that says so. A private cache's rules hold (RFC 9111
// section 4.2): max-age, less the Age the answer has already; without max-age Expires − Date; s-maxage is for others.
func freshUntil(header http.Header, now time.Time, most time.Duration) time.Time {
	lifetime := max(lifetimeOf(header, now), 0) // less an age, the shortest of all would run over
	if age, ok := deltaSeconds(header.Get("Age")); ok {
		lifetime -= age
	}
	if lifetime = min(lifetime, most); lifetime <= 0 {
		return time.Time{}
	}
	return now.Add(lifetime)
}

func lifetimeOf(header http.Header, now time.Time) time.Duration {
	maxAge, said, revalidate := cacheControl(header)
	if revalidate || said {
		return maxAge
	}
	expires, ok := parseDate(header.Get("Expires"))
	if !ok || len(header.Values("Expires")) > 1 {
		return 0
	}
	if date, ok := parseDate(header.Get("Date")); ok {
		return expires.Sub(date) // Sub saturates
	}
	return expires.Sub(now)
}

// cacheControl reads the directives that speak of freshness. Of several max-age the first counts (RFC 9111 section
// 4.2.1); one that is no number means stale. revalidate is no-cache or no-store, with which maxAge is 0.
func cacheControl(header http.Header) (maxAge time.Duration, said, revalidate bool) {
	for _, directive := range splitDirectives(header.Values("Cache-Control")) {
		name, value, _ := strings.Cut(directive, "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "no-cache", "no-store":
			return 0, said, true
		case "max-age":
			if said {
				continue
			}
			said = true
			maxAge, _ = deltaSeconds(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return maxAge, said, false
}

// splitDirectives cuts header values at commas outside quotes.
func splitDirectives(values []string) []string {
	var list []string
	for _, value := range values {
		quoted, start := false, 0
		for i := range len(value) {
			switch {
			case value[i] == '"':
				quoted = !quoted
			case value[i] == ',' && !quoted:
				list = append(list, strings.TrimSpace(value[start:i]))
				start = i + 1
			}
		}
		list = append(list, strings.TrimSpace(value[start:]))
	}
	return list
}

// deltaSeconds reads a number of seconds: digits and nothing else, at most maxSeconds.
func deltaSeconds(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseInt(s, 10, 64)
	if err != nil || seconds > maxSeconds {
		seconds = maxSeconds
	}
	return time.Duration(seconds) * time.Second, true
}

// parseDate reads the three forms of an HTTP date (RFC 9110 section 5.6.7), in GMT and with no digit missing.
func parseDate(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if len(s) < len(time.ANSIC)-1 { // most answers lack most dates, and three errors would be made of each
		return time.Time{}, false
	}
	at, err := http.ParseTime(s)
	if err != nil {
		return time.Time{}, false
	}
	imf := len(s) == len(http.TimeFormat)
	rfc850 := strings.Contains(s, "-") && strings.HasSuffix(s, " GMT")
	ansi := len(s) == len(time.ANSIC)
	return at, imf || rfc850 || ansi
}

// RetryAfter says when the server wants to be asked again, clamped to now + most; zero where it does not say. A date is
// read against the server's own Date, since its clock need not be ours.
func RetryAfter(header http.Header, now time.Time, most time.Duration) time.Time {
	value := header.Get("Retry-After")
	wait, ok := deltaSeconds(value)
	if !ok {
		at, isDate := parseDate(value)
		if !isDate {
			return time.Time{}
		}
		base := now
		if date, ok := parseDate(header.Get("Date")); ok {
			base = date
		}
		wait = at.Sub(base)
	}
	return now.Add(min(max(wait, 0), most))
}

// validators are the strings for the next request's conditions, as the server spelled them. One that cannot be sent
// back byte for byte is dropped.
func validators(header http.Header) (etag, lastModified string) {
	return validator(header, "ETag"), validator(header, "Last-Modified")
}

func validator(header http.Header, name string) string {
	values := header.Values(name)
	if len(values) != 1 || !sendable(values[0]) {
		return ""
	}
	return values[0]
}

// sendable tells whether a value can be stored as text and written into a request unchanged, and is a condition there on
// what the page holds: "*" is the one that any page meets (RFC 9110 section 13.1.2).
func sendable(s string) bool {
	return s != "*" && len(s) <= maxValidator && utf8.ValidString(s) && !strings.ContainsFunc(s, isControl)
}

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

// RobotsTag reads the X-Robots-Tag headers. A page whose unavailable_after has passed is neither to be indexed nor to be
// kept for others.
func RobotsTag(header http.Header, agent string, now time.Time) extract.Directives {
	values := header.Values("X-Robots-Tag")
	d := extract.ParseRobotsTag(values, agent)
	for _, value := range values {
		if date, ok := unavailableAfter(value, agent); ok && passed(date, now) {
			d.NoIndex, d.NoArchive = true, true
		}
	}
	return d
}

// unavailableAfter finds the date in "unavailable_after: date", which may stand in a list and may be for one agent
// alone. A date may hold commas and colons itself, so it is the whole rest.
func unavailableAfter(value, agent string) (date string, ok bool) {
	const name = "unavailable_after"
	at := indexFold(value, name)
	if at < 0 {
		return "", false
	}
	if scope, _, scoped := strings.Cut(value[:at], ":"); scoped && extract.IsAgent(scope) &&
		!strings.EqualFold(strings.TrimSpace(scope), agent) {
		return "", false
	}
	date, ok = strings.CutPrefix(strings.TrimLeft(value[at+len(name):], " "), ":")
	return strings.TrimSpace(date), ok
}

// indexFold is where an ASCII word stands in s, in any case; -1: nowhere. In lower case s may have another length.
func indexFold(s, word string) int {
	for i := range len(s) - len(word) + 1 {
		if strings.EqualFold(s[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}

// unavailableForms are the spellings of a date seen in unavailable_after.
var unavailableForms = []string{"02 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 MST", "02-Jan-2006 15:04:05 MST",
	"02-Jan-06 15:04:05 MST", time.RFC850, time.RFC1123, time.RFC1123Z, time.RFC3339, "2006-01-02"}

func passed(date string, now time.Time) bool {
	for _, form := range unavailableForms {
		if at, err := time.Parse(form, date); err == nil {
			return at.Before(now)
		}
	}
	return false
}

// mediaType is the type of a Content-Type without its parameters, lower case.
func mediaType(header http.Header) string {
	kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return clean(strings.ToLower(strings.TrimSpace(kind)), 127)
}

// clean makes text from outside fit for a row and a screen: valid UTF-8, no control characters, at most so many bytes.
func clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") // a rune that was cut goes
	}
	return s
}

// refreshed is the outcome's validators after a 304: what it names anew replaces what we hold (RFC 9111 section 3.2). One
// that names another strong tag speaks of another copy, and changes nothing of ours (section 4.3.4).
func refreshed(page *models.Page, header http.Header) (etag, lastModified string) {
	etag, lastModified = validators(header)
	if etag != "" && page.ETag != "" {
		held, _ := opaque(page.ETag)
		if named, weak := opaque(etag); !weak && named != held {
			return page.ETag, page.LastModified
		}
	}
	if etag == "" {
		etag = page.ETag
	}
	if lastModified == "" {
		lastModified = page.LastModified
	}
	return etag, lastModified
}
