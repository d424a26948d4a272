package content

import (
	"slices"
	"strings"
)

// aroundAges stand before an age, or within one: "about 1 month ago", "2 hours and 5 minutes ago". agoBefore begin an age in languages
// that say so first.
var (
	aroundAges = wordSet(`about over almost around nearly less more than a an one and half
environ presque plus moins de un une etwa ungefähr fast über mehr als einem einer unos casi más menos y`)
	agoBefore = wordSet(`vor hace`)
	dayWords  = wordSet(`today yesterday heute gestern aujourd'hui hier hoy ayer`) // ages by themselves
)

// aged tells a line that says how long ago something was, and reads the same but for that, whatever names and links stand beside: "Added
// by Jane Roe about 2 months ago. Updated 4 days ago".
func (p *pair) aged() bool {
	if !p.rewritten() || !slices.Equal(p.before.Links, p.after.Links) {
		return false
	}
	restA, agesA := cutAges(p.before.Text, p.before.aged)
	restB, agesB := cutAges(p.after.Text, p.after.aged)
	return agesA > 0 && agesB > 0 && slices.Equal(restA, restB)
}

// cutAges parts a text into its ages, which it counts, and its other words. alone tells that an age need not say that it is one: where it
// has a date beside it that a reader is shown when he asks for it, 4 days are no term.
func cutAges(s string, alone bool) (rest []string, ages int) {
	words := strings.Fields(s)
	for i := 0; i < len(words); {
		n := ageAt(words[i:], alone)
		if n == 0 {
			rest = append(rest, words[i])
			n = 1
		} else {
			ages++
		}
		i += n
	}
	return rest, ages
}

// ageAt is how many words the age takes that a text begins with; 0: it begins with none.
func ageAt(words []string, alone bool) int {
	ago := alone
	i := 0
	switch {
	case dayWords[bareWord(words[0])]:
		return 1
	case agoBefore[bareWord(words[0])]:
		ago, i = true, 1
	case len(words) > 3 && bareWord(words[0]) == "il" && bareWord(words[1]) == "y" && bareWord(words[2]) == "a":
		ago, i = true, 3
	case len(words) > 1 && bareWord(words[0]) == "just" && bareWord(words[1]) == "now":
		return 2
	}
	units, from := 0, i
	for ; i < len(words); i++ {
		word := bareWord(words[i])
		switch number := strings.Trim(masked(word), "0.,") == ""; {
		case word == "ago" && units > 0:
			return i + 1
		case ageUnits[word]:
			units++
		case !number && !aroundAges[word]:
			return takenAge(ago, units, i)
		}
		if ends := strings.TrimRight(words[i], ".;:)") != words[i]; ends && i > from {
			return takenAge(ago, units, i+1)
		}
	}
	return takenAge(ago, units, i)
}

// takenAge is how many words an age takes that no word ends: none where nothing says that it is one.
func takenAge(ago bool, units, n int) int {
	if !ago || units == 0 {
		return 0
	}
	return n
}

// maxAged is how many bytes a text has in which an age is one of the things that it names.
const maxAged = 400

// ageless is a text without its ages.
func ageless(s string) string {
	if len(s) > maxAged {
		return s
	}
	rest, ages := cutAges(s, false)
	if ages == 0 {
		return s
	}
	return strings.Join(rest, " ")
}

// numberless is a text without its ages and numbers.
func numberless(s string) string { return masked(ageless(s)) }

// bareWord is a word without what stands around it, in lower case.
func bareWord(s string) string { return strings.ToLower(strings.Trim(s, ".,:;()~[]")) }

// maxDate is how many bytes the date has at most that stands in an attribute beside an age, and the age itself.
const maxDate = 80

// isDate tells the value of an attribute that gives a day: "2026-11-05 19:12:00 +0000", "See timeline at Nov 5, 2026".
func isDate(value []byte) bool {
	if len(value) > maxDate {
		return false
	}
	t := look(strings.NewReplacer("T", " ", "Z", " ").Replace(string(value)))
	return t.year && (t.numbers >= 3 || t.dated)
}

// isAge tells a text that is an age and nothing else.
func isAge(text []byte) bool {
	if len(text) > maxDate {
		return false
	}
	rest, ages := cutAges(string(text), true)
	return len(rest) == 0 && ages > 0
}
