package content

import (
	"slices"
	"strings"

	"recrawld/models"
)

// pair is a block that came, went, or reads otherwise: one of the two may be missing.
type pair struct {
	before, after *Block
	reason        models.Reasons
	worth         float64        // 0–1: the significance of this difference alone
	noise         models.Reasons // why it does not count; 0: it does
	wrote         bool           // it is how much authors have written by now (recount)
}

// What kinds of difference are worth. One block worth more than the threshold makes a change. The order is what counts:
// with the default threshold of a half all of these but ages, counters and clocks do.
const (
	worthText    = 1.0 // a word of running text
	worthHeading = 0.9
	worthLine    = 0.8  // a short line came or went
	worthLink    = 0.7  // the same text leads elsewhere
	worthDate    = 0.6  // nothing but a date: "Last updated" says that somebody was at it
	worthNumber  = 0.6  // nothing but numbers: a price, a version
	worthWhole   = 0.6  // the same address but for its query or fragment
	worthPicture = 0.55 // another picture on a page that says next to nothing
	worthMarkup  = 0.5  // the same words, cut into other blocks, set at another level or emphasised otherwise
	worthBeside  = 0.2  // what stands beside the content
	worthCounter = 0.1  // a number beside a word such as "views"
	worthClock   = 0.05
)

// pairs puts what went beside what came in its place: first the same text but for links, numbers, ages or level, then the
// same place.
func (d *difference) pairs() []pair {
	var all []pair
	gone, come := blocksOf(d.before, d.gone), blocksOf(d.after, d.come)
	keys := []func(v *View, b *Block) uint64{
		func(_ *View, b *Block) uint64 { return hashString(slotSeed, b.Text) },
		func(_ *View, b *Block) uint64 { return hashString(slotSeed, b.likeness()) },
		func(v *View, b *Block) uint64 { return v.nodes[b.node].slot ^ uint64(b.Level) },
	}
	for _, key := range keys {
		waiting := map[uint64][]int{}
		for i, b := range come {
			if b != nil {
				waiting[key(d.after, b)] = append(waiting[key(d.after, b)], i)
			}
		}
		for i, b := range gone {
			if b == nil {
				continue
			}
			k := key(d.before, b)
			if in := waiting[k]; len(in) > 0 {
				all = append(all, pair{before: b, after: come[in[0]]})
				gone[i], come[in[0]], waiting[k] = nil, nil, in[1:]
			}
		}
	}
	d.recount(all)
	for _, b := range gone {
		if b != nil {
			all = append(all, pair{before: b})
		}
	}
	for _, b := range come {
		if b != nil {
			all = append(all, pair{after: b})
		}
	}
	return all
}

// likeness is what a block keeps where its numbers and ages alone differ.
func (b *Block) likeness() string {
	if b.counted && isCount(b.Text) {
		return "counted"
	}
	return numberless(b.Text)
}

func blocksOf(v *View, at []int32) []*Block {
	blocks := make([]*Block, len(at))
	for i, n := range at {
		blocks[i] = &v.blocks[n]
	}
	return blocks
}

// classify says what kind of difference each pair is, between two views that so much time lies between.
func classify(all []pair, between span) {
	recut := sameWords(all)
	for i := range all {
		p := &all[i]
		p.reason, p.worth = p.kind()
		if recut && !p.reworded() && p.reason&(models.ReasonText|models.ReasonHeading) != 0 {
			p.reason, p.worth = models.ReasonMarkupOnly, worthMarkup
		}
		if !p.main() {
			p.worth = min(p.worth, p.evidence())
		}
		p.noise |= p.transientText(between)
		if p.noise != 0 {
			p.worth = min(p.worth, worthClock)
		}
	}
}

// kind says what differs between the two blocks of a pair.
func (p *pair) kind() (models.Reasons, float64) {
	b := p.after
	if b == nil {
		b = p.before
	}
	switch {
	case p.before != nil && p.after != nil && p.before.Text == p.after.Text:
		return p.sameText()
	case p.spaced():
		return models.ReasonMarkupOnly, worthMarkup
	case p.wrote, p.looked(), p.counts(), p.totals(), p.attends():
		return models.ReasonCounter, worthCounter
	case p.before != nil && p.after != nil && numberless(p.before.Text) == numberless(p.after.Text):
		if !p.main() && countsAlone(p.before.Text, p.after.Text) {
			return models.ReasonCounter, worthCounter
		}
		return numbers(p.after.Text)
	case b.Level > 0:
		return models.ReasonHeading, worthHeading
	case b.Text == "":
		return models.ReasonLinkTarget, worthLink
	case p.before != nil && p.after != nil && datesOnly(p.before.Text, p.after.Text):
		return models.ReasonDateOnly, worthDate
	case b.runes >= runningText:
		return models.ReasonText, worthText
	}
	return models.ReasonText, worthLine
}

// spaced tells a line that is set with other spaces where two scripts meet: VIM リファレンス.
func (p *pair) spaced() bool {
	return p.before != nil && p.after != nil && !isASCII(p.before.Text) && !isASCII(p.after.Text) &&
		slices.Equal(wordsOf(p.before.Text), wordsOf(p.after.Text))
}

// sameText is what differs between two blocks with one text.
func (p *pair) sameText() (models.Reasons, float64) {
	switch {
	case p.before.hash(linkTarget) != p.after.hash(linkTarget):
		return models.ReasonLinkTarget, worthLink
	case p.before.Level != p.after.Level:
		return models.ReasonHeading | models.ReasonMarkupOnly, worthMarkup
	}
	if p.before.hash(linkAll) == p.after.hash(linkAll) {
		if !slices.Equal(p.before.Images, p.after.Images) {
			return models.ReasonMarkupOnly, worthPicture
		}
		return models.ReasonMarkupOnly, worthMarkup
	}
	return models.ReasonLinkTarget, worthWhole
}

// numbers is what a text is whose numbers alone differ.
func numbers(text string) (models.Reasons, float64) {
	if t := look(ageless(text)); t.dated || t.year && t.numbers >= 3 {
		return models.ReasonDateOnly, worthDate
	}
	return models.ReasonCounter, worthNumber
}

// countsAlone tells whether all that differs between two texts are numbers that stand next to words such as "visits": beside the content such a
// counter is one whatever else the line says, and whichever year.
func countsAlone(before, after string) bool {
	was, is := wordsOf(before), wordsOf(after)
	if len(was) != len(is) || look(after).money {
		return false
	}
	counts := func(i int) bool {
		return i >= 0 && i < len(is) && countWords[bareWord(is[i])]
	}
	for i := range is {
		if was[i] != is[i] && !counts(i-1) && !counts(i+1) {
			return false
		}
	}
	return true
}

// datesOnly tells whether two texts are the same but for names of months and days, and numbers. The words that join these
// may differ with them, not by themselves.
func datesOnly(a, b string) bool {
	if len(a) > 400 || len(b) > 400 {
		return false
	}
	datesA, restA := cutDates(a)
	datesB, restB := cutDates(b)
	return restA == restB && datesA != datesB
}

// cutDates parts a text into its dates and numbers and the words that join no date.
func cutDates(s string) (dates, rest string) {
	var in, out []string
	for _, w := range wordsOf(s) {
		bare := bareWord(w)
		switch {
		case linkWords[bare]:
		case times.dates[bare], strings.Trim(masked(bare), "0/-.:thndrs") == "":
			in = append(in, bare)
		default:
			out = append(out, masked(w))
		}
	}
	return strings.Join(in, " "), strings.Join(out, " ")
}

// transientText tells the texts that differ on every visit by their nature: times of day, ages, when a program made the page and of what.
func (p *pair) transientText(between span) models.Reasons {
	if p.receded(between) {
		return 0
	}
	if p.signed() || p.timed() || p.aged() || p.passed(between) || p.grown(between) || p.copyright() {
		return models.ReasonDateOnly
	}
	if p.builtAnew() || p.moved() {
		return models.ReasonVolatile
	}
	clocks := 0
	for _, b := range []*Block{p.before, p.after} {
		if b == nil {
			continue
		}
		if b.runes > maxClockRunes || len(b.Links) > 0 {
			return 0
		}
		switch t := look(b.Text); {
		case t.isClock():
			clocks++
		case !loneAge(b.Text):
			return 0
		}
	}
	if clocks == 2 && masked(p.before.Text) != masked(p.after.Text) && !datesOnly(p.before.Text, p.after.Text) {
		return 0
	}
	return models.ReasonDateOnly
}

// isClock tells a clock, which says the time of day and nothing else, from hours of opening and departures.
func (t *shapeOfText) isClock() bool {
	others := t.words - t.dates - t.links - t.timely - t.ages
	return t.clocks == 1 && (others <= 0 || t.seconds && others <= maxClockWords)
}

// timetables takes clocks of the main content that stand in a row of such for times that somebody set.
func (d *difference) timetables(pairs []pair) {
	if len(pairs) > maxSlots {
		return
	}
	rows := map[*View]map[uint64]int{d.before: {}, d.after: {}}
	var clocks []*pair
	for i := range pairs {
		if p := &pairs[i]; p.noise&models.ReasonDateOnly != 0 && p.main() {
			v, slot := d.place(p)
			rows[v][slot], clocks = 0, append(clocks, p)
		}
	}
	for v, row := range rows {
		v.countClocks(row)
	}
	for _, p := range clocks {
		if v, slot := d.place(p); rows[v][slot] >= timetable {
			p.noise &^= models.ReasonDateOnly
			p.reason, p.worth = p.kind()
		}
	}
}

// place is where a pair stands now, or stood where it is gone.
func (d *difference) place(p *pair) (*View, uint64) {
	if p.after != nil {
		return d.after, d.after.slot(p.after)
	}
	return d.before, d.before.slot(p.before)
}

// countClocks counts the times of day, without seconds, that stand at some paths, up to a timetable.
func (v *View) countClocks(at map[uint64]int) {
	if len(at) == 0 {
		return
	}
	for i := range v.blocks {
		b := &v.blocks[i]
		n, asked := at[v.slot(b)]
		if !asked || n >= timetable || b.runes > maxClockRunes {
			continue
		}
		if t := look(b.Text); t.isClock() && !t.seconds {
			at[v.slot(b)] = n + 1
		}
	}
}

// timetable is how many times of day, at one place of the main content, are no clocks.
const timetable = 3

// A clock or an age stands by itself, with a few words around it.
const (
	maxClockRunes = 60
	maxClockWords = 3
)

// sameWords tells whether what went and what came read the same, put together in order: paragraphs cut otherwise.
func sameWords(all []pair) bool {
	var gone, come []*Block
	for i := range all {
		if all[i].before != nil {
			gone = append(gone, all[i].before)
		}
		if all[i].after != nil {
			come = append(come, all[i].after)
		}
	}
	return len(gone) > 0 && len(come) > 0 && letters(gone) == letters(come)
}

// reworded tells whether the same words stand in another order in one block: the seller pays the buyer.
func (p *pair) reworded() bool {
	return p.before != nil && p.after != nil && letters([]*Block{p.before}) == letters([]*Block{p.after})
}

// letters joins the texts of blocks without their spaces, in an order that the cut does not change: that of their words.
func letters(blocks []*Block) uint64 {
	sum := uint64(0)
	for _, b := range blocks {
		for word := range eachWord(b.Text) {
			sum += mix(hashString(slotSeed, word))
		}
	}
	return sum
}
