package content

import (
	"cmp"
	"slices"

	"recrawld/models"
)

// Regions that pages of a host share.
const (
	flipSeconds = 86400 // within which other pages must show the same change
	flipBlocks  = 200   // blocks of the largest difference that is looked at
	witnesses   = 4     // pages that are kept of each block that came or went, the latest ones
	sharedMain  = 0.34  // of the main content, from which on two pages show one document
)

// template is the second half of rung 5: where every block that came or went did so on another page of the host within a
// day, that is one change of what the pages share. What is noise already, such as an age, need not be shared. It returns a sample of the
// region, "" for none and for one that two others showed before: it was told of then.
func (c *Case) template(d *difference, pairs []pair) string {
	now := c.Now.Unix()
	c.Host.forget(now)
	if d.size() > flipBlocks {
		return ""
	}
	main := uint32(c.After.mainPrint(d))
	tokens := c.countingTokens(pairs)
	others := map[int64]bool{}
	shared, found := len(tokens) > 0, false
	for _, t := range tokens {
		pages := c.shownBy(t, main)
		for page := range pages {
			others[page] = true
		}
		shared, found = shared && len(pages) > 0, found || len(pages) == 1
	}
	c.Host.note(tokens, move{page: c.PageID, at: now, main: main})
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

// note keeps that a page showed some blocks, of each block the latest few pages: more witnesses say nothing more, and a design of many
// blocks leaves room for what else changes.
func (h *HostMemory) note(tokens []uint64, by move) {
	times := make(map[uint64]int, len(tokens))
	for _, t := range tokens {
		times[t] = 1
	}
	kept := len(h.moves)
	for i := kept - 1; i >= 0; i-- {
		m := h.moves[i]
		if n, again := times[m.token]; again {
			if n >= witnesses {
				continue
			}
			times[m.token]++
		}
		kept--
		h.moves[kept] = m
	}
	h.moves = append(h.moves[:0], h.moves[kept:]...)
	for _, t := range tokens {
		by.token = t
		h.moves = append(h.moves, by)
	}
	if extra := len(h.moves) - maxMoves; extra > 0 {
		h.moves = append(h.moves[:0], h.moves[extra:]...)
	}
}

// shownBy are the other pages of the host on which a block came or went, where these are not the same document.
func (c *Case) shownBy(token uint64, main uint32) map[int64]bool {
	pages := map[int64]bool{}
	for _, m := range c.Host.moves {
		if m.token == token && m.page != c.PageID && m.main != main {
			pages[m.page] = true
		}
	}
	return pages
}

// withdraw takes back the last changes of the pages that showed first what is the host's, unless something else changed with it on them alone.
func (c *Case) withdraw(others map[int64]bool, now int64) {
	pages, last := map[uint64]map[int64]bool{}, map[int64]int64{}
	for _, m := range c.Host.moves {
		if pages[m.token] == nil {
			pages[m.token] = map[int64]bool{}
		}
		pages[m.token][m.page] = true
		last[m.page] = max(last[m.page], m.at)
	}
	for _, m := range c.Host.moves {
		if m.at == last[m.page] && len(pages[m.token]) == 1 {
			delete(others, m.page)
		}
	}
	for page := range others {
		c.Host.withdrawLater(page, now)
	}
}

// lists tells whether a list of the main content grew or moved on: what several pages list at once, such as an archive and
// the pages of its subjects, is news on each of them. A list that came or went as a whole is a part of the page like others,
// such as a menu that a new design draws where the page has its text.
func (d *difference) lists(pairs []pair) bool {
	ground := d.grounds()
	main := compare(d.before, d.after, mainBlock) // with what d leaves out because it stood elsewhere on the page
	grew, shrank := d.after.partly(main.come, ground.before), d.before.partly(main.gone, ground.after)
	return slices.ContainsFunc(pairs, func(p pair) bool {
		switch {
		case !p.main() || !ground.rolls(&p):
			return false
		case p.before == nil:
			return grew(p.after)
		case p.after == nil:
			return shrank(p.before)
		}
		return true
	})
}

// partly tells of a block that came or went whether others of its list are content of both views, or stand where it does in the other one.
func (v *View) partly(differ []int32, other map[uint64]int) func(b *Block) bool {
	stay := map[uint64]int{}
	for i := range v.blocks {
		if b := &v.blocks[i]; b.Main {
			stay[v.slot(b)]++
		}
	}
	for _, b := range blocksOf(v, differ) {
		if b.Main {
			stay[v.slot(b)]--
		}
	}
	return func(b *Block) bool { return other[v.slot(b)] > 0 || stay[v.slot(b)] > 0 }
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

// countingTokens are the blocks that came and went in the pairs that count.
func (c *Case) countingTokens(pairs []pair) []uint64 {
	var all []uint64
	for i := range pairs {
		p := &pairs[i]
		if !c.counts(p) {
			continue
		}
		if p.before != nil {
			all = append(all, mix(p.before.hash(linkTarget)^1))
		}
		if p.after != nil {
			all = append(all, p.after.hash(linkTarget))
		}
	}
	return all
}

// mainPrint is a print of the main content but for what differs: of its running text, or of all of it where that is none, as on pages
// that list others.
func (v *View) mainPrint(d *difference) uint64 {
	var sum, all uint64
	add := func(b *Block, sign uint64) {
		if !b.Main {
			return
		}
		hash := sign * mix(hashString(slotSeed, b.Text))
		all += hash
		if b.runes >= runningText {
			sum += hash
		}
	}
	for i := range v.blocks {
		add(&v.blocks[i], 1)
	}
	for _, b := range blocksOf(d.after, d.come) {
		add(b, ^uint64(0))
	}
	return mix(cmp.Or(sum, all))
}

// forget drops what lies further back than a day.
func (h *HostMemory) forget(now int64) {
	kept := h.moves[:0]
	for _, m := range h.moves {
		if now-m.at <= flipSeconds && m.at <= now {
			kept = append(kept, m)
		}
	}
	h.moves = kept
}
