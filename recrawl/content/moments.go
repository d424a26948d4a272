package content

import (
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// unitLengths are how long the units are that ages are counted in, in the order in which unitWords names them.
var unitLengths = [...]time.Duration{time.Second, time.Minute, time.Hour, day, 7 * day, 30 * day, 365 * day}

var unitWords = [len(unitLengths)]string{
	`second seconds sec secs seconde secondes sekunde sekunden segundo segundos`,
	`minute minutes min mins minuten minuto minutos`,
	`hour hours hr hrs heure heures stunde stunden hora horas`,
	`day days jour jours tag tage tagen día días`,
	`week weeks semaine semaines woche wochen semana semanas`,
	`month months mois monat monate monaten mes meses`,
	`year years année années an ans jahr jahre jahren año años`,
}

// ageUnits are what ages are counted in, with their lengths.
var ageUnits = func() map[string]time.Duration {
	all := map[string]time.Duration{}
	for i, words := range unitWords {
		for word := range strings.FieldsSeq(words) {
			all[word] = unitLengths[i]
		}
	}
	return all
}()

// monthNumbers are the names of months and their short forms, from 1 on.
var monthNumbers = func() map[string]time.Month {
	all := map[string]time.Month{}
	for _, names := range []string{
		`january february march april may june july august september october november december`,
		`jan feb mar apr may jun jul aug sep oct nov dec`, `x x x x x x x x sept`,
		`janvier février mars avril mai juin juillet août septembre octobre novembre décembre`,
		`januar februar märz april mai juni juli august september oktober november dezember`,
		`enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre`,
		`gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre`,
	} {
		for i, name := range strings.Fields(names) {
			all[name] = time.Month(i + 1)
		}
	}
	delete(all, "x")
	return all
}()

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

// lengthOf adds up the units of an age, and says which is the smallest; 0, 0: it cannot be told, as of "half a year".
func lengthOf(words []string) (length, unit time.Duration) {
	n := 1
	for _, w := range words {
		word := bareWord(w)
		if long, short := shortAge(word); short > 0 {
			length, unit = length+long, short
			continue
		}
		switch number, err := strconv.Atoi(word); {
		case err == nil && number <= mostUnits:
			n = number
		case ageUnits[word] > 0:
			length, unit, n = length+time.Duration(n)*ageUnits[word], ageUnits[word], 1
		case word == "half" || err == nil:
			return 0, 0
		}
	}
	return length, unit
}

// agedAt is the moment that the age names which a text begins with at a time, and how many words it takes; 0: it begins with none.
func agedAt(words []string, alone bool, at time.Time) (moment, int) {
	n := ageAt(words, alone)
	if n == 0 {
		return moment{}, 0
	}
	if n == 1 && !isShortAge(words[0]) || bareWord(words[0]) == "just" { // today, yesterday, just now
		return moment{from: at.Add(-2 * day), to: at.Add(day), unit: day}, n
	}
	length, unit := lengthOf(words[:n])
	if unit == 0 {
		return moment{}, 0
	}
	return around(at, -length, unit), n
}

// timeZones is how far a day begins earlier, or ends later, elsewhere in the world.
const timeZones = 14 * time.Hour

// dateAt is the day, or the month, that a text begins with, read at a time, and how many words it takes; 0: it begins with none. A date
// without a year is the last one before that.
func dateAt(words []string, now time.Time) (moment, int) {
	n := 0
	for n < len(words) && n < 2 && (bareWord(words[n]) == "on" || len(words[n]) > 2 && dateWords[bareWord(words[n])] && monthNumbers[bareWord(words[n])] == 0) {
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
	if month := monthNumbers[bare]; month > 0 && d.month == 0 {
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
