package recrawl

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// staleWords are what caches say, as Cache-Status (RFC 9211), X-Cache-Status and under other names, of an answer that they gave out
// although they may not keep it any longer, while they fetch another.
var staleWords = []string{"stale", "updating"}

// staleness is how long a cache has had an answer, by its Age, and whether that is longer than it may be kept: than s-maxage, max-age or
// Expires allow, or at all where they say nothing. Such an answer is what the page was when somebody last asked the cache (RFC 5861,
// stale-while-revalidate), and where hardly anybody asks, that was our last visit. Less than a minute is nothing.
func staleness(header http.Header, now time.Time) (age time.Duration, stale bool) {
	age, _ = deltaSeconds(header.Get("Age"))
	lifetime, shared := sharedAge(header)
	if !shared {
		lifetime = lifetimeOf(header, now)
	}
	return age, age >= time.Minute && age > lifetime || saysStale(header)
}

// sharedAge is what s-maxage allows caches that serve many (RFC 9111 section 5.2.2.10).
func sharedAge(header http.Header) (time.Duration, bool) {
	for _, directive := range splitDirectives(header.Values("Cache-Control")) {
		if name, value, _ := strings.Cut(directive, "="); strings.EqualFold(strings.TrimSpace(name), "s-maxage") {
			return deltaSeconds(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return 0, false
}

// saysStale tells whether a cache names its answer stale, as a whole word of a header that is named for it. Cache-Control only allows it.
func saysStale(header http.Header) bool {
	for name, values := range header {
		if indexFold(name, "cache") < 0 || strings.EqualFold(name, "Cache-Control") {
			continue
		}
		says := namesStale
		if strings.EqualFold(name, "Cache-Status") {
			says = keptTooLong
		}
		if slices.ContainsFunc(splitDirectives(values), says) {
			return true
		}
	}
	return false
}

// namesStale tells whether one of staleWords stands in what a header says.
func namesStale(value string) bool {
	words := strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return strings.ContainsRune(` ,;="`, r) })
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(staleWords, word) })
}

// keptTooLong tells whether an entry of Cache-Status (RFC 9211 section 2) is of a cache that answered itself with what it may not keep any longer:
// a ttl below 0, or fwd=stale beside hit. By itself that means that it asked for another, and answered with that.
func keptTooLong(entry string) bool {
	hit, stale := false, false
	for _, one := range strings.Split(strings.ToLower(entry), ";")[1:] {
		one = strings.TrimSpace(one)
		hit = hit || one == "hit"
		stale = stale || one == "fwd=stale" || strings.HasPrefix(one, "ttl=-")
	}
	return hit && stale
}
