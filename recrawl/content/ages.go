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
	text  string
	alone bool // an age need not say that it is one: where it has a date beside it that a reader is shown when he asks for it, 4 days are no term
}

// cutAges parts a text into its ages, which it counts, and its other words. alone is as in tells.
func cutAges(s string, alone bool) (rest []string, ages int) {
	words, as := wordsOf(s), tells{s, alone}
	for i := 0; i < len(words); {
		n, _ := as.ageAt(words, i)
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

// ageAt is how many words the age takes that begins at one of a text, and how it is said; 0: none begins there.
func (t tells) ageAt(words []string, at int) (n int, is phrase) {
	for _, whole := range []phrases{times.days, times.now} {
		if p, is := whole.at(words[at:], everyTongue); is {
			return len(p.words), p
		}
	}
	if inCalendar(words, at) {
		return 0, phrase{}
	}
	r := ageReader{tells: t, said: phrase{in: everyTongue}}
	r.alone = t.alone || isLast(words, at)
	if p, is := times.before.at(words[at:], everyTongue); is {
		r.said, r.end = p, len(p.words)
		r.alone = t.alone || !p.half && t.ago(p, words[:at])
	}
	for from := r.end; at+r.end < len(words); {
		if p, is := r.after(words, at); is {
			p.in &= r.said.in
			return r.end + len(p.words), p
		}
		if r.units > 0 && times.term(words[at+r.end:]) {
			return 0, phrase{}
		}
		if r.ended || !r.take(words[at+r.end]) {
			break
		}
		r.end++
		r.ended = strings.TrimRight(words[at+r.end-1], ".;:)") != words[at+r.end-1] && r.end-1 > from
	}
	if !r.alone || r.units == 0 || r.calendar && r.said.words == nil {
		return 0, phrase{}
	}
	return r.end, r.said
}

// inCalendar tells the number of a date between its words: the 5 of 12月5日.
func inCalendar(words []string, at int) bool {
	return at > 0 && at+1 < len(words) && times.dates[bareWord(words[at-1])] && times.dates[bareWord(words[at+1])]
}

// ago tells whether a phrase says "ago" of an age behind some words: what says "before" as well is as likely a term in a sentence, and where
// something says before what.
func (t tells) ago(p phrase, behind []string) bool {
	return !p.loose || utf8.RuneCountInString(t.text) <= maxClockRunes && !strings.ContainsAny(t.text, "。！？") && !strings.HasSuffix(t.text, ".") &&
		!times.leadsUp(behind) && !times.hasTerms(t.text)
}

// ageReader reads an age word by word.
type ageReader struct {
	tells
	said     phrase // what stands before it, and the languages that it may be in by its words so far
	end      int    // words so far
	units    int    // of those, units
	calendar bool   // one of them counts in dates as well, as 日: by itself it is as likely the day of a month
	counted  bool   // the last is a number
	large    bool   // and of more years than an age has
	ended    bool   // a sign stands behind the last
}

// after is what stands behind the age that was read so far, from a word on, and ends it; false: nothing does.
func (r *ageReader) after(words []string, at int) (phrase, bool) {
	if r.units == 0 {
		return phrase{}, false
	}
	p, is := times.after.at(words[at+r.end:], r.said.in)
	if !is || times.term(words[at+r.end+len(p.words):]) || p.loose && isThai(words[at+r.end+len(p.words):]) {
		return phrase{}, false
	}
	return p, r.ago(p, words[:at])
}

// isThai tells whether words go on in a script without spaces between words in which what stands behind "before" may say before what.
func isThai(words []string) bool {
	if len(words) == 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(words[0])
	return unicode.Is(unicode.Thai, first)
}

// longestYears is how many years an age has at most: more are the year itself.
const longestYears = 300

// take reads the next word; false: it is none of the age.
func (r *ageReader) take(w string) bool {
	word := bareWord(w)
	digits := strings.Trim(masked(word), "0.,") == ""
	around := aroundAges[word] && !r.counted
	switch in := times.unitIn(word, r.said.in); {
	case in != 0 && r.large && times.unit(word, in) == year:
		return false
	case in != 0 && (!around || r.said.in != everyTongue):
		r.said.in, r.units, r.counted = in, r.units+1, false
		r.calendar = r.calendar || times.dates[word]
	case isShortAge(word):
		r.units, r.counted = r.units+1, true
	case !digits && !aroundAges[word], digits && r.counted: // change 14, 3 days ago
		return false
	default:
		n, _ := number(word)
		r.counted, r.large = digits, n > longestYears || strings.Count(word, ".") > 1 // 2026, 05.12.2026
	}
	return true
}

// loneAge tells a text that is an age with a number, and next to nothing else: "Posted 3 minutes ago".
func loneAge(s string) bool {
	words, as := wordsOf(s), tells{text: s}
	ages, others := 0, 0
	for i := 0; i < len(words); {
		n, _ := as.ageAt(words, i)
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
	case '0' <= text[0] && text[0] <= '9' && '0' <= text[len(text)-1] && text[len(text)-1] <= '9': // the number of a line
		return false
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
