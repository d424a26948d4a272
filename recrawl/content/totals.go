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
	return p.before.leadsToList() && p.after.leadsToList() && enclosed(p.before.Text, p.after.Text) || p.shows()
}

// leadsToList tells a block that is a link to another page with a number in parentheses at its end, which may stand outside the link.
func (b *Block) leadsToList() bool {
	open := strings.LastIndexByte(b.Text, '(')
	return open > 0 && len(b.Links) == 1 && b.Links[0].Target != "#" && b.linkRunes > 0 &&
		int(b.runes-b.linkRunes) <= utf8.RuneCountInString(b.Text[open:])+1
}

// enclosed tells whether two texts are the same up to a whole number in parentheses at their ends.
func enclosed(was, is string) bool {
	a, n := cutEnclosed(was)
	b, m := cutEnclosed(is)
	return n >= 0 && m >= 0 && a == b
}

// cutEnclosed parts a text from the whole number in parentheses at its end; -1: there is none.
func cutEnclosed(s string) (rest string, n int) {
	open := strings.LastIndexByte(s, '(')
	if open < 0 || !strings.HasSuffix(s, ")") {
		return s, -1
	}
	n, err := strconv.Atoi(strings.NewReplacer(",", "", ".", "", "\u00a0", "", "\u202f", "").Replace(s[open+1 : len(s)-1]))
	if err != nil {
		return s, -1
	}
	return s[:open], n
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
