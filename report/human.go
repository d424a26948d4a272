package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"recrawld/scheduler/changerate"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// none stands in a table where there is nothing to say.
const none = "–"

// unit is a unit of time as people read it.
type unit struct {
	size time.Duration
	word string
}

// unitOf chooses the unit in which d is a short number.
func unitOf(d time.Duration) unit {
	switch {
	case d < time.Second:
		return unit{time.Millisecond, "ms"}
	case d < time.Minute:
		return unit{time.Second, "s"}
	case d < time.Hour:
		return unit{time.Minute, "min"}
	case d < 48*time.Hour:
		return unit{time.Hour, "h"}
	case d < 2*year:
		return unit{day, "d"}
	}
	return unit{year, "y"}
}

// number writes d in the unit with two digits that count: "9.1", "14", "120".
func (u unit) number(d time.Duration) string { return significant(float64(d) / float64(u.size)) }

// significant writes x ≥ 0 with two significant digits and at least all digits before the point.
func significant(x float64) string {
	switch {
	case x >= 9.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 0.995 || x == 0:
		return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

// Span writes a length of time with two significant digits: "45 s", "6 h", "2.3 d", "14 d"; the longest time.Duration
// is "never". A negative span is written with a minus.
func Span(d time.Duration) string {
	switch {
	case d == math.MaxInt64:
		return "never"
	case d < 0:
		return "−" + Span(-max(d, -math.MaxInt64+1))
	case d == 0:
		return "0 s"
	}
	u := unitOf(d)
	return u.number(d) + " " + u.word
}

// Until says when t is, seen from now: "in 2.3 d", "3 h ago", "now" (within a second), "never" for the zero time.
func Until(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	switch d := t.Sub(now); {
	case d > time.Second:
		return "in " + Span(d)
	case d < -time.Second:
		return Span(-d) + " ago"
	}
	return "now"
}

// Moment writes a time in UTC as short as it stays clear, seen from now: "Tue 24 Nov 03:40", with the year when it is
// more than 300 days away; "never" for the zero time.
func Moment(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	t = t.UTC()
	if away := t.Sub(now).Abs(); away > 300*day {
		return t.Format("2 Jan 2006 15:04")
	}
	return t.Format("Mon 2 Jan 15:04")
}

// Stamp writes a time in full, in UTC: "2026-11-21 03:40 UTC".
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// Rate writes a change rate as the time between two changes with its 95 % interval: "1 per 9.1 d (6.3–13)". Where no
// change was seen only the bound is known, "< 1 per 12 d"; where every visit found one, "1 per 3 h (≤ 9.2)"; where
// nothing is known, "–".
func Rate(r changerate.Rate) string {
	if !r.Known() {
		return none
	}
	if r.PerDay == 0 {
		return "< 1 per " + Span(changerate.Period(r.High))
	}
	u := unitOf(r.Every())
	shortest, longest := u.number(changerate.Period(r.High)), u.number(changerate.Period(r.Low))
	if math.IsInf(r.High, 1) {
		return fmt.Sprintf("1 per %s %s (≤ %s)", u.number(r.Every()), u.word, longest)
	}
	return fmt.Sprintf("1 per %s %s (%s–%s)", u.number(r.Every()), u.word, shortest, longest)
}

// Cycles writes fr and fr_max with the times they stand for: "fr 9 / 56 (every 2.3 d, ceiling 14 d)".
func Cycles(fr, frMax int, every, ceiling time.Duration) string {
	return fmt.Sprintf("fr %d / %d (every %s, ceiling %s)", fr, frMax, Span(every), Span(ceiling))
}

// Bytes writes a size: "512 B", "1.2 MiB".
func Bytes(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	size, i := float64(n)/1024, 0
	for size >= 1023.5 && i < 4 {
		size, i = size/1024, i+1
	}
	return significant(size) + " " + [...]string{"KiB", "MiB", "GiB", "TiB", "PiB"}[i]
}

// Count writes a number with its thousands apart: "12,345".
func Count[T ~int | ~int32 | ~int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Share writes part of whole as a percentage: "37 %", "< 1 %" for the smallest that is something, "–" of nothing.
func Share(part, whole int64) string {
	if whole <= 0 {
		return none
	}
	switch percent := 100 * float64(part) / float64(whole); {
	case part == 0:
		return "0 %"
	case percent < 1:
		return "< 1 %"
	case percent > 99 && part < whole:
		return "> 99 %"
	default:
		return strconv.FormatFloat(percent, 'f', 0, 64) + " %"
	}
}

// Printable makes text from elsewhere fit for a terminal: control characters, which could move its cursor or worse,
// become U+FFFD; tabs stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// OneLine makes text from elsewhere fit for a line of a list, of so many characters at most: without those that would turn round what stands
// beside it, with single spaces.
func OneLine(s string, most int) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)), " ")
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return s
}

// Plural writes a count with its noun: "1 page", "3,412 pages".
func Plural[T ~int | ~int32 | ~int64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") || strings.HasSuffix(noun, "s") {
		return Count(n) + " " + noun + "es"
	}
	if stem, ok := strings.CutSuffix(noun, "ry"); ok {
		return Count(n) + " " + stem + "ries"
	}
	return Count(n) + " " + noun + "s"
}
