package content

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

//go:embed tongues.txt
var tonguesText string

// tongues is a set of languages, a bit each: what a page calls a time is said in one of them, "fa" after it in Italian and before it in
// Catalan.
type tongues uint64

const (
	everyTongue tongues = math.MaxUint64
	mainTongues tongues = 1<<5 - 1 // the first of the list: their words are read on pages of all others
)

// unitLengths are how long the units are that ages are counted in, in the order in which the list of tongues has them.
var unitLengths = [...]time.Duration{time.Second, time.Minute, time.Hour, day, 7 * day, 30 * day, year}

const year = 365 * day

// phrase is words that follow each other, in some languages.
type phrase struct {
	words []string
	in    tongues
	loose bool // it may be said of a time before something else as well: to be booked 3 days before
	half  bool // it says nothing without what stands behind the age: "for 3 dage siden"
}

// phrases are some of them by their first word, the longest first.
type phrases map[string][]phrase

// at is the first of them that a text begins with in one of some languages.
func (p phrases) at(words []string, in tongues) (phrase, bool) {
	for _, one := range p[bareWord(words[0])] {
		if one.in&in != 0 && len(one.words) <= len(words) && slices.EqualFunc(one.words, words[:len(one.words)], func(a, b string) bool { return a == bareWord(b) }) {
			return one, true
		}
	}
	return phrase{}, false
}

func (p phrases) add(list string, in tongues) {
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimSpace(one)
		words := strings.Fields(strings.TrimLeft(one, "~?"))
		if len(words) == 0 {
			continue
		}
		same := p[words[0]]
		is := phrase{words: words, in: in, loose: strings.HasPrefix(one, "~"), half: strings.HasPrefix(one, "?")}
		at := slices.IndexFunc(same, func(o phrase) bool { return slices.Equal(o.words, words) && o.loose == is.loose && o.half == is.half })
		if at >= 0 {
			same[at].in |= in
			continue
		}
		p[words[0]] = append(same, is)
	}
}

// longestFirst settles in which order phrases are tried.
func (p phrases) longestFirst() {
	for _, same := range p {
		slices.SortStableFunc(same, func(a, b phrase) int { return len(b.words) - len(a.words) })
	}
}

// lexicon is what pages call times.
type lexicon struct {
	units         map[string][len(unitLengths)]tongues // in which languages a word is which unit
	before, after phrases                              // what stands before an age, and behind it
	days, now     phrases                              // today and yesterday; a moment ago
	months        map[string]time.Month                // 0: one in this language, another in that
	dates         map[string]bool                      // names of months and days, and what else stands in dates alone
	ages          map[string]bool                      // words of ages, as far as they are hardly anything else
	joined        map[rune][]string                    // words of scripts that are written without spaces, by their first rune, the longest first
	leads, behind []string                             // what the word before a term ends in, and what the word behind one begins with
	terms         []string                             // what is said of terms, wherever it stands beside
}

// unitIn is the languages of some in which a word is a unit.
func (l *lexicon) unitIn(word string, in tongues) tongues {
	all := tongues(0)
	for _, one := range l.units[word] {
		all |= one
	}
	return all & in
}

// unit is how long the unit is that a word is in some languages; 0: none.
func (l *lexicon) unit(word string, in tongues) time.Duration {
	units := l.units[word]
	for i, one := range units {
		if one&in != 0 {
			return unitLengths[i]
		}
	}
	return 0
}

var times = readTongues(tonguesText)

// readTongues reads the list of tongues.
func readTongues(list string) *lexicon {
	l := &lexicon{units: map[string][len(unitLengths)]tongues{}, before: phrases{}, after: phrases{}, days: phrases{}, now: phrases{},
		months: map[string]time.Month{}, dates: wordSet(dateSigns), ages: map[string]bool{}, joined: map[rune][]string{}}
	bits, section := map[string]tongues{}, ""
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '[':
			section = line
			continue
		}
		name, rest, _ := strings.Cut(line, ":")
		if bits[name] == 0 {
			bits[name] = 1 << len(bits)
		}
		l.read(section, strings.Split(rest, "|"), bits[name])
	}
	for _, p := range []phrases{l.before, l.after, l.days, l.now} {
		p.longestFirst()
	}
	l.settle()
	return l
}

// read reads a line of a section.
func (l *lexicon) read(section string, cells []string, in tongues) {
	switch section {
	case "[ages]":
		l.before.add(cells[0], in)
		l.after.add(cells[1], in)
		for i, words := range cells[2:] {
			for word := range strings.FieldsSeq(words) {
				units := l.units[word]
				units[i] |= in
				l.units[word] = units
			}
		}
	case "[days]":
		l.days.add(cells[0], in)
		l.now.add(cells[1], in)
	case "[dates]":
		for i, names := range cells[:12] {
			for name := range strings.FieldsSeq(names) {
				month, known := l.months[name]
				if l.months[name], l.dates[name] = time.Month(i+1), true; known && month != time.Month(i+1) {
					l.months[name] = 0
				}
			}
		}
		for name := range strings.FieldsSeq(cells[12]) {
			l.dates[name] = true
		}
	case "[terms]":
		l.leads = append(l.leads, strings.Fields(cells[0])...)
		l.behind = append(l.behind, strings.Fields(cells[1])...)
		l.terms = append(l.terms, strings.Fields(cells[2])...)
	}
}

// leadsUp tells whether the last of some words leads up to a term: "Kalkıştan 3 saat önce".
func (l *lexicon) leadsUp(words []string) bool {
	return len(words) > 0 && slices.ContainsFunc(l.leads, func(end string) bool { return strings.HasSuffix(bareWord(words[len(words)-1]), end) })
}

// term tells whether some words make a term of what was read as an age: 3日前までに, by 3 days before.
func (l *lexicon) term(words []string) bool {
	if len(words) == 0 {
		return false
	}
	word := bareWord(words[0])
	return slices.ContainsFunc(l.behind, func(begin string) bool {
		first, _ := utf8.DecodeRuneInString(begin)
		return word == begin || isJoined(first) && strings.HasPrefix(word, begin)
	})
}

// hasTerms tells whether a text speaks of terms.
func (l *lexicon) hasTerms(text string) bool {
	return slices.ContainsFunc(l.terms, func(term string) bool { return strings.Contains(text, term) })
}

// settle gathers the words of all sections.
func (l *lexicon) settle() {
	for word := range l.units {
		l.age(word, l.unitIn(word, everyTongue))
	}
	for _, p := range []phrases{l.before, l.after, l.days, l.now} {
		for _, same := range p {
			for _, one := range same {
				for _, word := range one.words {
					l.age(word, one.in)
				}
			}
		}
	}
	for word := range l.dates {
		l.join(word)
	}
	for first, same := range l.joined {
		slices.SortFunc(same, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		l.joined[first] = slices.Compact(same)
	}
}

// age notes a word of ages in some languages.
func (l *lexicon) age(word string, in tongues) {
	l.join(word)
	l.ages[word] = l.ages[word] || in&mainTongues != 0 || !isASCII(word)
}

// join notes a word of a script that is written without spaces.
func (l *lexicon) join(word string) {
	if first, _ := utf8.DecodeRuneInString(word); isJoined(first) {
		l.joined[first] = append(l.joined[first], word)
	}
}

// isJoined tells the letters of scripts that are written without spaces between words, or with the number of a unit before it: Korean.
func isJoined(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
