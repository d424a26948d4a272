package content

import (
	"slices"

	"recrawld/models"
)

// Bounds of what a page's memory holds of lists: what rolled longest ago is forgotten first, and all of it where the rest of the memory
// leaves no room.
const (
	maxRolls     = 12
	maxRollTexts = 150
	newsVisits   = 20 // visits with news from which on a list is one of news, unless things came back on a fifth of all
	newsTexts    = 32 // what is kept of such a list
	cardBlocks   = 8  // blocks of the largest entry whose price or state goes with it
	cardLevels   = 3  // and how many elements these lie apart from its link at most
)

// roll is a list of links in which others stand each time: what else one may like, what was read most. An entry by itself stays away for
// longer than it stands there, so no place of one keeps changing; but they come again, which news do not. Words without a link are no
// entries: "in stock" and "sold out" come again as well.
type roll struct {
	key         uint64
	since       uint32   // value of seen when it first changed
	backs, news uint16   // visits at which most of what came had gone from it before, and at which it had not
	gone        []uint32 // prints of what has gone from it, what went last at the end
}

// knows tells whether a text has gone from the list before; 0 is none.
func (r *roll) knows(text uint32) bool { return text == 0 || slices.Contains(r.gone, text) }

// turns tells whether the list shows what it showed before on at least half of the visits since it first changed.
func (r *roll) turns(seen uint32) bool {
	return r.backs >= knownChanges && r.backs >= r.news && float64(r.backs) >= knownShare*float64(max(seen-r.since, 1))
}

// leaves notes what has gone from the list.
func (r *roll) leaves(text uint32) {
	if i := slices.Index(r.gone, text); i >= 0 {
		r.gone = slices.Delete(r.gone, i, i+1)
	}
	most := maxRollTexts
	if r.news >= newsVisits && 4*r.backs < r.news {
		most = newsTexts
	}
	r.gone = append(r.gone, text)
	r.gone = slices.Delete(r.gone, 0, max(len(r.gone)-most, 0))
}

// exchange is an entry of a list that went, came, or stands in the place of another; 0: none did.
type exchange struct {
	pair     *pair
	from, to uint32
}

// rolls counts what came and went in the lists of a difference, and marks what did in one that turns and had gone from it before. What it
// never showed is news, and so is that an entry goes for the first time. counted are the lists that this visit has counted.
func (c *Case) rolls(d *difference, pairs []pair, ground *grounds, counted map[spot]bool) {
	lists, order := map[uint64][]exchange{}, []uint64(nil)
	for i := range pairs {
		p := &pairs[i]
		slot, in := d.listOf(p, ground)
		if !in || p.watched() {
			continue
		}
		one := exchange{pair: p}
		if p.before != nil {
			one.from = textPrint(p.before)
		}
		if p.after != nil {
			one.to = textPrint(p.after)
		}
		if lists[slot] == nil {
			order = append(order, slot)
		}
		lists[slot] = append(lists[slot], one)
	}
	entries := map[*Block]bool{}
	for _, slot := range order {
		if list := others(lists[slot]); len(list) > 0 {
			c.roll(hashString(slot, "roll"), list, d, entries, counted)
		}
	}
	d.companions(pairs, entries)
}

// others leaves out of a list what came and went under the same address: that is no other entry, but another state or price of the same.
func others(list []exchange) []exchange {
	went, stays := map[string]bool{}, map[string]bool{}
	for _, x := range list {
		if x.from != 0 {
			went[x.pair.before.Links[0].Whole] = true
		}
	}
	for _, x := range list {
		if x.to != 0 && went[x.pair.after.Links[0].Whole] {
			stays[x.pair.after.Links[0].Whole] = true
		}
	}
	return slices.DeleteFunc(list, func(x exchange) bool {
		return x.from != 0 && stays[x.pair.before.Links[0].Whole] || x.to != 0 && stays[x.pair.after.Links[0].Whole]
	})
}

// exchanged tells whether as much came to a list as went. One that grows or shrinks shows what there is, as what is in stock or which incidents are
// open, and not some of it.
func exchanged(list []exchange) bool {
	more := 0
	for _, x := range list {
		if x.from != 0 {
			more--
		}
		if x.to != 0 {
			more++
		}
	}
	return more == 0
}

// listOf is the path of a pair of links where several blocks stand there.
func (d *difference) listOf(p *pair, ground *grounds) (slot uint64, in bool) {
	if p.before != nil && len(p.before.Links) == 0 || p.after != nil && len(p.after.Links) == 0 {
		return 0, false
	}
	if p.after != nil {
		slot = d.after.slot(p.after)
	} else {
		slot = d.before.slot(p.before)
	}
	return slot, ground.before[slot] > 1 || ground.after[slot] > 1
}

// companions marks what stands beside entries that turn: their prices, and what else is said of them in a few words.
func (d *difference) companions(pairs []pair, entries map[*Block]bool) {
	if len(entries) == 0 {
		return
	}
	for i := range pairs {
		p := &pairs[i]
		if p.noise == 0 && !p.watched() && (p.before == nil || d.before.accompanies(p.before, entries)) && (p.after == nil || d.after.accompanies(p.after, entries)) {
			p.turns()
		}
	}
}

// accompanies tells whether a block without links stands in a small part of the page together with one of some entries, and no other of its
// list.
func (v *View) accompanies(b *Block, entries map[*Block]bool) bool {
	if len(b.Links) > 0 {
		return false
	}
	card := v.card(b)
	i := slices.IndexFunc(card, linked)
	if i < 0 {
		return false
	}
	slot := v.slot(&card[i])
	return entries[&card[i]] && !slices.ContainsFunc(card[i+1:], func(one Block) bool { return v.slot(&one) == slot })
}

// card is the smallest part of the page around a block in which there are links; nil: it is none of a few blocks.
func (v *View) card(b *Block) []Block {
	at := b.node
	for range cardLevels {
		n := &v.nodes[at]
		if n.last-n.first > cardBlocks {
			return nil
		}
		if card := v.blocks[n.first:n.last]; slices.ContainsFunc(card, linked) {
			return card
		}
		at = n.parent
	}
	return nil
}

func linked(b Block) bool { return len(b.Links) > 0 }

// turns marks what a list that turns shows.
func (p *pair) turns() {
	p.noise |= models.ReasonVolatile
	p.worth = min(p.worth, worthCounter)
}

// roll is rolls of one list.
func (c *Case) roll(key uint64, list []exchange, d *difference, entries map[*Block]bool, counted map[spot]bool) {
	r, at := c.Page.roll(key), spot{key, true}
	turns, known := counted[at]
	if !known {
		turns = r.turns(c.Page.seen) && exchanged(list)
	}
	if order, decided := c.Orders.of(key); decided {
		turns = order.Noise
	}
	marked := r.mark(turns, list, entries)
	if known {
		return
	}
	counted[at] = turns
	r.count(list)
	if view, block := d.of(marked); block != nil {
		c.Host.learn(key, Volatile, view.Path(block), block.Text, c.PageID, c.Now.Unix())
	}
}

// mark marks what turns of what was exchanged, and returns some of it.
func (r *roll) mark(turns bool, list []exchange, entries map[*Block]bool) (some *pair) {
	for _, x := range list {
		if turns && r.knows(x.from) && r.knows(x.to) {
			x.pair.turns()
			entries[x.pair.before], entries[x.pair.after] = true, true
			some = x.pair
		}
	}
	return some
}

// count notes what was exchanged at a visit.
func (r *roll) count(list []exchange) {
	came, back := 0, 0
	for _, x := range list {
		if x.to != 0 {
			came++
			if r.knows(x.to) {
				back++
			}
		}
	}
	switch {
	case !exchanged(list) || came == 0:
	case 2*back >= came:
		r.backs = saturate(r.backs)
	default:
		r.news = saturate(r.news)
	}
	for _, x := range list {
		if x.from != 0 {
			r.leaves(x.from)
		}
	}
}

// of is the later block of a pair and the view that it stands in; nil: there is no pair.
func (d *difference) of(p *pair) (*View, *Block) {
	switch {
	case p == nil:
		return nil, nil
	case p.after != nil:
		return d.after, p.after
	}
	return d.before, p.before
}

// roll is what is known of a list, from now on at least.
func (m *PageMemory) roll(key uint64) *roll {
	one := roll{key: key, since: m.seen}
	if at := slices.IndexFunc(m.rolls, func(r roll) bool { return r.key == key }); at >= 0 {
		one = m.rolls[at]
		m.rolls = slices.Delete(m.rolls, at, at+1)
	} else if len(m.rolls) >= maxRolls {
		m.rolls = slices.Delete(m.rolls, 0, 1)
	}
	m.rolls = append(m.rolls, one)
	return &m.rolls[len(m.rolls)-1]
}

// appendRolls writes the lists that fit, those that rolled last at the end.
func (m *PageMemory) appendRolls(w *writer) {
	const head = 8 + 5 + 3 + 3 + 2
	room, from := MaxPageMemory-checksumBytes-1-len(w.b), len(m.rolls)
	for from > 0 && room >= head+4*len(m.rolls[from-1].gone) {
		from--
		room -= head + 4*len(m.rolls[from].gone)
	}
	if from == len(m.rolls) {
		return
	}
	w.number(uint64(len(m.rolls) - from))
	for _, r := range m.rolls[from:] {
		w.hash(r.key)
		for _, n := range []uint64{uint64(r.since), uint64(r.backs), uint64(r.news), uint64(len(r.gone))} {
			w.number(n)
		}
		for _, text := range r.gone {
			w.short(text)
		}
	}
}

// readRolls reads what appendRolls wrote.
func (m *PageMemory) readRolls(p *parser) {
	for range min(p.count(), maxRolls) {
		r := roll{key: p.hash(), since: uint32(p.number()), backs: uint16(p.number()), news: uint16(p.number())}
		for range min(p.count(), maxRollTexts) {
			r.gone = append(r.gone, p.short())
		}
		m.rolls = append(m.rolls, r)
	}
}
