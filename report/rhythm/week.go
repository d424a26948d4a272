package rhythm

import (
	"math"
	"math/cmplx"
	"time"
)

// The hours of a day and of a week, which begins on Monday at midnight.
const (
	Day  = 24
	Week = 7 * Day
)

// epochDay is which day of the week, from Monday on, 1 January 1970 was.
const epochDay = 3

// stretch is a time between two moments in hours of the clocks of a zone since the Monday before 1970.
type stretch struct{ from, to float64 }

// in is the time between two moments by the clocks of a zone, as they are set at its middle: across a change to or from summer time a
// part of it is an hour off.
func in(zone *time.Location, from, to time.Time) stretch {
	_, ahead := from.Add(to.Sub(from) / 2).In(zone).Zone()
	hours := func(t time.Time) float64 { return (float64(t.UnixMilli())/1000+float64(ahead))/3600 + epochDay*Day }
	return stretch{hours(from), hours(to)}
}

func (s stretch) hours() float64  { return s.to - s.from }
func (s stretch) middle() float64 { return (s.from + s.to) / 2 }

// turn is the mean of e^(2πi·t/period) over the stretch.
func (s stretch) turn(period float64) complex128 {
	at := func(hour float64) complex128 { return cmplx.Rect(1, 2*math.Pi*math.Mod(hour, period)/period) }
	if s.hours() < 1e-6 {
		return at(s.from)
	}
	return (at(s.to) - at(s.from)) / complex(0, 2*math.Pi*s.hours()/period)
}

// each calls f with each hour of the week that a stretch of at most a week touches, and which share of the stretch lies in it. A moment lies in one.
func (s stretch) each(f func(hour int, share float64)) {
	at := inWeek(s.from)
	if s.hours() < 1e-6 {
		f(int(at)%Week, 1)
		return
	}
	for left := s.hours(); left > 1e-9; {
		hour := math.Floor(at)
		part := min(left, hour+1-at)
		if !(part > 1e-9) {
			part = min(left, 1e-9)
		}
		f(int(hour)%Week, part/s.hours())
		at += part
		left -= part
	}
}

// inWeek is the hour of the week of a moment, 0 or more and less than Week.
func inWeek(hour float64) float64 {
	if h := math.Mod(hour, Week); h >= 0 {
		return h
	} else if h += Week; h < Week {
		return h
	}
	return 0
}
