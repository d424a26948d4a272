package rhythm

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// The blocks of days whose scores are tested: long enough that what visits find of one change of many pages lies in one of them.
const (
	dayBlock  = 3
	weekBlock = 7
)

// busyLooks is the share of a page's looks that may be changed.
const busyLooks = 0.8

// table is of each hour of the week how many changes came and were expected, and how many were expected of what was not changed.
type table [Week]struct{ came, expected, still float64 }

// Tally counts the looks of pages. It is not safe for concurrent use.
type Tally struct {
	zone         *time.Location
	changes      int64
	dated        int64
	pages, noisy int64
	lengths      []int64 // undated changes by the length of their looks in hours, longer ones in the last
	days, weeks  blocks
	found        map[foundKey]float64 // changes by what is known of them
	each, noted  int64                // of so many changes one is in found, for all of them; how many there were
	most         int                  // kinds in found
}

// maxLength is the longest look that the median tells from others, in hours.
const maxLength = 400 * Day

// New is an empty tally of hours by the clocks of a zone.
func New(zone *time.Location) *Tally {
	return &Tally{zone: zone, days: make(blocks), weeks: make(blocks), found: make(map[foundKey]float64), each: 1, most: mostFound}
}

// Add counts the looks of a page, one after the other. Those that end before they begin, as the clock was set back, do not count.
func (t *Tally) Add(looks []Look) {
	looks = slices.DeleteFunc(slices.Clone(looks), func(l Look) bool { return !l.To.After(l.From) })
	changes := 0
	for i := range looks {
		if looks[i].Changed {
			changes++
		}
	}
	switch {
	case changes == 0:
		return
	case float64(changes) > busyLooks*float64(len(looks)):
		t.noisy++
		return
	}
	t.pages++
	rate := rateOf(looks)
	for i := range looks {
		t.look(&looks[i], rate)
	}
}

// look counts one.
func (t *Tally) look(l *Look, rate float64) {
	if l.Changed {
		t.changes++
		t.length(l)
	}
	known, moment := in(t.zone, l.From, l.To), stretch{}
	if l.dated() {
		t.dated++
		known, moment = in(t.zone, l.At, l.To), in(t.zone, l.At, l.At)
	}
	if known.hours() > Week {
		return
	}
	expected := rate * known.hours()
	number := t.spread(known, expected, l.Changed && !l.dated())
	switch {
	case l.dated():
		number = t.spreadChange(moment, 1)
		t.note(foundKey{block: number, start: halfHour(moment.from), dated: true})
	case l.Changed:
		t.spreadChange(known, came(expected))
		t.note(foundKey{block: number, start: halfHour(known.from), length: max(int16(math.Round(2*known.hours())), 1), rate: rateClass(rate)})
	}
}

// length counts how long the look of an undated change was.
func (t *Tally) length(l *Look) {
	if l.dated() {
		return
	}
	h := min(int(l.hours()), maxLength)
	if h >= len(t.lengths) {
		t.lengths = append(t.lengths, make([]int64, h+1-len(t.lengths))...)
	}
	t.lengths[h]++
}

// spread counts what is expected of a look, and tells the block of its middle, to which all of it belongs.
func (t *Tally) spread(s stretch, expected float64, changed bool) int32 {
	number, day := t.days.at(s.middle(), dayBlock)
	_, week := t.weeks.at(s.middle(), weekBlock)
	day.score -= complex(expected, 0) * s.turn(Day)
	week.score -= complex(expected, 0) * s.turn(Week)
	hours := day.table()
	s.each(func(hour int, share float64) {
		hours[hour].expected += expected * share
		if !changed {
			hours[hour].still += expected * share
		}
	})
	return number
}

// spreadChange counts what came.
func (t *Tally) spreadChange(s stretch, came float64) int32 {
	number, day := t.days.at(s.middle(), dayBlock)
	_, week := t.weeks.at(s.middle(), weekBlock)
	day.score += complex(came, 0) * s.turn(Day)
	week.score += complex(came, 0) * s.turn(Week)
	day.weight, week.weight = day.weight+came, week.weight+came
	hours := day.table()
	s.each(func(hour int, share float64) { hours[hour].came += came * share })
	return number
}

func (b *block) table() *table {
	if b.week == nil {
		b.week = new(table)
	}
	return b.week
}

// total is the sum of all blocks, each as far as it counts. Those without a change count in full: that nothing came is no sweep.
func (t *Tally) total(scales map[int32]float64) (sum table) {
	for _, number := range sortedKeys(t.days) {
		scale, scaled := scales[number]
		if !scaled {
			scale = 1
		}
		for hour, h := range t.days[number].table() {
			sum[hour].came += scale * h.came
			sum[hour].expected += scale * h.expected
			sum[hour].still += scale * h.still
		}
	}
	return sum
}

// medianLength is the median length of the looks of undated changes, in hours; 0: there are none.
func (t *Tally) medianLength() float64 {
	var all, below int64
	for _, n := range t.lengths {
		all += n
	}
	for hour, n := range t.lengths {
		if below += n; 2*below >= all && n > 0 {
			return float64(hour) + 0.5
		}
	}
	return 0
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
