package content

import (
	"slices"
	"strings"
)

// copyright tells a line that says who holds a copyright, and differs in nothing but for which years.
func (p *pair) copyright() bool {
	if !p.rewritten() || !slices.Equal(p.before.Links, p.after.Links) {
		return false
	}
	before, is := withoutYears(p.before.Text)
	if !is {
		return false
	}
	after, is := withoutYears(p.after.Text)
	return is && before == after
}

// withoutYears is a line without the years behind its sign of copyright, or without its only one where none stands there: "© 2011-2026 Tools Ltd",
// "© Tools Ltd, 2026". is tells whether it has the sign and a year.
func withoutYears(s string) (rest string, is bool) {
	words := strings.Fields(s)
	at := slices.IndexFunc(words, signsCopyright)
	if at < 0 {
		return "", false
	}
	for at < len(words) && signsCopyright(words[at]) {
		at++
	}
	end := at
	for end < len(words) && isYears(words[end]) {
		end++
	}
	if end == at {
		at = slices.IndexFunc(words, isYears)
		if end = at + 1; at < 0 || slices.ContainsFunc(words[end:], isYears) {
			return "", false
		}
	}
	return strings.Join(slices.Delete(words, at, end), " "), true
}

func signsCopyright(word string) bool {
	return word == "©" || word == "(c)" || word == "(C)" || strings.EqualFold(strings.TrimRight(word, ":"), "copyright")
}

// isYears tells a year, and the first and last of several.
func isYears(word string) bool {
	first, last, _ := strings.Cut(strings.ReplaceAll(strings.TrimRight(word, ".,;"), "–", "-"), "-")
	return isYear(first) && (last == "" || isYear(last))
}

func isYear(s string) bool {
	return len(s) == len("2026") && (s[:2] == "19" || s[:2] == "20") && strings.Trim(s, "0123456789") == ""
}
