package content

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// totals tells whether all that differs is how long a list is that shows its entries itself: that of another page, behind a link to it, "Lamps (47)", or
// the one here, in the line that says which of them it shows, "Showing 11 to 20 of 47 (5 pages)". What comes to the list or goes is seen in it.
func (p *pair) totals() bool {
	if !p.rewritten() || !slices.Equal(p.before.Links, p.after.Links) || numberless(p.before.Text) != numberless(p.after.Text) {
		return false
	}
	return p.before.leadsToLists() && p.after.leadsToLists() && withoutTotals(p.before.Text) == withoutTotals(p.after.Text) || p.shows()
}

// leadsToLists tells a block of links to other pages with numbers in parentheses at the ends of such, which may stand outside of them.
func (b *Block) leadsToLists() bool {
	if len(b.Links) == 0 || b.linkRunes == 0 || slices.ContainsFunc(b.Links, func(l Link) bool { return l.Target == "#" }) {
		return false
	}
	totals := utf8.RuneCountInString(b.Text) - utf8.RuneCountInString(withoutTotals(b.Text))
	return int(b.runes-b.linkRunes) <= totals+len(b.Links)
}

// withoutTotals is a text without the whole numbers in parentheses that stand behind its words.
func withoutTotals(s string) string {
	var b strings.Builder
	for {
		open := strings.Index(s, " (")
		if open < 0 {
			break
		}
		b.WriteString(s[:open])
		s = s[open+2:]
		end := until(s, func(r rune) bool {
			return !unicode.IsDigit(r) && r != ',' && r != '.' && r != '\u00a0' && r != '\u202f'
		})
		if end < len(s) && s[end] == ')' && isTotal(s[:end]) {
			s = s[end+1:]
			continue
		}
		b.WriteString(" (")
	}
	b.WriteString(s)
	return b.String()
}

// isTotal tells a whole number, in groups of three digits or not: no version (1.14.2), no rating (4.5), no price (9.50), and no year.
func isTotal(s string) bool {
	groups := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsDigit(r) })
	if len(groups) == 1 {
		return groups[0] == s && !isYear(s)
	}
	for i, group := range groups {
		if n := utf8.RuneCountInString(group); n > 3 || i > 0 && n < 3 {
			return false
		}
	}
	return len(groups) > 0
}

// maxShown is how many runes the line has at most that says which entries of a list are shown.
const maxShown = 80

// shows tells whether two lines say which entries of a list are shown, from the same one on, of another number of them in all.
func (p *pair) shows() bool {
	if p.before.runes > maxShown || p.after.runes > maxShown || look(p.after.Text).money {
		return false
	}
	was, is := wholes(p.before.Text), wholes(p.after.Text)
	return isShown(was) && isShown(is) && was[0] == is[0] && was[2] != is[2] &&
		(was[1] == is[1] || was[1] == was[2] || is[1] == is[2]) // the last page ends where the list does
}

// isShown tells the numbers of the first and the last entry that is shown, of all, and of the pages that these take. Three numbers alone may be of anything.
func isShown(n []int) bool {
	if len(n) != 4 || n[0] < 1 || n[1] < n[0] || n[2] < n[1] || n[3] < 1 {
		return false
	}
	size := n[1] - n[0] + 1
	if n[1] == n[2] && n[3] > 1 { // the last page, which may hold fewer
		size = (n[0] - 1) / (n[3] - 1)
	}
	return size > 0 && (n[0]-1)%size == 0 && n[3] == (n[2]+size-1)/size
}

// wholes are the whole numbers of a text, in groups of three digits or not, up to five of them.
func wholes(s string) (all []int) {
	for len(s) > 0 && len(all) < 5 {
		from := strings.IndexFunc(s, unicode.IsDigit)
		if from < 0 {
			break
		}
		s = s[from:]
		end := until(s, func(r rune) bool { return !unicode.IsDigit(r) && r != ',' && r != '.' })
		n, err := strconv.Atoi(strings.NewReplacer(",", "", ".", "").Replace(plainDigits(s[:end])))
		if err != nil {
			return nil
		}
		all, s = append(all, n), s[end:]
	}
	return all
}
