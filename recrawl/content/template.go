package content

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"recrawld/models"
)

// template is the second half of rung 5: where every block that came or went did so on another page of the host within a
// day, or on several where it may be said of each and none says any more what it said before, that is one change of what the pages share. What is noise already, such as an age, need
// not be shared. It returns a sample of the region, "" for none and for one that more others showed before: it was told of then.
func (c *Case) template(d *difference, pairs []pair) string {
	now := c.Now.Unix()
	c.Host.forget(now)
	if d.size() > flipBlocks {
		return ""
	}
	tokens := c.countingTokens(d, pairs)
	others := map[int64]bool{}
	shared, found := len(tokens) > 0, false
	for _, t := range tokens {
		pages, again := c.shownBy(t)
		maps.Copy(others, again)
		switch {
		case len(pages) >= t.pages:
			found = found || len(pages) == t.pages
		case len(again) >= flipOwn:
			found = found || len(again) == flipOwn
		default:
			shared = false
		}
		if t.state != 0 && c.Host.went(t.state, c.PageID, now) {
			shared = false
		}
	}
	for _, t := range tokens {
		c.Host.moves = append(c.Host.moves, move{token: t.hash, page: c.PageID, at: now, main: t.main})
	}
	if extra := len(c.Host.moves) - maxMoves; extra > 0 {
		c.Host.moves = append(c.Host.moves[:0], c.Host.moves[extra:]...)
	}
	if !shared || d.lists(pairs) || slices.ContainsFunc(pairs, func(p pair) bool { return p.watched() }) {
		return ""
	}
	sample := c.flipped(d, pairs, now)
	c.withdraw(others, now)
	if !found {
		return ""
	}
	return sample
}

// shownBy are the other pages of the host on which a block came or went, but for those that are the same document: first those where it stands
// among other texts, then all of them. Among the same texts it is in a passage that several pages hold, as the chapters of a book and that book on
// one page do, or the versions of a manual: what is edited there is news, unless so many pages show it that it is boilerplate.
func (c *Case) shownBy(t countingToken) (pages, all map[int64]bool) {
	pages, all = map[int64]bool{}, map[int64]bool{}
	for _, m := range c.Host.moves {
		if m.token != t.hash || m.page == c.PageID || m.main.document() == t.main.document() {
			continue
		}
		all[m.page] = true
		if !m.main.besideSame(t.main) {
			pages[m.page] = true
		}
	}
	return pages, all
}

// withdraw takes back the last changes of the pages that showed first what is the host's, unless something else changed with it that this page
// does not show.
func (c *Case) withdraw(others map[int64]bool, now int64) {
	shows, last := map[uint64]bool{}, map[int64]int64{}
	for _, m := range c.Host.moves {
		if m.page == c.PageID && m.at == now {
			shows[m.token] = true
		}
		last[m.page] = max(last[m.page], m.at)
	}
	for _, m := range c.Host.moves {
		if m.at == last[m.page] && !shows[m.token] {
			delete(others, m.page)
		}
	}
	for page := range others {
		c.Host.withdrawLater(page, now)
	}
}

// lists tells whether a list of the main content grew or moved on: what several pages list at once, such as an archive and
// the pages of its subjects, is news on each of them.
func (d *difference) lists(pairs []pair) bool {
	ground := d.grounds()
	return slices.ContainsFunc(pairs, func(p pair) bool { return p.main() && ground.rolls(&p) })
}

// flipped marks the pairs that count as the host's.
func (c *Case) flipped(d *difference, pairs []pair, now int64) string {
	sample := ""
	for i := range pairs {
		p := &pairs[i]
		if order, decided := c.Orders.of(c.templateKey(p)); decided && !order.Noise || !c.counts(p) {
			continue
		}
		p.noise |= models.ReasonTemplate
		p.worth = min(p.worth, worthCounter)
		view, block := d.after, p.after
		if block == nil {
			view, block = d.before, p.before
		}
		c.Host.learn(regionKey(view.slot(block)), Template, view.Path(block), block.Text, c.PageID, now)
		if sample == "" {
			sample = head(block.Text, maxSample)
		}
	}
	return sample
}

// counts tells whether a pair makes a change by itself.
func (c *Case) counts(p *pair) bool { return p.noise == 0 && p.worth >= max(c.Threshold, worthNoise) }

// countingToken is a block that came or went, and how many other pages must show it for it to be the host's.
type countingToken struct {
	hash  uint64
	pages int
	main  mainPrint
	state uint64 // of what went, and may be said of each: its stayKey; 0: it is none
}

// countingTokens are the blocks that came and went in the pairs that count.
func (c *Case) countingTokens(d *difference, pairs []pair) []countingToken {
	was, is := d.before.mainPrints(d.gone), d.after.mainPrints(d.come)
	var all []countingToken
	for i := range pairs {
		p := &pairs[i]
		if !c.counts(p) {
			continue
		}
		pages, state := flipPages, uint64(0)
		if (p.own() || p.before != nil && p.before.entry) && p.states() {
			pages, state = flipOwn, stayKey(d.before, p.before)
		}
		if p.before != nil {
			all = append(all, countingToken{mix(p.before.hash(linkTarget) ^ 1), pages, was[p.before], state})
		}
		if p.after != nil {
			all = append(all, countingToken{p.after.hash(linkTarget), pages, is[p.after], 0})
		}
	}
	return all
}

// states tells whether a place says something else in a few words, behind the same label if there is one, or with other numbers: a status, a price, a
// date, which pages say of what they are about.
func (p *pair) states() bool {
	if !p.rewritten() {
		return false
	}
	few := min(p.before.runes, p.after.runes)
	if of := label(p.before.Text); strings.HasPrefix(p.after.Text, of) {
		few -= int32(utf8.RuneCountInString(of))
	}
	return few < runningText || masked(p.before.Text) == masked(p.after.Text)
}
