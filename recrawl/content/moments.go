package content

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// moment is when something was or will be, as far as a text says it: not before from, not after to.
type moment struct {
	from, to time.Time
	unit     time.Duration // what it is counted in; 0: it is a date
}

// overlaps tells whether two moments may be one.
func (m moment) overlaps(o moment) bool { return !m.from.After(o.to) && !o.from.After(m.to) }

// around is the moment that lies so long after, or before, another: what is counted in days was rounded to one, up or down.
func around(at time.Time, after, unit time.Duration) moment {
	return moment{from: at.Add(after - unit), to: at.Add(after + unit), unit: unit}
}

// mostUnits is the largest number of units that is read: a count of a million days is no age.
const mostUnits = 10_000

// lengthOf adds up the units of an age in some languages, and says which is the smallest; 0, 0: it cannot be told, as of "half a year".
func lengthOf(words []string, in tongues) (length, unit time.Duration) {
	n := 1
	for _, w := range words {
		word := bareWord(w)
		if long, short := shortAge(word); short > 0 {
			length, unit = length+long, short
			continue
		}
		count, counts := number(word)
		switch of := times.unit(word, in); {
		case counts && count <= mostUnits:
			n = count
		case of > 0:
			length, unit, n = length+time.Duration(n)*of, of, 1
		case word == "half" || counts:
			return 0, 0
		}
	}
	return length, unit
}

// agedAt is the moment that the age names which a text begins with at a time, and how many words it takes; 0: it begins with none.
func (t tells) agedAt(words []string, at time.Time) (moment, int) {
	n, in := t.ageAt(words)
	if n == 0 {
		return moment{}, 0
	}
	length, unit := lengthOf(words[:n], in)
	switch {
	case unit > 0:
		return around(at, -length, unit), n
	case slices.ContainsFunc(words[:n], func(w string) bool { _, is := number(bareWord(w)); return is || bareWord(w) == "half" }):
		return moment{}, 0
	}
	return moment{from: at.Add(-2 * day), to: at.Add(day), unit: day}, n // today, yesterday, just now
}

// timeZones is how far a day begins earlier, or ends later, elsewhere in the world.
const timeZones = 14 * time.Hour

// dateAt is the day, or the month, that a text begins with, read at a time, and how many words it takes; 0: it begins with none. A date
// without a year is the last one before that.
func dateAt(words []string, now time.Time) (moment, int) {
	n := 0
	for n < len(words) && n < 2 && (bareWord(words[n]) == "on" || len(words[n]) > 2 && times.dates[bareWord(words[n])] && times.months[bareWord(words[n])] == 0) {
		n++ // on Tuesday
	}
	var d calendar
	begin := n
	for n < len(words) && n-begin < 3 && d.take(words[n]) {
		n++
	}
	m, ok := d.moment(now)
	if !ok {
		return moment{}, 0
	}
	if n+1 < len(words) && bareWord(words[n]) == "at" && isClock(bareClock(words[n+1])) {
		n++
	}
	if n < len(words) && isClock(bareClock(words[n])) {
		n++
	}
	return m, n
}

func bareClock(s string) string { return strings.Trim(s, ".,;()") }

// calendar is a date as its parts are read; 0: that part was not.
type calendar struct {
	year, day int
	month     time.Month
}

// take reads the next word of a date; false: it is none of it.
func (d *calendar) take(word string) bool {
	bare := strings.TrimPrefix(bareWord(word), "'")
	if at, err := time.Parse(time.DateOnly, strings.Split(bare, "t")[0]); err == nil && d.month == 0 {
		d.year, d.month, d.day = at.Date()
		return true
	}
	if month := times.months[bare]; month > 0 && d.month == 0 {
		d.month = month
		return true
	}
	n, err := strconv.Atoi(strings.TrimRight(bare, "stndrh"))
	switch {
	case err != nil || n <= 0:
	case strings.Contains(word, "'") && n < 100 && d.month > 0 && d.year == 0:
		d.year = 2000 + n
		return true
	case n <= 31 && d.day == 0:
		d.day = n
		return true
	case n >= 1970 && n < 2200 && d.month > 0 && d.year == 0:
		d.year = n
		return true
	}
	return false
}

// moment is the time that the date spans anywhere in the world; false: it is none.
func (d *calendar) moment(now time.Time) (moment, bool) {
	if d.month == 0 || d.day == 0 && d.year == 0 {
		return moment{}, false
	}
	year := d.year
	if year == 0 {
		if year = now.Year(); time.Date(year, d.month, d.day, 0, 0, 0, 0, time.UTC).After(now.Add(day)) {
			year--
		}
	}
	from := time.Date(year, d.month, max(d.day, 1), 0, 0, 0, 0, time.UTC)
	to := from.Add(day)
	if d.day == 0 {
		to = from.AddDate(0, 1, 0)
	}
	return moment{from: from.Add(-timeZones), to: to.Add(timeZones)}, true
}
