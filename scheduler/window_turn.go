package scheduler

import (
	"time"

	"recrawld/config"
	"recrawld/models"
)

// What comes to its turn while all windows of its site are closed is due when one opens, in the order in which it began to wait: the first
// minutes of a window are the places of those that waited for it, and how long a page waited can be read off its place, so that it keeps its
// turn where the window closes before that. Were pages dealt out over the window instead, those that lie late in it would be behind others
// that take the budget, every day again.
const (
	placesSpan  = 5 * time.Minute       // the places in a window, from its opening on
	placesShare = 4                     // and no more than such a part of it
	firstPlace  = 10 * time.Millisecond // after the opening
	halfPlace   = 6 * time.Hour         // after so long a wait a page's place is in the middle of them
	placesVary  = 0.2                   // the part of them by which a host's vary from window to window, so that not all hosts begin at once
)

// placesOf is for how long after its opening a window has places for those that waited.
func placesOf(from, to time.Time) time.Duration { return min(placesSpan, to.Sub(from)/placesShare) }

// hostPlaces is for how long those of a host do, in nanoseconds.
func hostPlaces(host int64, from, to time.Time) float64 {
	return float64(placesOf(from, to)) * (1 - placesVary*chance(host, int32(from.Unix()/60), useTurn))
}

// InTurn is the due time by the windows of its site, if there are any, of a page of a host whose turn comes at a moment, or came then; now is
// when that is asked. What is due later is moved into a window (IntoWindow, by u) and out of the places of those that waited for it. What has
// been due since before the window that is open, or opens next, has a place at the beginning of that window, the sooner the longer it waited.
//
// So a page that windows put off, however often, waits for no page of its host that was planned and began to wait after it, and for no page of
// another host with the same windows that began to wait later than it by more than a fifth of its own wait and of 6 hours. Only what is found or
// asked for within the first 5 minutes of a window may pass it. A place is exact to a millisecond, which after ten days of waiting is some
// minutes and after a hundred some hours: pages that are no further apart are in the order of their IDs, and stay so.
func InTurn(windows []config.Window, host int64, at, now time.Time, u float64) time.Time {
	if len(windows) == 0 {
		return at
	}
	if at.After(now) {
		return behindPlaces(windows, at, u)
	}
	from, to := openSpan(windows, now)
	if from.IsZero() {
		from, to = nextOpening(windows, now)
	}
	if from.IsZero() || !at.Before(from) {
		return at
	}
	place := hostPlaces(host, from, to) / (1 + float64(from.Sub(at))/float64(halfPlace))
	return from.Add(max(time.Duration(place), firstPlace)).UTC()
}

// behindPlaces moves a moment to come into a window and out of the places in it. A schedule that makes all pages due as a window opens would
// have those that were visited last go before those that wait for the second day.
func behindPlaces(windows []config.Window, at time.Time, u float64) time.Time {
	at = IntoWindow(windows, at, u)
	if from, to := openSpan(windows, at); at.Sub(from) < placesOf(from, to) {
		return at.Add(placesOf(from, to))
	}
	return at
}

// waitsSince is since when a waiting page has waited: its due time, or what InTurn made that of.
func waitsSince(windows []config.Window, page *models.Page) time.Time {
	due := page.DueAt.Time()
	if len(windows) == 0 || page.Rule != models.RuleWindow && !keptInWindow(page.Rule) {
		return due
	}
	from, to := openSpan(windows, due)
	place, places := due.Sub(from), hostPlaces(page.HostID, from, to)
	if from.IsZero() || place < firstPlace || float64(place) > places {
		return due
	}
	return from.Add(-time.Duration(float64(halfPlace) * (places/float64(place) - 1))).UTC()
}

// keptInWindow tells whether a page keeps the rule by which it is due when windows put it off: then it goes before those that wait for their
// worth, or is paid for.
func keptInWindow(r models.Rule) bool {
	return r.Heard() || r.OfDuplicate() || r == models.RuleManual || r == models.RuleLost || r == models.RuleList || r == models.RuleBudget
}

// cadence is the time from the opening of the window that is open to the next opening; 0 where none is.
func cadence(windows []config.Window, now time.Time) time.Duration {
	from, _ := openSpan(windows, now)
	if from.IsZero() {
		return 0
	}
	next, _ := nextOpening(windows, now)
	return max(next.Sub(from), 0)
}

// lastOf is when what is due by a moment is due at the latest, once it was moved into a window.
func lastOf(windows []config.Window, at time.Time) time.Time {
	if from, to := openSpan(windows, at); !from.IsZero() {
		return later(at, from.Add(2*placesOf(from, to)))
	}
	if _, to := nextOpening(windows, at); !to.IsZero() {
		return to
	}
	return at
}
