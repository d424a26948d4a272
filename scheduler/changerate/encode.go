package changerate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
)

// ErrOtherModel says that stored knowledge was written by another model: with other features, weights or bounds. It is
// of no use to this one, which begins anew.
var ErrOtherModel = errors.New("knowledge of another model")

// errCorrupt says that stored knowledge is not what any model wrote.
var errCorrupt = errors.New("corrupt knowledge")

// The first byte of stored knowledge: what it is, and in which form. A new form comes with a step of the schema (models/migrations): a worker
// of an earlier release beside one that writes it would find nothing known, and write its own over it.
const (
	crowdForm    = 0x1b
	onceForm     = 0x1a // of a crowd that knows of pages that lead to others but how many they found; it and those below are read and not written
	leadlessForm = 0x19 // and not which pages those are
	toldForm     = 0x18 // and not what goes untold
	evenForm     = 0x17 // and not which of its changes come at once
	idleForm     = 0x16 // and told the customs nothing of its hours
	untimedForm  = 0x15 // and knows nothing of hours
	briefForm    = 0x14 // and nothing of its pages' lengths and number
	longForm     = 0x13 // and with every number of a calendar at its full length
	olderForm    = 0x12 // and every number of each group

	weightsForm  = 0x22
	timelessForm = 0x21 // of weights that know nothing of customs; it is read and not written
)

// Mark tells models apart, by their features.
func Mark() uint32 {
	h := fnv.New32a()
	for _, f := range features {
		h.Write([]byte(f.name))
		h.Write([]byte{0})
	}
	return h.Sum32()
}

// MarshalBinary writes the crowd, in the same bytes for the same knowledge: some 8 bytes for a group of few pages, 24 more
// for a folder, and two for each stretch of a calendar. A calendar that is there already, since two groups are of the same
// pages, is written once. The error is always nil.
func (c *Crowd) MarshalBinary() ([]byte, error) {
	w := make(writer, 0, 512+c.written+c.written/8)
	w.byte(crowdForm)
	w.uint32(bins)
	for _, x := range []float64{c.changes, c.days, c.visits, c.turned, c.begin, c.width} {
		w.number(x)
	}
	w.number(c.lengths.sum)
	w.number(c.lengths.days)
	w.number(c.met)
	c.all.write(&w)
	written := map[calendar]uint64{c.all: 0}
	w.uint32(uint32(len(c.groups)))
	for _, key := range c.sorted() {
		w.uint32(uint32(key))
		c.groups[key].write(&w, int64(c.begin), written)
	}
	c.rhythm.write(&w)
	c.writeUntold(&w)
	c.writeLeads(&w)
	c.written = len(w)
	return w, nil
}

// sorted is the keys of the groups in their order.
func (c *Crowd) sorted() []uint64 {
	if c.keysOf != c.epoch || len(c.keys) != len(c.groups) {
		c.keys, c.keysOf = slices.Sorted(maps.Keys(c.groups)), c.epoch
	}
	return c.keys
}

// What a group has beside its pages.
const (
	hasHeat = 1 << iota
	hasNews
	hasSame // its calendar is one of those before
)

// write writes a group of a crowd that began on a day. written are the calendars so far, by their numbers.
func (g *group) write(w *writer, begin int64, written map[calendar]uint64) {
	has := byte(0)
	if g.heat != nil {
		has |= hasHeat
	}
	number, same := uint64(0), false
	if g.news != nil {
		has |= hasNews
		if number, same = written[*g.news]; same {
			has |= hasSame
		}
	}
	w.byte(has)
	*w = binary.AppendUvarint(*w, uint64(g.members))
	*w = binary.AppendVarint(*w, int64(g.usedAt)-begin)
	if g.heat != nil {
		w.number(g.heat.at)
		w.shorts(g.heat.expected[:])
		w.shorts(g.heat.seen[:])
	}
	switch {
	case same:
		*w = binary.AppendUvarint(*w, number)
	case g.news != nil:
		written[*g.news] = uint64(len(written))
		g.news.write(w)
	}
}

// write leaves out the empty bins at both ends.
func (c *calendar) write(w *writer) {
	first, end := c.ends()
	w.byte(byte(first))
	w.byte(byte(end))
	w.grains(c.expected[first:end])
	w.grains(c.seen[first:end])
}

// ends are the first bin with anything in it, and the one behind the last.
func (c *calendar) ends() (first, end int) {
	first = bins
	for i := range bins {
		if c.expected[i] != 0 || c.seen[i] != 0 {
			first, end = min(first, i), i+1
		}
	}
	return min(first, end), end
}

// UnmarshalBinary reads what MarshalBinary wrote. After an error the crowd is as it was; ErrOtherModel says that the
// bytes were right but for another model.
func (c *Crowd) UnmarshalBinary(stored []byte) error {
	r := &reader{rest: stored}
	form := r.form(crowdForm, onceForm, leadlessForm, toldForm, evenForm, idleForm, untimedForm, briefForm, longForm, olderForm)
	if count := r.uint32(); r.err == nil && count != bins {
		r.err = fmt.Errorf("%w: %d bins", ErrOtherModel, count)
	}
	read := Crowd{changes: r.sum(), days: r.sum(), visits: r.sum(), turned: min(1, r.sum())}
	read.begin, read.width = r.sum(), r.sum()
	if read.begin > lastDay || read.width > lastDay || read.begin > 0 && read.width < 1 {
		r.fail("its time is out of bounds")
	}
	knowsPages := form >= untimedForm
	if knowsPages {
		read.lengths = lengths{sum: r.sum(), days: r.sum()}
		read.met = r.sum()
	}
	read.all.read(r, form)
	calendars := []*calendar{&read.all}
	count := r.uint32()
	if count > maxGroups {
		r.fail("too many groups")
	}
	read.groups = make(map[uint64]*group)
	for range count {
		if r.err != nil {
			break
		}
		switch form {
		case olderForm:
			key := r.uint64()
			read.groups[key&keyBits] = readOlderGroup(r, key)
		case longForm:
			read.groups[r.uint64()&keyBits] = readLongGroup(r)
		default:
			read.groups[uint64(r.uint32())] = readGroup(r, int64(read.begin), &calendars)
		}
	}
	if form >= idleForm {
		read.rhythm = readRhythm(r, form)
	}
	if form > toldForm {
		read.readUntold(r)
	}
	if form > leadlessForm {
		read.readLeads(r, form)
	}
	if !knowsPages {
		read.met = read.count()
	}
	if err := r.end(); err != nil {
		return fmt.Errorf("read a crowd: %w", err)
	}
	read.epoch, read.filled = c.epoch+1, read.end()
	*c = read
	return nil
}

// count is how many pages are in the sections: all but those of sections that were dropped.
func (c *Crowd) count() (pages float64) {
	for key, g := range c.groups {
		if key&groupingBits == byTop {
			pages += float64(g.members)
		}
	}
	return pages
}

// end is the last bin of the calendars in which there is anything.
func (c *Crowd) end() int {
	_, end := c.all.ends()
	for _, g := range c.groups {
		if g.news != nil {
			_, its := g.news.ends()
			end = max(end, its)
		}
	}
	return max(end-1, 0)
}

// readGroup reads a group of a crowd that began on a day, and adds its calendar to those read so far.
func readGroup(r *reader, begin int64, calendars *[]*calendar) *group {
	has := r.byte()
	g := &group{members: int32(r.count(math.MaxInt32)), usedAt: float32(begin + r.signed(-lastDay, lastDay))}
	if g.usedAt < 0 {
		r.fail("a time is out of bounds")
	}
	if has&hasHeat != 0 {
		g.heat = readHeat(r)
	}
	switch {
	case has&hasNews == 0:
	case has&hasSame != 0:
		g.news = new(calendar)
		*g.news = *(*calendars)[r.count(uint64(len(*calendars)-1))]
	default:
		g.news = new(calendar)
		g.news.read(r, crowdForm)
		*calendars = append(*calendars, g.news)
	}
	return g
}

func readHeat(r *reader) *heat {
	h := &heat{at: r.sum()}
	r.shorts(h.expected[:])
	r.shorts(h.seen[:])
	return h
}

// read reads a calendar of one of the forms.
func (c *calendar) read(r *reader, form byte) {
	first, end := int(r.byte()), int(r.byte())
	if first > end || end > bins {
		r.fail("a calendar is out of bounds")
		return
	}
	sums := r.grains
	if form == longForm || form == olderForm {
		sums = r.longs
	}
	sums(c.expected[first:end])
	sums(c.seen[first:end])
}
