package diff

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a run of text within a line.
type Span struct {
	Text string `json:"text"`
	Op   Op     `json:"op"` // Same, Removed or Added
}

// mostWords bounds the words of a line that are compared; of a longer one the rest counts as one word.
const mostWords = 20_000

// words cuts text into what is compared: runs of letters and digits, numbers with the signs in them, runs of spaces, and any other rune by itself. A script
// that is written without spaces is cut rune by rune. Joined they are the text.
func words(text string) []string {
	var out []string
	start, before := 0, class(-1)
	for i, r := range text {
		if len(out) == mostWords {
			break
		}
		now := classOf(r)
		if before == letters && within(text, i) {
			now = letters
		}
		if i > start && (now != before || now == single) {
			out = append(out, text[start:i])
			start = i
		}
		before = now
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// within tells whether a sign stands between two digits, as in 9.50, 12:30 and 2026-11-21.
func within(text string, i int) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return strings.IndexByte(".,:-/", text[i]) >= 0 && i > 0 && i+1 < len(text) && digit(text[i-1]) && digit(text[i+1])
}

// class says which runes stay together.
type class int

const (
	single class = iota
	letters
	spaces
)

func classOf(r rune) class {
	switch {
	case 'a' <= r|0x20 && r|0x20 <= 'z', '0' <= r && r <= '9', r == '_', r == '\'':
		return letters
	case r == ' ', r < utf8.RuneSelf && unicode.IsSpace(r):
		return spaces
	case r < utf8.RuneSelf, r == utf8.RuneError:
		return single
	case unicode.IsSpace(r):
		return spaces
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return single
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '\u2019', r == '\u00ad':
		return letters
	}
	return single
}

// spansOf compares two lines by words: the spans of both in reading order, what was removed before what was added. Spaces
// alone never hold two differences apart.
func spansOf(before, after string) []Span {
	a, b := words(before), words(after)
	var out []Span
	add := func(op Op, parts []string) {
		if text := strings.Join(parts, ""); text != "" {
			out = append(out, Span{text, op})
		}
	}
	at := 0
	for _, e := range bridged(a, edits(a, b)) {
		add(Same, a[at:e.from])
		add(Removed, a[e.from:e.to])
		add(Added, b[e.newFrom:e.newTo])
		at = e.to
	}
	add(Same, a[at:])
	return out
}

// bridged joins edits between which only spaces and signs stay the same, so that a rewritten phrase reads as one.
func bridged(a []string, all []edit) []edit {
	var out []edit
	for _, e := range all {
		last := len(out) - 1
		if last >= 0 && thin(a[out[last].to:e.from]) {
			out[last].to, out[last].newTo = e.to, e.newTo
			continue
		}
		out = append(out, e)
	}
	return out
}

// thin tells whether there is no word in it.
func thin(parts []string) bool {
	const most = 3
	if len(parts) > most {
		return false
	}
	for _, part := range parts {
		if r, _ := utf8.DecodeRuneInString(part); classOf(r) != spaces {
			return false
		}
	}
	return true
}

// likeness is how much of two lines is the same, 0–1, by the runes of the words that they share whatever their order. It
// is a bound of what a comparison word by word would find, at a cost that is linear.
func likeness(before, after []string) float64 {
	counts := make(map[string]int, len(before))
	all, shared := 0, 0
	for _, w := range before {
		if solid(w) {
			counts[w]++
			all += len(w)
		}
	}
	for _, w := range after {
		if !solid(w) {
			continue
		}
		all += len(w)
		if counts[w] > 0 {
			counts[w]--
			shared += 2 * len(w)
		}
	}
	if all == 0 {
		return 0
	}
	return float64(shared) / float64(all)
}

func solid(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return classOf(r) != spaces
}
