package content

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// aroundAges stand before an age, or within one: "about 1 month ago", "2 hours and 5 minutes ago".
var aroundAges = wordSet(`about over almost around nearly less more than a an one and half
environ presque plus moins de un une etwa ungefähr fast über mehr als einem einer unos casi más menos y
circa oltre più meno di cerca mais ongeveer meer dan een cirka ungefär mer än över omkring over noin około ponad asi více než körülbelül peste aproximativ
واحدة واحد около примерно почти более менее чем близько понад майже περίπου yaklaşık khoảng sekitar 약 約 大约`)

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

// tells is how a text is read for ages.
type tells struct {
	alone bool // an age need not say that it is one: where it has a date beside it that a reader is shown when he asks for it, 4 days are no term
	brief bool // what says "before" says "ago": in a sentence it is as likely a term, "3 days before"
}

// tellsOf is how a text is read for ages.
func tellsOf(s string, alone bool) tells {
	return tells{alone: alone, brief: utf8.RuneCountInString(s) <= maxClockRunes && !strings.ContainsAny(s, "。！？") && !strings.HasSuffix(s, ".")}
}

// cutAges parts a text into its ages, which it counts, and its other words. alone is as in tells.
func cutAges(s string, alone bool) (rest []string, ages int) {
	words, as := wordsOf(s), tellsOf(s, alone)
	for i := 0; i < len(words); {
		n, _ := as.besides(words, i).ageAt(words[i:])
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

// besides is how a text is read from one of its words on.
func (t tells) besides(words []string, at int) tells {
	t.alone = t.alone || isLast(words, at)
	return t
}

// ageAt is how many words the age takes that a text begins with, and the languages that it may be in; 0: it begins with none.
func (t tells) ageAt(words []string) (n int, in tongues) {
	for _, whole := range []phrases{times.days, times.now} {
		if p, is := whole.at(words, everyTongue); is {
			return len(p.words), p.in
		}
	}
	r := ageReader{tells: t, in: everyTongue}
	if p, is := times.before.at(words, everyTongue); is {
		r.alone, r.in, r.end = t.alone || !p.half, p.in, len(p.words)
	}
	for from := r.end; r.end < len(words); {
		if p, is := r.after(words[r.end:]); is {
			return r.end + len(p.words), r.in & p.in
		}
		if r.ended || !r.take(words[r.end]) {
			break
		}
		r.end++
		r.ended = strings.TrimRight(words[r.end-1], ".;:)") != words[r.end-1] && r.end-1 > from
	}
	if !r.alone || r.units == 0 {
		return 0, 0
	}
	return r.end, r.in
}

// leadsUp tells whether what follows makes a term of what was read as an age: 3日前までに, by 3 days before.
func leadsUp(words []string) bool { return len(words) > 0 && strings.HasPrefix(words[0], "まで") }

// ageReader reads an age word by word.
type ageReader struct {
	tells
	in      tongues // the languages that it may be in by its words so far
	end     int     // words so far
	units   int     // of those, units
	counted bool    // the last is a number
	ended   bool    // a sign stands behind the last
}

// after is what a text begins with that ends the age that was read so far; false: nothing does.
func (r *ageReader) after(words []string) (phrase, bool) {
	if r.units == 0 {
		return phrase{}, false
	}
	p, is := times.after.at(words, r.in)
	return p, is && (!p.loose || r.brief) && !leadsUp(words[len(p.words):])
}

// take reads the next word; false: it is none of the age.
func (r *ageReader) take(w string) bool {
	word := bareWord(w)
	digits := strings.Trim(masked(word), "0.,") == ""
	around := aroundAges[word] && !r.counted
	switch in := times.unitIn(word, r.in); {
	case in != 0 && (!around || r.in != everyTongue):
		r.in, r.units, r.counted = in, r.units+1, false
	case isShortAge(word):
		r.units, r.counted = r.units+1, true
	case !digits && !aroundAges[word], digits && r.counted: // change 14, 3 days ago
		return false
	default:
		r.counted = digits
	}
	return true
}

// loneAge tells a text that is an age with a number, and next to nothing else: "Posted 3 minutes ago".
func loneAge(s string) bool {
	words, as := wordsOf(s), tellsOf(s, false)
	ages, others := 0, 0
	for i := 0; i < len(words); {
		n, _ := as.ageAt(words[i:])
		if n > 0 && strings.ContainsFunc(strings.Join(words[i:i+n], ""), unicode.IsDigit) {
			ages, i = ages+1, i+n
			continue
		}
		if strings.ContainsFunc(words[i], unicode.IsDigit) {
			return false
		}
		if strings.ContainsFunc(words[i], unicode.IsLetter) {
			others++
		}
		i++
	}
	return ages == 1 && others <= maxClockWords
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

// mayBeAgo tells, at little cost, most of what is none from such a text.
func mayBeAgo(text []byte) bool {
	begin, end := text[0]|' ', text[len(text)-1]|' '
	switch {
	case end == 'o' || begin == 'v' || begin == 'h' || begin == 'i':
		return true
	case begin >= utf8.RuneSelf || end >= utf8.RuneSelf || '0' <= text[0] && text[0] <= '9' || begin == 'p' || begin == 'a' || begin == 'f' || begin == 'd':
		return bytes.ContainsFunc(text, unicode.IsDigit)
	}
	return false
}

func onlyAges(text []byte, alone bool) bool {
	if len(text) > maxDate {
		return false
	}
	rest, ages := cutAges(string(text), alone)
	return len(rest) == 0 && ages > 0
}
