package content

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// aroundAges stand before an age, or within one: "about 1 month ago", "2 hours and 5 minutes ago". agoBefore begin an age in languages
// that say so first.
var (
	aroundAges = wordSet(`about over almost around nearly less more than a an one and half
environ presque plus moins de un une etwa ungefähr fast über mehr als einem einer unos casi más menos y`)
	agoBefore = wordSet(`vor hace`)
	dayWords  = wordSet(`today yesterday heute gestern aujourd'hui hier hoy ayer`) // ages by themselves
)

// lastWords stand before an age that is written short: "last reply 3h".
var lastWords = wordSet(`reply posted activity seen updated edited created commented answered asked modified`)

// shortUnits are what ages are counted in where there is little room: 3h.
var shortUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour, "hr": time.Hour, "d": day,
	"w": 7 * day, "mo": 30 * day, "y": 365 * day, "yr": 365 * day}

// shortAge is the length of an age such as 3h, and of its unit; 0, 0: it is none.
func shortAge(word string) (length, unit time.Duration) {
	letters := strings.TrimLeft(word, "0123456789")
	n, err := strconv.Atoi(word[:len(word)-len(letters)])
	if unit = shortUnits[letters]; err != nil || n > mostUnits || unit == 0 {
		return 0, 0
	}
	return time.Duration(n) * unit, unit
}

func isShortAge(word string) bool {
	_, unit := shortAge(bareWord(word))
	return unit > 0
}

// isLast tells whether a word is an age that is written short, behind a word that says of what.
func isLast(words []string, at int) bool {
	return at > 0 && lastWords[bareWord(words[at-1])] && isShortAge(words[at])
}

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
		n := ageAt(words[i:], alone || isLast(words, i))
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
	units, from, counted := 0, i, false
	for ; i < len(words); i++ {
		word := bareWord(words[i])
		number := strings.Trim(masked(word), "0.,") == ""
		switch {
		case word == "ago" && units > 0:
			return i + 1
		case ageUnits[word] > 0:
			units++
		case isShortAge(word):
			units, number = units+1, true
		case !number && !aroundAges[word], number && counted: // change 14, 3 days ago
			return takenAge(ago, units, i)
		}
		counted = number
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

// isAge tells a text that is an age and nothing else, as it stands beside its date.
func isAge(text []byte) bool { return onlyAges(text, true) }

// isAgo tells a text that is an age, says that it is one, and says nothing else.
func isAgo(text []byte) bool { return onlyAges(text, false) }

// mayBeAgo tells, at no cost, most of what is none from such a text.
func mayBeAgo(text []byte) bool {
	begin, end := text[0]|' ', text[len(text)-1]|' '
	return end == 'o' || begin == 'v' || begin == 'h' || begin == 'i'
}

func onlyAges(text []byte, alone bool) bool {
	if len(text) > maxDate {
		return false
	}
	rest, ages := cutAges(string(text), alone)
	return len(rest) == 0 && ages > 0
}
