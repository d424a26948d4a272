// Package load is the load monitor: how long a host is left alone by how it bears our requests. It is pure.
//
// Two rules lengthen a host's politeness delay beyond what its site and its robots.txt say:
//
//   - by response time: the delay is at least Factor times the smoothed time from request to last byte, so that a host
//     works for us at most 1/(Factor+1) of its time. Heritrix waits five times the last response; the mean is smoothed
//     here as TCP smooths round trips (RFC 6298: srtt += (r - srtt)/8), lest one slow page hold up a site.
//   - by overload: each 429 or 503 doubles the delay, and each good answer adds a sixteenth of the site's own rate to the
//     present rate (1/delay). That is additive increase and multiplicative decrease of the rate (Chiu and Jain 1989):
//     a host that can bear half of what it is asked is found out in a few steps and kept near what it bears.
//
// No rule goes beyond Longest, none is below Base. Without an answer yet there is nothing to go by, and the delay is Base.
package load

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"recrawld/models"
)

// Rule is what bounds a host's delay.
type Rule struct {
	Base    time.Duration // by the site's setting and robots.txt; 0: the site wants no delay
	Longest time.Duration // clamp of what load adds
	Factor  float64       // times the response time; 0: that does not count; nor where Base is 0
}

// smoothing is the share of a new response time in the mean, one in so many.
const smoothing = 8

// steps is how many good answers lead from an idle rate to the site's own.
const steps = 16

// least is the shortest delay that overload leads to: a host that wants rest gets some, also where its site wants no delay.
const least = 100 * time.Millisecond

// Overloaded tells whether a server says that it has too much to do.
func Overloaded(out *models.Outcome) bool {
	return out.Sent > 0 && (out.Status == http.StatusTooManyRequests || out.Status == http.StatusServiceUnavailable)
}

// timed tells whether an outcome shows how long the host takes: it answered, or it took the request and did not answer in
// time. A host that is not reached at all shows nothing; its error clock holds it back.
func timed(out *models.Outcome) bool {
	return out.Sent > 0 && out.Took > 0 &&
		(out.Status != 0 || out.Class == models.HeaderTimeout || out.Class == models.BodySlow)
}

// Next is what is known of a host after a visit. A request that was under way when the host last asked for rest is not
// fresh: what it came to is no news, neither good nor bad, so that one burst counts once.
func Next(l models.Load, out *models.Outcome, fresh bool, r Rule) models.Load {
	if timed(out) {
		l.Response = smoothed(l.Response, out.Took/time.Duration(out.Sent))
	}
	switch {
	case !fresh:
	case Overloaded(out):
		l.Slowed = min(2*max(Delay(l, r), least), max(r.Longest, r.Base))
	case l.Slowed > 0 && out.Kind.Asked() && out.Kind != models.Failed:
		l.Slowed = eased(l.Slowed, r.Base)
	}
	return l
}

// smoothed is the mean after another response time, in whole microseconds and at least one.
func smoothed(mean, took time.Duration) time.Duration {
	if mean > 0 {
		took = mean + (took-mean)/smoothing
	}
	return max(took.Truncate(time.Microsecond), time.Microsecond)
}

// eased is the delay after a good answer, 0 once it is no longer than the site's own.
func eased(slowed, base time.Duration) time.Duration {
	own := max(base, least)
	rate := 1/slowed.Seconds() + 1/(steps*own.Seconds())
	delay := time.Duration(math.Round(1e6/rate)) * time.Microsecond
	if delay <= own {
		return 0
	}
	return delay
}

// Delay is how long to leave a host alone after a request, from its end.
func Delay(l models.Load, r Rule) time.Duration {
	delay := max(l.Slowed, byResponse(l, r))
	return max(r.Base, min(delay, r.Longest))
}

// byResponse is the delay by the response time alone.
func byResponse(l models.Load, r Rule) time.Duration {
	if r.Base == 0 {
		return 0
	}
	return time.Duration(min(r.Factor*float64(l.Response), float64(r.Longest)))
}

// Why says in words why a host's delay is longer than its site and its robots.txt want it, "" where it is not. Times are
// written by span.
func Why(l models.Load, r Rule, span func(time.Duration) string) string {
	if Delay(l, r) <= r.Base {
		return ""
	}
	reason := "it said that it is overloaded (429 or 503), and comes back with each good answer"
	if by := byResponse(l, r); by >= l.Slowed {
		reason = fmt.Sprintf("%g × its response time of %s", r.Factor, span(l.Response))
	}
	if Delay(l, r) == r.Longest {
		reason += ", at most " + span(r.Longest)
	}
	return reason
}
