package scheduler

import (
	"slices"
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

// hours is how a moment lies to the windows of what the budget pays for. The caller holds mu.
func (p *purse) hours(now time.Time) hours {
	if p.open == nil {
		return hours{}
	}
	windows := p.open()
	if now.Before(p.spell.since) || !now.Before(p.spell.until) || !slices.Equal(windows, p.spell.windows) {
		p.spell = spellOf(windows, now)
	}
	return p.spell.hours(now)
}

// recess is the longest time for which windows are closed. It is looked for once.
type recess struct {
	of   []config.Window
	long time.Duration
}

// extraRoom is for how long what comes in is kept beyond mostRoom: where its windows are closed for longer than that, as long as they are, up to a
// day, or it would be lost. The caller holds mu.
func (p *purse) extraRoom(now time.Time) time.Duration {
	if p.open == nil {
		return 0
	}
	if windows := p.open(); !slices.Equal(windows, p.recess.of) {
		p.recess = recess{windows, longestClosed(windows, now)}
	}
	return min(max(p.recess.long-mostRoom, 0), mostExtra)
}

// longestClosed is the longest time for which windows are closed between any two spans of the two weeks around a moment.
func longestClosed(windows []config.Window, now time.Time) (longest time.Duration) {
	type span struct{ from, to time.Time }
	var spans []span
	for _, w := range windows {
		for day := -1; day <= 14; day++ {
			if from, to := spanOf(w, now, day); to.After(from) {
				spans = append(spans, span{from, to})
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
	for i := 1; i < len(spans); i++ {
		longest = max(longest, spans[i].from.Sub(spans[i-1].to))
		spans[i].to = later(spans[i].to, spans[i-1].to)
	}
	return longest
}

// spell is a time in which windows are open without a break, or all are closed. It is looked for once: of hundreds of sites with windows of their
// own, one after the other, the week has thousands of spans.
type spell struct {
	windows        []config.Window
	since, until   time.Time // it is known to be so
	opened, closes time.Time // zero: all are closed
	opens          time.Time // after that; zero: never, or they do not close for days
}

// spellOf is the one that a moment lies in.
func spellOf(windows []config.Window, now time.Time) spell {
	s := spell{windows: windows, since: now, until: now.Add(farOff)}
	if s.opened, s.closes = openSpan(windows, now); s.opened.IsZero() {
		if s.opens, _ = nextOpening(windows, now); !s.opens.IsZero() {
			s.until = s.opens
		}
		return s
	}
	for to := lastClosing(windows, s.closes); !to.IsZero(); to = lastClosing(windows, s.closes) {
		if s.closes = to; s.closes.Sub(now) > 2*farOff {
			return s
		}
	}
	for from, _ := openSpan(windows, s.opened.Add(-1)); !from.IsZero() && now.Sub(s.opened) < farOff; from, _ = openSpan(windows, s.opened.Add(-1)) {
		s.opened = from
	}
	s.until = s.closes
	s.opens, _ = nextOpening(windows, s.closes)
	return s
}

// lastClosing is the end of the spans that hold a moment, of several the last; the zero time where all windows are closed.
func lastClosing(windows []config.Window, t time.Time) (last time.Time) {
	for _, w := range windows {
		_, to := spanAround(w, t)
		last = later(last, to)
	}
	return last
}

// hours is how a moment of it lies to its windows.
func (s *spell) hours(now time.Time) hours {
	switch {
	case s.opened.IsZero() && s.opens.IsZero(), !s.opened.IsZero() && s.closes.Sub(now) > farOff:
		return hours{}
	case s.opened.IsZero():
		return hours{opensIn: s.opens.Sub(now)}
	}
	return hours{passed: now.Sub(s.opened), left: s.closes.Sub(now), closed: max(s.opens.Sub(s.closes), 0)}
}
