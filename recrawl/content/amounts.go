package content

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// soonAfter is the time between two changes of an amount of money below which nobody sets it: it is a rate. The price of a day is news on each day, also to
// who looks once a day, and finds another one each time.
const soonAfter = 3 * time.Hour

// soon tells whether what is compared was made soon after what it is compared with, or when is not known.
func (c *Case) soon() bool { return c.Held.IsZero() || c.Now.Sub(c.Held) < soonAfter }

// isPrice tells whether all that differs of a pair is the amount that something of the page's own costs, which is another one at each visit as long as it
// likes. What stands apart from what the page is about, as a rate in its head or what is in the cart, is none, nor what another entry of a list costs.
func (c *Case) isPrice(d *difference, p *pair) bool {
	if c.soon() || !p.isAmount() || !p.own() || !slices.EqualFunc(p.before.Links, p.after.Links, func(a, b Link) bool { return a.Target == b.Target }) {
		return false
	}
	was, is := d.before.entryOf(p.before), d.after.entryOf(p.after)
	return was == nil || is == nil || was.hash(linkTarget) == is.hash(linkTarget)
}

// entryOf is the first block with links of the small part of the page that a block stands in; nil: there is none.
func (v *View) entryOf(b *Block) *Block {
	card := v.card(b)
	if at := slices.IndexFunc(card, linked); at >= 0 {
		return &card[at]
	}
	return nil
}

// isAmount tells whether all that differs of a pair, of which neither stands beside the content, are the numbers in a line about money.
func (p *pair) isAmount() bool {
	return p.rewritten() && (p.main() || (p.before.Flags|p.after.Flags)&beside == 0) && numberless(p.before.Text) == numberless(p.after.Text) && namesMoney(p.after.Text)
}

// namesMoney tells whether a text has the sign, or a word, of a currency or of what things cost.
func namesMoney(text string) bool {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Sc, r) }) {
		return true
	}
	return slices.ContainsFunc(wordsOf(text), func(word string) bool { return moneyWords[bareWord(word)] })
}
