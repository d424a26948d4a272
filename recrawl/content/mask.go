package content

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// masked writes a text without its numbers, so that texts that differ in nothing else are equal.
func masked(s string) string {
	if strings.IndexFunc(s, unicode.IsDigit) < 0 {
		return s
	}
	var b strings.Builder
	in := false
	for _, r := range s {
		digit := unicode.IsDigit(r)
		if digit && !in {
			b.WriteByte('0')
		}
		if !digit && !(in && (r == ',' || r == '.' || r == '\u00a0')) {
			in = false
			b.WriteRune(r)
		}
		in = in || digit
	}
	return b.String()
}

// dateWords are the names of months and days, and their short forms, in the languages of the pages at hand.
var dateWords = func() map[string]bool {
	all := wordSet(`monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun pm utc gmt cet cest est edt pst pdt
lundi mardi mercredi jeudi vendredi samedi dimanche montag dienstag mittwoch donnerstag freitag samstag sonntag uhr 年 月 日`)
	for month := range monthNumbers {
		all[month] = true
	}
	return all
}()

// linkWords join the parts of a date, and much else.
var linkWords = wordSet(`st nd rd th of de a à at le la the on um am`)

// clockWords stand beside a clock.
var clockWords = wordSet(`it is time now as updated refreshed refresh generated current server local clock last stand aktualisiert
heure actualizado`)

// makeWords say when something was made, as programs sign what they make.
var makeWords = wordSet(`generated built build deployed rendered compiled generiert erzeugt erstellt généré générée generado generada generato generata`)

// ageWords are what else there is to "3 minutes ago".
var ageWords = wordSet(`ago just now today yesterday il y a vor hace`)

// countWords stand beside numbers that count what visitors do.
var countWords = wordSet(`view views visit visits visitor visitors like likes comment comments share shares download
downloads follower followers member members online user users reply replies vote votes star stars fork forks watching
reads played plays vues visites visiteurs commentaires partages abonnés membres aufrufe besucher kommentare mitglieder`)

// moneyWords stand beside amounts of money.
var moneyWords = wordSet(`eur usd gbp chf jpy cny euro euros dollar dollars price prices fee fees cost costs preis preise prix
precio precios prezzo prezzi`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// shapeOfText is what a text is made of.
type shapeOfText struct {
	words   int    // letters only
	dates   int    // of those, names of months and days
	links   int    // of those, words that join the parts of a date
	timely  int    // of those, words beside a clock
	ages    int    // of those, words of ages
	units   int    // of those, what ages are counted in
	ago     bool   // one of them says that it is an age: a term of 30 days is none
	counts  int    // of those, words beside counters
	money   bool   // an amount of money or a share: the price for members is no count of them
	last    string // word
	numbers int    // runs of digits
	year    bool   // one of them is a year
	clocks  int    // of those, times of day: 12:34
	seconds bool   // one of them has seconds
	made    bool   // a word says that something was made
	dated   bool   // a name of a month or day stands beside a number: you may have 3 days
}

// look reads a text's words and numbers.
func look(s string) shapeOfText {
	var t shapeOfText
	name, number := false, false // what the last word was that joins nothing
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case unicode.IsLetter(r):
			end := until(s, func(r rune) bool { return !unicode.IsLetter(r) })
			if word := strings.ToLower(s[:end]); t.word(word) {
				name = dateWords[word]
				t.dated, number = t.dated || name && number, false
			}
			s = s[end:]
		case unicode.IsDigit(r):
			end := until(s, func(r rune) bool { return !unicode.IsDigit(r) && r != ':' })
			t.numbers++
			if isClock(s[:end]) {
				t.clocks++
				t.seconds = t.seconds || strings.Count(s[:end], ":") == 2
			}
			t.dated, name, number = t.dated || name, false, true
			t.year = t.year || end == len("2026") && (s[:2] == "19" || s[:2] == "20")
			s = s[end:]
		default:
			t.money = t.money || r == '%' || unicode.Is(unicode.Sc, r)
			s = s[size:]
		}
	}
	return t
}

func until(s string, f func(rune) bool) int {
	if end := strings.IndexFunc(s, f); end >= 0 {
		return end
	}
	return len(s)
}

// word counts a word, and tells whether it parts what stands before and behind it: words that join a date do not.
func (t *shapeOfText) word(w string) (parts bool) {
	t.words++
	if clockWords[w] {
		t.timely++
	}
	t.made = t.made || makeWords[w]
	if dateWords[w] {
		t.dates++
	}
	if ageUnits[w] > 0 {
		t.units++
	}
	if ageUnits[w] > 0 || ageWords[w] {
		t.ages++
		t.ago = t.ago || w == "ago" || w == "vor" || w == "hace" || w == "a" && t.last == "y" // il y a
	}
	t.last, t.money = w, t.money || moneyWords[w]
	if countWords[w] {
		t.counts++
	}
	if linkWords[w] {
		t.links++
	}
	return !linkWords[w]
}

// isClock tells 9:05 and 23:59:59 from 1:100.
func isClock(s string) bool {
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	for i, p := range parts {
		if len(p) != 2 && (i > 0 || len(p) != 1) || i == 0 && p > "24" && len(p) == 2 || i > 0 && p > "59" {
			return false
		}
	}
	return true
}
