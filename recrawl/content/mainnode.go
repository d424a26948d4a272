package content

import "slices"

// The main content is found by descent: from the document into the child that holds most of the running text, as long
// as one child holds nearly all of it.
const (
	mainShare   = 0.9 // of the running text that a child must hold; anything from .5 to .95 does about as well
	runningText = 20  // runes outside links from which on a block is running text
	fewRunes    = 300 // with less running text than this all runes count
	wideShare   = 0.5 // a region that holds more of the text outside links than this is the page, whatever it is called
)

// spread gives each block the flags of the elements it stands in, finds the main content and marks its blocks.
func (v *View) spread() {
	all := v.weights(unlinked)
	total := float64(all[len(all)-1])
	main, said, only := v.framing()
	v.declares = said >= longRunes && (!only || main.flags&InArticle != 0 && float64(all[main.last]-all[main.first]) > wideShare*total)
	flags := make([]Flags, len(v.nodes))
	for i := range v.nodes {
		n := &v.nodes[i]
		own := n.flags
		weight := all[n.last] - all[n.first]
		if own&beside&^Ignored != 0 && float64(weight) > wideShare*total && !v.aside(n, own, weight, main, said, only) {
			own &^= beside &^ Ignored
		}
		if own&Watched != 0 && flags[n.parent]&Watched == 0 { // of words within a block, all of it: it stands in the element around them
			for at := n.first; at < n.last; at++ {
				v.blocks[at].Flags |= Watched
			}
		}
		if own&(InMain|InArticle) != 0 { // what is in it stands there again
			flags[i] = flags[n.parent]&^InHeader | own
		} else {
			flags[i] = flags[n.parent] | own
		}
	}
	for i := range v.blocks {
		b := &v.blocks[i]
		b.Flags |= flags[b.node]
		if b.away = b.away && b.Flags&(Hidden|Ignored|Watched) == 0; b.away {
			b.entry = !b.turns && b.Flags&beside == 0
			b.Flags |= InNav
		}
	}
	v.findMain()
	v.markMain()
	for i := range v.blocks {
		if b := &v.blocks[i]; b.away {
			b.Main = false
		} else if b.Main {
			v.said += int(b.runes)
		}
	}
}

// aside tells a region apart from the main element, or from the articles, that is none of the page however much of the text outside links it holds:
// it says less than that does; or it is navigation where a main element says a sentence at least, and more than half of what it says are links: the
// contents of a book beside a chapter that is hardly begun, whose parts are headings without links.
func (v *View) aside(n *node, own Flags, weight int64, main *node, said int64, only bool) bool {
	if main == nil || !n.apart(main) {
		return false
	}
	return said >= weight && !(only && v.runs(n)) || !only && own&InNav != 0 && said >= longRunes && 2*weight < v.says(n)
}

// framing is the main element, or the articles: what else there is to go by. only tells that it is these.
func (v *View) framing() (frame *node, said int64, only bool) {
	if frame, said = v.declared(); frame != nil {
		return frame, said, false
	}
	frame, said = v.articles()
	return frame, said, true
}

// declared is the first main element, and how many runes it says with its links. A region apart from it that says less is none of the page,
// however much of the text outside links it holds: the text of a list of links is all in them, and a footer of two sentences is what else is
// said. nil and -1: there is none.
func (v *View) declared() (main *node, said int64) {
	at := slices.IndexFunc(v.nodes, func(n node) bool { return n.flags&InMain != 0 && n.flags&beside == 0 })
	if at < 0 {
		return nil, -1
	}
	return &v.nodes[at], v.says(&v.nodes[at])
}

// articles is the same of all articles where there is no main element, from the first to the last. They may be cards that lead to others: a region of
// running text apart from them is the page, and one that has but headings of lists none. One alone is returned with its flags.
func (v *View) articles() (all *node, said int64) {
	for i := range v.nodes {
		switch n := &v.nodes[i]; {
		case n.flags&InArticle == 0 || n.flags&beside != 0:
		case all == nil:
			all = n
		default:
			all = &node{first: all.first, last: max(all.last, n.last)}
		}
	}
	if all == nil {
		return nil, -1
	}
	return all, v.says(all)
}

// runs tells whether running text stands in an element.
func (v *View) runs(n *node) bool {
	for b := n.first; b < n.last; b++ {
		if v.blocks[b].runes-v.blocks[b].linkRunes >= runningText {
			return true
		}
	}
	return false
}

// says is how many runes stand in an element.
func (v *View) says(n *node) (runes int64) {
	for b := n.first; b < n.last; b++ {
		runes += int64(v.blocks[b].runes)
	}
	return runes
}

// apart tells whether no block stands in both.
func (n *node) apart(other *node) bool { return n.first >= other.last || other.first >= n.last }

// weights sums what the blocks before each weigh.
func (v *View) weights(of func(*Block) int32) []int64 {
	sums := make([]int64, len(v.blocks)+1)
	for i := range v.blocks {
		sums[i+1] = sums[i] + int64(of(&v.blocks[i]))
	}
	return sums
}

// unlinked is the text outside links: what a menu says that is folded up is none, either.
func unlinked(b *Block) int32 {
	if b.away {
		return 0
	}
	return b.runes - b.linkRunes
}

func running(b *Block) int32 {
	if n := b.runes - b.linkRunes; n >= runningText && b.Flags&beside == 0 {
		return n
	}
	return 0
}

func unflagged(b *Block) int32 {
	if b.Flags&beside == 0 {
		return b.runes
	}
	return 0
}

// findMain descends, not further than to what holds paragraphs and lists: one long paragraph is not the page.
func (v *View) findMain() {
	sums := v.weights(running)
	if sums[len(sums)-1] < fewRunes {
		sums = v.weights(unflagged)
	}
	total := sums[len(sums)-1]
	v.weight, v.main = int(total), 0
	for at := int32(0); ; at = v.main {
		for child := at + 1; child < v.nodes[at].end; child = v.nodes[child].end {
			n := &v.nodes[child]
			if total > 0 && !n.prose && float64(sums[n.last]-sums[n.first]) >= mainShare*float64(total) {
				v.main = child
				break
			}
		}
		if v.main == at {
			return
		}
	}
}

// markMain marks the blocks of the main node, and near it the lines that belong to it: title, date, version.
func (v *View) markMain() {
	if v.watches = v.markWatched(); v.watches {
		return
	}
	m := &v.nodes[v.main]
	near := v.nodes[m.parent]
	for i := range v.blocks {
		b := &v.blocks[i]
		at := int32(i)
		switch {
		case b.Flags&beside != 0:
		case at >= m.first && at < m.last:
			b.Main = b.Flags&InHeader == 0 || b.Flags&(InMain|InArticle) != 0
		case at >= near.first && at < near.last, b.Flags&(InMain|InArticle) != 0:
			b.Main = nearby(b)
		}
		if b.Level == 1 && b.Flags&beside == 0 {
			b.Main = true
		}
	}
}

// A line beside the main content is worth reading from so many runes on.
const (
	nearRunes = 15
	longRunes = 80 // from which on a line with many links is text with links in it
)

func nearby(b *Block) bool {
	if b.Flags&(InMenu|InButton) != 0 || b.runes < nearRunes || b.Flags&InHeader != 0 && b.Flags&(InMain|InArticle) == 0 {
		return false
	}
	return 2*b.linkRunes < b.runes || b.runes > longRunes && 10*b.linkRunes < 9*b.runes
}

// markWatched marks what the rules watch, if that is anything.
func (v *View) markWatched() (any bool) {
	for i := range v.blocks {
		b := &v.blocks[i]
		b.Main = b.Flags&Watched != 0 && b.Flags&Ignored == 0
		any = any || b.Main
	}
	return any
}
