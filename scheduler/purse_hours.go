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
