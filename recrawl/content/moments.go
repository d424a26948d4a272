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
	loose    bool          // what says how long ago it was may be a term as well
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

// agedAt is the moment that the age names at a time which begins at a word of a text, and how many words it takes; 0: none begins there.
func (t tells) agedAt(words []string, begin int, at time.Time) (moment, int) {
	n, said := t.ageAt(words, begin)
	if n == 0 {
		return moment{}, 0
	}
	age := words[begin : begin+n]
	length, unit := lengthOf(age, said.in)
	switch {
	case unit > 0:
		m := around(at, -length, unit)
		m.loose = said.loose
		return m, n
	case slices.ContainsFunc(age, func(w string) bool { _, is := number(bareWord(w)); return is || bareWord(w) == "half" }):
		return moment{}, 0
	}
	return moment{from: at.Add(-2 * day), to: at.Add(day), unit: day}, n // today, yesterday, just now
}

// looseAges are the moments of a text's ages that may be terms: 3日前 is 3 days ago, and 3 days before something.
func looseAges(s string, at time.Time) (all []moment) {
	words, as := wordsOf(s), tells{text: s}
	for i := 0; i < len(words); {
		m, n := as.agedAt(words, i, at)
		if m.loose {
			all = append(all, m)
		}
		i += max(n, 1)
	}
	return all
}

// receded tells whether what two texts say by how long ago it was lies further back now: what was 3 days ago is no 7 days ago a day later, so
// these were terms.
func (p *pair) receded(s span) bool {
	if s.from.IsZero() || s.to.Before(s.from) || !p.rewritten() {
		return false
	}
	was, is := looseAges(p.before.Text, s.from), looseAges(p.after.Text, s.to)
	for i := range min(len(was), len(is)) {
		if is[i].to.Before(was[i].from) {
			return true
		}
	}
	return false
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
