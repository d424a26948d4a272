package content

import (
	"slices"
)

// MaxPageMemory and MaxHostMemory are the lengths in bytes that the encoded memories never exceed.
const (
	MaxPageMemory = 16 << 10
	MaxHostMemory = 72 << 10
)

// Bounds of a page's memory: what changed longest ago is forgotten first.
const (
	maxSlots  = 500 // at most 31 bytes each, so that all fit into MaxPageMemory
	maxRecent = 8   // views that a flip-back is looked for in
)

// PageMemory is what is remembered of one page's differences. The zero PageMemory remembers nothing.
type PageMemory struct {
	seen   uint32   // views compared so far
	slots  []slot   // places that changed, those that changed last at the end
	rolls  []roll   // lists that changed, those that changed last at the end
	recent []uint64 // prints of the main content of the last good views, the newest last

	reported bool   // the last verdict was a change, so that it can be withdrawn
	absent   row    // views in a row without its content
	replaced uint64 // how often another document came in its place
}

// slot is a place of the page that changed: where it stands, and its first words where several blocks stand there.
type slot struct {
	key     uint64
	since   uint32 // value of seen when it first changed
	changes uint16
	backs   uint16 // of those, to a text that the slot had before
	texts   [2]uint32
}

const pageForm = 1

// DecodePage reads what Encode wrote. A damaged memory reads as an empty one.
func DecodePage(b []byte) *PageMemory {
	p := newParser(b, pageForm)
	m := &PageMemory{seen: uint32(p.number())}
	for range min(p.count(), maxSlots) {
		s := slot{key: p.hash(), since: uint32(p.number()), changes: uint16(p.number()), backs: uint16(p.number())}
		s.texts = [2]uint32{uint32(p.number()), uint32(p.number())}
		m.slots = append(m.slots, s)
	}
	for range min(p.count(), maxRecent) {
		m.recent = append(m.recent, p.hash())
	}
	look, counts := p.hash(), p.number()
	m.absent.look, m.absent.alike, m.absent.all = look, uint8(counts), uint8(counts>>8)
	m.absent.large = counts>>16&1 == 1
	m.reported = p.bool()
	if len(p.b) > 0 { // memories of before rows had times end here
		for _, at := range m.absent.times() {
			*at = p.signed()
		}
		m.replaced = p.number()
	}
	if len(p.b) > 0 { // memories of before lists end here
		m.readRolls(p)
	}
	if !p.whole() {
		return &PageMemory{}
	}
	return m
}

// Encode writes the memory, in at most MaxPageMemory bytes; nil where there is nothing to remember.
func (m *PageMemory) Encode() []byte {
	if m.seen == 0 && m.absent == (row{}) && m.replaced == 0 {
		return nil
	}
	w := newWriter(pageForm)
	w.number(uint64(m.seen))
	w.number(uint64(len(m.slots)))
	for i := range m.slots {
		s := &m.slots[i]
		w.hash(s.key)
		for _, n := range []uint64{uint64(s.since), uint64(s.changes), uint64(s.backs), uint64(s.texts[0]), uint64(s.texts[1])} {
			w.number(n)
		}
	}
	w.number(uint64(len(m.recent)))
	for _, print := range m.recent {
		w.hash(print)
	}
	w.hash(m.absent.look)
	counts := uint64(m.absent.all)<<8 | uint64(m.absent.alike) // rows of before all were counted end with those alike
	if m.absent.large {
		counts |= 1 << 16
	}
	w.number(counts)
	w.bool(m.reported)
	if m.absent.since != 0 || m.replaced > 0 || len(m.rolls) > 0 { // a release before this reads what ends here
		for _, at := range m.absent.times() {
			w.signed(*at)
		}
		w.number(m.replaced)
		m.appendRolls(w)
	}
	return w.finish()
}

// times are the times of a row in the order in which they are stored.
func (r *row) times() [5]*int64 { return [...]*int64{&r.since, &r.first, &r.last, &r.stood, &r.whole} }

// slot returns what is known of a place; nil: nothing.
func (m *PageMemory) slot(key uint64) *slot {
	for i := range m.slots {
		if m.slots[i].key == key {
			return &m.slots[i]
		}
	}
	return nil
}

// changed counts a change of a place from a text to another one; 0 is none. What rolls is counted where the text was there
// before.
func (m *PageMemory) changed(key uint64, from, to uint32, rolls bool) {
	s := slot{key: key, since: m.seen}
	if at := slices.IndexFunc(m.slots, func(s slot) bool { return s.key == key }); at >= 0 {
		s = m.slots[at]
		m.slots = slices.Delete(m.slots, at, at+1)
	} else if len(m.slots) >= maxSlots {
		m.slots = slices.Delete(m.slots, 0, 1)
	}
	if s.changes == 1<<16-1 { // no more can be counted: half of them, in half the time, say the same
		s.changes, s.backs, s.since = s.changes/2, s.backs/2, s.since+(m.seen-s.since)/2
	}
	back := slices.Contains(s.texts[:], to)
	if rolls && to != 0 && back || !rolls && s.changes > 0 && back {
		s.backs = saturate(s.backs)
	}
	if !rolls || to != 0 && back {
		s.changes = saturate(s.changes)
	}
	s.texts[1], s.texts[0] = s.texts[0], from
	m.slots = append(m.slots, s)
}

func saturate(n uint16) uint16 {
	if n == 1<<16-1 {
		return n
	}
	return n + 1
}

// remember notes the print of a good view; it tells whether one of the last had it.
func (m *PageMemory) remember(print uint64) (before bool) {
	before = slices.Contains(m.recent, print)
	m.recent = append(m.recent, print)
	if len(m.recent) > maxRecent {
		m.recent = slices.Delete(m.recent, 0, len(m.recent)-maxRecent)
	}
	return before
}
