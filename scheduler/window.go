package scheduler

import (
	"time"

	"recrawld/config"
)

// Allowed tells whether a visit may take place at t: inside one of the windows, or always where there are none.
func Allowed(windows []config.Window, t time.Time) bool {
	if len(windows) == 0 {
		return true
	}
	from, _ := openSpan(windows, t)
	return !from.IsZero()
}

// IntoWindow moves a moment that lies outside every window into the next one that opens, u in [0, 1) of its length
// after its opening, so that what is planned for closed hours does not all begin at once. Without windows, and inside one, t stays. What has
// come to its turn by then has its place in the window by InTurn.
func IntoWindow(windows []config.Window, t time.Time, u float64) time.Time {
	if Allowed(windows, t) {
		return t
	}
	from, to := nextOpening(windows, t)
	if from.IsZero() {
		return t
	}
	return from.Add(time.Duration(u * float64(to.Sub(from)))).UTC()
}

// openSpan is the span of a window that holds t, of several the one that opened first; zero times where all are closed.
func openSpan(windows []config.Window, t time.Time) (from, to time.Time) {
	for _, w := range windows {
		if f, e := spanAround(w, t); from.IsZero() || !f.IsZero() && f.Before(from) {
			from, to = f, e
		}
	}
	return from, to
}

// nextOpening is the first span of a window that begins after t; zero times where there is none.
func nextOpening(windows []config.Window, t time.Time) (from, to time.Time) {
	for _, w := range windows {
		if f, e := nextSpan(w, t); from.IsZero() || !f.IsZero() && f.Before(from) {
			from, to = f, e
		}
	}
	return from, to
}

// spanAround is the span of the window that holds t, or zero times.
func spanAround(w config.Window, t time.Time) (from, to time.Time) {
	for back := 1; back >= 0; back-- { // a span that runs past midnight began the day before
		f, e := spanOf(w, t, -back)
		if !f.IsZero() && !t.Before(f) && t.Before(e) {
			return f, e
		}
	}
	return time.Time{}, time.Time{}
}

// nextSpan is the first span that begins after t and is not empty: the change of the clocks may skip the whole of one.
func nextSpan(w config.Window, t time.Time) (from, to time.Time) {
	for day := 0; day <= 15; day++ { // each weekday, also where today's has begun and next week's is skipped
		f, e := spanOf(w, t, day)
		if f.After(t) && e.After(f) {
			return f, e
		}
	}
	return time.Time{}, time.Time{}
}

// spanOf is the window's span on the local day that lies `day` days from t's, or zero times where that weekday has
// none. Local times that a change of the clocks skips move on by what it skips; an hour that it repeats is taken at its
// first occurrence.
func spanOf(w config.Window, t time.Time, day int) (from, to time.Time) {
	local := t.In(w.Zone)
	year, month, date := local.Date()
	if !w.Days[time.Date(year, month, date+day, 12, 0, 0, 0, w.Zone).Weekday()] {
		return time.Time{}, time.Time{}
	}
	end := date + day
	if w.To <= w.From {
		end++
	}
	return localTime(w.Zone, year, month, date+day, w.From), localTime(w.Zone, year, month, end, w.To)
}

// localTime is the moment of a time of day. time.Date alone moves a time that is skipped on or back, and takes the first of
// two or the second, as the zone lies east of Greenwich or west.
func localTime(zone *time.Location, year int, month time.Month, date int, clock time.Duration) time.Time {
	in := func(zone *time.Location) time.Time {
		return time.Date(year, month, date, 0, int(clock/time.Minute), int(clock%time.Minute/time.Second), 0, zone)
	}
	wanted, at := in(time.UTC), in(zone)
	shows := func(t time.Time) bool {
		_, offset := t.Zone()
		return t.Add(time.Duration(offset) * time.Second).Equal(wanted)
	}
	_, before := at.Add(-3 * time.Hour).Zone()
	first := wanted.Add(-time.Duration(before) * time.Second).In(zone) // as if no change came in between
	if !shows(first) && shows(at) {
		return at
	}
	return first
}
