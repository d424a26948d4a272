package rhythm

import (
	"math/rand/v2"
	"slices"
	"time"
)

// monday is the midnight with which made-up worlds begin.
var monday = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// world is made-up pages that change and are looked at.
type world struct {
	pages  int
	days   int
	perDay func(page int) float64                        // changes of a page
	busy   func(at time.Time) float64                    // how many times as often as on average it changes then; at most 8
	next   func(dice *rand.Rand, at time.Time) time.Time // the visit after one
	sweeps []time.Time                                   // when all pages change
	lists  []time.Time                                   // when it is read which pages have changed: those are visited then
	dated  bool                                          // dates tell when
}

// alike is no rhythm.
func alike(time.Time) float64 { return 1 }

// office is from 9 to 18 on working days, by the clocks of UTC: as many times as often as else.
func office(times float64) func(time.Time) float64 {
	within := 45.0 / Week
	outside := 1 / (within*times + 1 - within)
	return func(at time.Time) float64 {
		if at.Weekday() != time.Saturday && at.Weekday() != time.Sunday && at.Hour() >= 9 && at.Hour() < 18 {
			return times * outside
		}
		return outside
	}
}

// every is visits an interval apart, less up to 15 %.
func every(interval time.Duration) func(*rand.Rand, time.Time) time.Time {
	return func(dice *rand.Rand, at time.Time) time.Time {
		return at.Add(interval - time.Duration(0.15*dice.Float64()*float64(interval)))
	}
}

// nightly is visits each night at 22, 0, 2 and 4 hours, or thereabouts.
func nightly(dice *rand.Rand, at time.Time) time.Time {
	next := at.Truncate(2 * time.Hour).Add(2*time.Hour + time.Duration(dice.IntN(60))*time.Minute)
	if h := next.Hour(); h >= 6 && h < 22 {
		next = next.Add(time.Duration(22-h) * time.Hour)
	}
	return next
}

// tally makes the world from a seed and counts its looks.
func (w world) tally(seed uint64) Rhythm {
	dice, t := rand.New(rand.NewPCG(seed, 1)), New(time.UTC)
	for page := range w.pages {
		t.Add(w.looks(dice, w.changes(dice, page)))
	}
	return t.Rhythm()
}

// changes are those of a page.
func (w world) changes(dice *rand.Rand, page int) []time.Time {
	const most = 8
	var all []time.Time
	end := monday.AddDate(0, 0, w.days)
	sweeps := w.sweeps
	for at := monday; ; {
		at = at.Add(time.Duration(dice.ExpFloat64() / (most * w.perDay(page)) * 24 * float64(time.Hour)))
		for len(sweeps) > 0 && sweeps[0].Before(at) {
			all, sweeps = append(all, sweeps[0]), sweeps[1:]
		}
		if !at.Before(end) {
			return all
		}
		if most*dice.Float64() < w.busy(at) {
			all = append(all, at)
		}
	}
}

// looks are those at a page that changes then.
func (w world) looks(dice *rand.Rand, changes []time.Time) (looks []Look) {
	at := w.next(dice, monday.Add(time.Duration(dice.IntN(24*60))*time.Minute))
	for end := monday.AddDate(0, 0, w.days); ; {
		l := Look{From: at, To: w.next(dice, at)}
		for len(changes) > 0 && !changes[0].After(at) {
			changes = changes[1:]
		}
		if len(changes) > 0 {
			if i := slices.IndexFunc(w.lists, changes[0].Before); i >= 0 && w.lists[i].Before(l.To) {
				l.To = w.lists[i]
			}
		}
		if l.To.After(end) {
			return looks
		}
		for len(changes) > 0 && !changes[0].After(l.To) {
			if l.Changed = true; w.dated {
				l.At = changes[0]
			}
			changes = changes[1:]
		}
		looks, at = append(looks, l), l.To
	}
}
