package content

import (
	"slices"
	"strings"

	"recrawld/models"
)

// Places that keep changing. A place is volatile when it changed often enough since it first did, beside the visits that
// saw the page: a paragraph that is edited twice a year on a page that is visited daily is not, a teaser that is another
// one on nearly every visit is. What stands in the main content gets the benefit of the doubt: a price that is another one
// every second week is news.
const (
	volatileChanges = 8   // changes from which on a place can be volatile
	volatileShare   = 0.8 // of the visits since its first change
	knownChanges    = 6   // the same, where numbers alone change or texts come back that were there before
	knownShare      = 0.5 //
	volatileRunes   = 300 // longer blocks of the main content are text
	openChanges     = 2   // changes from which on a place outside the main content is volatile, however seldom
	hostPages       = 3   // pages of a host on which a place is volatile from which on it is on all
)

// place names where a block stands: its path, and its first words where several blocks of the view stand there.
func (v *View) place(b *Block, crowded map[uint64]int) uint64 {
	slot := v.nodes[b.node].slot
	if crowded[slot] < 2 {
		return slot
	}
	words := strings.Fields(head(masked(b.Text), 80))
	return hashString(slot, strings.Join(words[:min(2, len(words))], " "))
}

// crowded counts the blocks of each path.
func (v *View) crowded() map[uint64]int {
	counts := map[uint64]int{}
	for i := range v.blocks {
		counts[v.nodes[v.blocks[i].node].slot]++
	}
	return counts
}

// ranks says for some blocks, in document order, how many of the same path stand before each.
func (v *View) ranks(blocks []int32) map[*Block]int {
	ranks, counts := make(map[*Block]int, len(blocks)), map[uint64]int{}
	for i := range v.blocks {
		if len(blocks) == 0 {
			break
		}
		slot := v.nodes[v.blocks[i].node].slot
		if blocks[0] == int32(i) {
			ranks[&v.blocks[i]], blocks = counts[slot], blocks[1:]
		}
		counts[slot]++
	}
	return ranks
}

// grounds is what stands where in the two views of a difference.
type grounds struct {
	d             *difference
	before, after map[uint64]int // blocks of each path
	was, is       map[*Block]int // ranks of those that went and came
}

func (d *difference) grounds() grounds {
	return grounds{d: d, before: d.before.crowded(), after: d.after.crowded(),
		was: d.before.ranks(d.gone), is: d.after.ranks(d.come)}
}

// rolls tells whether a pair is none of a place whose text was replaced, but of a list that new text is added to while the
// rest stays: it came or went alone, or stands elsewhere in the list, counted from both its ends, than what it is paired
// with. Such as a change log, comments, the ten latest news.
func (g *grounds) rolls(p *pair) bool {
	switch {
	case p.before == nil:
		return g.after[g.d.after.slot(p.after)] > 1
	case p.after == nil:
		return g.before[g.d.before.slot(p.before)] > 1
	}
	before, after := g.d.before.slot(p.before), g.d.after.slot(p.after)
	was, is := g.was[p.before], g.is[p.after]
	return before == after && was != is && g.before[before]-was != g.after[after]-is
}

func (v *View) slot(b *Block) uint64 { return v.nodes[b.node].slot }

// volatile is the first half of rung 5: it counts what changed where, and marks the pairs in places that keep changing.
// counted are the places that this visit has counted, with whether they kept changing before it.
func (c *Case) volatile(d *difference, pairs []pair, counted map[spot]bool) {
	if len(pairs) > maxSlots {
		return
	}
	ground := d.grounds()
	c.rolls(d, pairs, &ground, counted)
	for i := range pairs {
		p := &pairs[i]
		var key uint64
		var from, to uint32
		var block *Block
		var path string
		if p.before != nil {
			key, from, block, path = d.before.place(p.before, ground.before), textPrint(p.before), p.before, d.before.Path(p.before)
		}
		if p.after != nil {
			key, to, block, path = d.after.place(p.after, ground.after), textPrint(p.after), p.after, d.after.Path(p.after)
		}
		if block.Main && block.runes > volatileRunes {
			continue
		}
		rolls := ground.rolls(p)
		at := spot{key, rolls}
		was, known := counted[at] // several blocks may stand at one place, such as the cells of a column of numbers
		if rolls || !known {
			was = c.isVolatile(key, p, to, rolls)
			counted[at] = was
			c.Page.changed(key, from, to, rolls || c.isPrice(d, p))
		}
		if was {
			p.noise |= models.ReasonVolatile
			p.worth = min(p.worth, worthCounter)
		}
		if was && !known {
			c.Host.learn(key, Volatile, path, block.Text, c.PageID, c.Now.Unix())
		}
	}
}

// spot is a place, for what was replaced there or for what rolls.
type spot struct {
	key   uint64
	rolls bool
}

// isVolatile tells whether a place kept changing before now. What rolls is news, unless the same texts come again.
func (c *Case) isVolatile(key uint64, p *pair, to uint32, rolls bool) bool {
	if order, decided := c.Orders.of(key); decided {
		return order.Noise
	}
	if order, decided := c.Orders.of(c.templateKey(p)); decided {
		return order.Noise
	}
	if p.watched() {
		return false // a person said that it is content: that is not to be unlearned
	}
	s := c.Page.slot(key)
	if rolls && (s == nil || !s.comesBack() || to != 0 && !slices.Contains(s.texts[:], to)) {
		return false
	}
	elsewhere := false
	if r := c.Host.region(key); r != nil && r.kind == Volatile && len(r.pages) >= hostPages {
		if elsewhere = p.own() && p.states() && (p.isAmount() || numberless(p.before.Text) != numberless(p.after.Text)); !elsewhere {
			return true // also of other numbers than amounts of money in the same words, as what a status page measures
		}
	}
	if r := c.Host.region(c.templateKey(p)); r != nil && !p.own() && r.last-r.first > flipSeconds {
		return true // it flipped on several pages at once more than once: the first page that shows the next flip knows
	}
	if s == nil {
		return false
	}
	if !p.own() && s.changes >= openChanges && !p.isAmount() {
		return true
	}
	share := float64(s.changes) / float64(max(c.Page.seen-s.since, 1))
	if elsewhere && s.changes >= openChanges && share >= knownShare {
		return true // what pages say each of what they are about is noise on those where it keeps changing
	}
	if p.reason&models.ReasonCounter != 0 || s.comesBack() {
		return s.changes >= knownChanges && share >= knownShare
	}
	return s.changes >= volatileChanges && share >= volatileShare
}

// comesBack tells whether the texts of a place are, for the greater part, some that it had before.
func (s *slot) comesBack() bool { return 2*int(s.backs) >= int(s.changes) }

// templateKey names the region of the host that a pair stands in.
func (c *Case) templateKey(p *pair) uint64 {
	if p.after != nil {
		return regionKey(c.After.slot(p.after))
	}
	return regionKey(c.Before.slot(p.before))
}

func regionKey(slot uint64) uint64 { return hashString(slot, "template") }

func textPrint(b *Block) uint32 { return uint32(b.hash(linkWhole)) }

// Regions that pages of a host share.
const (
	flipSeconds = 86400 // within which other pages must show the same change
	flipBlocks  = 40    // blocks of the largest difference that is looked at
	flipPages   = 1     // other pages that must show what differs
	flipOwn     = 8     // and where it may be said of each of them: as many products sell out in a day
)

// forget drops what lies further back than a day.
func (h *HostMemory) forget(now int64) {
	kept := h.moves[:0]
	for _, m := range h.moves {
		if now-m.at <= flipSeconds && m.at <= now {
			kept = append(kept, m)
		}
	}
	h.moves = kept
	h.stays = slices.DeleteFunc(h.stays, func(s state) bool { return s.past(now) })
}

// main tells whether the pair belongs to the main content.
func (p *pair) main() bool {
	return p.before != nil && p.before.Main || p.after != nil && p.after.Main
}

// own tells whether the pair is of what the page is about: of the main content, or, in few words, of what the page's main element says apart from that, as
// the price of a product beside its description.
func (p *pair) own() bool {
	return p.main() || p.before != nil && p.after != nil && p.before.own() && p.after.own() && p.states()
}

// own tells whether a block stands in the main content, or in a main element and in nothing beside it.
func (b *Block) own() bool { return b.Main || b.Flags&InMain != 0 && b.Flags&beside == 0 }

// watched tells whether a person asked to watch what the pair stands in.
func (p *pair) watched() bool {
	return p.before != nil && p.before.Flags&Watched != 0 || p.after != nil && p.after.Flags&Watched != 0
}
