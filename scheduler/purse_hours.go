package scheduler

import (
	"time"

	"recrawld/config"
)

// hours is how a moment lies to the windows of what a budget pays for. The zero hours: there are none, or none closes for days.
type hours struct {
	opensIn      time.Duration // until one opens; 0: one is open
	passed, left time.Duration // since one opened, and until all are closed
	closed       time.Duration // for so long then
}

// farOff is how far the end of a window may lie that makes a difference.
const farOff = 7 * 24 * time.Hour

// hours is how a moment lies to the windows of what the budget pays for.
func (p *purse) hours(now time.Time) hours {
	if p.open == nil {
		return hours{}
	}
	return hoursOf(p.open(), now)
}

// recess is the longest time for which windows are closed.
type recess struct {
	of   []config.Window
	long time.Duration
}

// mostRoom is for how long at most what comes in is kept: where its windows are closed for longer than is kept otherwise, as long as they are, up
// to a day, or it would be lost. The caller holds mu.
func (p *purse) mostRoom(now time.Time) time.Duration {
	if p.open == nil {
		return mostRoom
	}
	windows := p.open()
	if len(windows) == 0 {
		return mostRoom
	}
	if len(p.recess.of) != len(windows) || &p.recess.of[0] != &windows[0] {
		p.recess = recess{windows, longestClosed(windows, now)}
	}
	return min(max(mostRoom, p.recess.long), longestRoom)
}

// longestClosed is the longest time for which windows are closed within the eight days from now on.
func longestClosed(windows []config.Window, now time.Time) (longest time.Duration) {
	_, closes := nextOpening(windows, now)
	for !closes.IsZero() && closes.Sub(now) <= farOff+24*time.Hour {
		if _, to := openSpan(windows, closes); !to.IsZero() {
			closes = to
			continue
		}
		opens, to := nextOpening(windows, closes)
		longest = max(longest, opens.Sub(closes))
		closes = to
	}
	return longest
}

func hoursOf(windows []config.Window, now time.Time) hours {
	if len(windows) == 0 {
		return hours{}
	}
	opened, closes := openSpan(windows, now)
	if opened.IsZero() {
		if opens, _ := nextOpening(windows, now); !opens.IsZero() {
			return hours{opensIn: opens.Sub(now)}
		}
		return hours{}
	}
	for _, to := openSpan(windows, closes); !to.IsZero(); _, to = openSpan(windows, closes) {
		if closes = to; closes.Sub(now) > farOff {
			return hours{}
		}
	}
	for from, _ := openSpan(windows, opened.Add(-1)); !from.IsZero() && now.Sub(opened) < farOff; from, _ = openSpan(windows, opened.Add(-1)) {
		opened = from
	}
	opens, _ := nextOpening(windows, closes)
	return hours{passed: now.Sub(opened), left: closes.Sub(now), closed: max(opens.Sub(closes), 0)}
}
