package content

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// span is the time between two views of a page. The zero span is not known.
type span struct{ from, to time.Time }

// dueWords say that what follows, or stands before, is how long something has until then.
var dueWords = wordSet(`due left remaining deadline ends end ending starts start begins begin opens closes closing expires expiring
fällig endet beginnt échéance restants reste`)

// passed tells a line that says when something was or will be by how long ago that is, or in how long, and says the same moment still, as
// far as the time that has passed allows: "9 days ago" became "2026-11-17", "Due in 24 days" became "Due in 23 days". Another day than
// that is another one.
func (p *pair) passed(s span) bool {
	if s.from.IsZero() || s.to.Before(s.from) || !p.rewritten() || !slices.Equal(p.before.Links, p.after.Links) {
		return false
	}
	before, after := saying{as: tells{p.before.Text, p.before.aged}}, saying{as: tells{p.after.Text, p.before.aged}}
	before.words, after.words = wordsOf(p.before.Text), wordsOf(p.after.Text)
	due := slices.ContainsFunc(before.words, func(w string) bool { return dueWords[bareWord(w)] })
	moments := 0
	for before.left() && after.left() {
		last := isLast(before.words, before.at)
		before.as.alone, after.as.alone = p.before.aged || last, p.before.aged || last
		n, m := s.sameMoment(before, after, due)
		if n > 0 {
			moments++
		} else {
			if before.words[before.at] != after.words[after.at] {
				return false
			}
			n, m = 1, 1
		}
		before.at, after.at = before.at+n, after.at+m
	}
	return moments > 0 && !before.left() && !after.left()
}

// saying is a text as it is read word by word.
type saying struct {
	words []string
	at    int // of those, the next
	as    tells
}

func (s *saying) left() bool { return s.at < len(s.words) }

// sameMoment is how many words each of two texts takes to name one moment, the earlier by how far away it is; 0: they do not begin with such.
func (s span) sameMoment(before, after saying, due bool) (n, m int) {
	left := after.words[after.at:]
	if was, n := before.as.agedAt(before.words, before.at, s.from); n > 0 {
		if _, m := after.as.agedAt(after.words, after.at, s.to); m > 0 {
			return n, m // an age is noise whatever it was
		}
		if is, m := dateAt(left, s.to); m > 0 && was.overlaps(is) {
			return sameClock(before.words[before.at:], n, left, m)
		}
	}
	if !due {
		return 0, 0
	}
	was, n := aheadAt(before.words[before.at:], s.from)
	is, m := aheadAt(left, s.to)
	if n == 0 || m == 0 {
		return 0, 0
	}
	// Counted alike, both were rounded alike.
	if off := was.from.Sub(is.from).Abs(); was.unit == is.unit && off >= was.unit || !was.overlaps(is) {
		return 0, 0
	}
	return n, m
}

// sameClock is how many words an age that takes n words and a date that takes m take with the time of day behind the age (Yesterday 18:52, 2026-11-25
// 18:52), which is the same behind the date; 0: it is not, so they name two moments. A date takes the one behind it, which the age may be without.
func sameClock(age []string, n int, date []string, m int) (int, int) {
	behind := n
	if behind < len(age) && bareWord(age[behind]) == "at" {
		behind++
	}
	if behind >= len(age) || !isClock(bareClock(age[behind])) {
		return n, m
	}
	if bareClock(age[behind]) != bareClock(date[m-1]) {
		return 0, 0
	}
	return behind + 1, m
}

// aheadAt is the moment that a text begins with as what is still to come at a time, and how many words it takes; 0: it begins with none:
// "in 24 days", "24 days left".
func aheadAt(words []string, at time.Time) (moment, int) {
	i := 0
	if in := bareWord(words[0]); in == "in" || in == "dans" || in == "en" {
		i = 1
	}
	end := 0 // of the last unit
	for n := i; n < len(words) && n < i+maxAhead; n++ {
		word := bareWord(words[n])
		number := strings.Trim(word, "0123456789") == ""
		if isUnit(word) && n > 0 {
			end = n + 1
		} else if !number && !(aroundAges[word] && i > 0) {
			break
		}
		if strings.TrimRight(words[n], ".,;:)") != words[n] {
			break
		}
	}
	length, unit := lengthOf(words[i:max(i, end)], everyTongue)
	if unit == 0 {
		return moment{}, 0
	}
	return around(at, length, unit), end
}

// isUnit tells a word that is a unit in some language, and by itself: "d" needs more to be days.
func isUnit(word string) bool { return len(word) > 1 && times.unit(word, everyTongue) > 0 }

// maxAhead is how many words are read for how long something has: "about 1 month and 3 days".
const maxAhead = 6

// labelWords say, with a unit and without a number, that the number beside is how long ago something was: "Age (days ago)", "days inactive". "Age"
// and "old" do not: a least age in years is one more some day too.
var labelWords = wordSet(`ago inactive idle`)

// maxLabelAge is how many bytes such a label has at most.
const maxLabelAge = 40

// labelAges notes the numbers that are ages by the label that follows, or else the one before.
func (v *View) labelAges() {
	for i := range v.blocks {
		b := &v.blocks[i]
		if _, is := wholeNumber(b.Text); !is {
			continue
		}
		if i+1 < len(v.blocks) {
			b.ageUnit = labelUnit(v.blocks[i+1].Text)
		}
		if b.ageUnit == 0 && i > 0 {
			b.ageUnit = labelUnit(v.blocks[i-1].Text)
		}
	}
}

// labelUnit is what a label says that an age is counted in, as in Block.ageUnit.
func labelUnit(s string) uint8 {
	if len(s) > maxLabelAge || strings.ContainsAny(s, "0123456789") {
		return 0
	}
	unit, age := uint8(0), false
	for word := range strings.FieldsSeq(s) {
		word = bareWord(word)
		if isUnit(word) {
			unit = uint8(slices.Index(unitLengths[:], times.unit(word, everyTongue)) + 1)
		}
		age = age || labelWords[word]
	}
	if !age {
		return 0
	}
	return unit
}

// wholeNumber reads a text that is a whole number and nothing else.
func wholeNumber(s string) (int, bool) {
	if len(s) == 0 || len(s) > 5 || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// grown tells the number of an age, with its label beside it, that grew by what has passed.
func (p *pair) grown(s span) bool {
	if s.from.IsZero() || !p.rewritten() || p.before.ageUnit == 0 || p.before.ageUnit != p.after.ageUnit {
		return false
	}
	was, _ := wholeNumber(p.before.Text)
	is, _ := wholeNumber(p.after.Text)
	unit := unitLengths[p.before.ageUnit-1]
	return (time.Duration(is-was)*unit - s.to.Sub(s.from)).Abs() < unit
}
