package content

import "slices"

const hostForm = 1

// DecodeHost reads what Encode wrote. A damaged memory reads as an empty one.
func DecodeHost(b []byte) *HostMemory {
	p := newParser(b, hostForm)
	h := &HostMemory{}
	for range min(p.count(), maxMoves) {
		h.moves = append(h.moves, move{token: p.hash(), page: p.signed(), at: p.signed(), main: mainPrint(p.number())})
	}
	for range min(p.count(), maxRegions) {
		h.regions = append(h.regions, p.region())
	}
	for range min(p.count(), maxRetracts) {
		h.retracts = append(h.retracts, retract{page: p.signed(), at: p.signed()})
	}
	for range min(p.count(), maxMissing) {
		h.missing = append(h.missing, shape{title: p.hash(), text: p.hash(), size: uint32(p.number()), at: p.signed()})
	}
	if len(p.b) > 0 { // memories of before stand-ins were noted end here
		for range min(p.count(), maxStandIns) {
			h.standIns = append(h.standIns, p.standIn())
		}
	}
	if len(p.b) > 0 { // those of before it was noted which are large end here
		for at, large := 0, p.number(); at < len(h.standIns); at++ {
			h.standIns[at].large = large>>at&1 == 1
		}
	}
	if len(p.b) > 0 { // those of before families were noted end here
		for range min(p.count(), maxFamilies) {
			h.families = append(h.families, p.family())
		}
	}
	if len(p.b) > 0 { // and those of before it was noted what these name as canonical
		for i := range h.families {
			h.families[i].params = head(p.text(), maxPlainParams)
		}
	}
	if len(p.b) > 0 { // and those of before stays were noted end here
		for range min(p.count(), maxStays) {
			h.stays = append(h.stays, p.stay())
		}
	}
	if len(p.b) > 0 { // and those of before doubts were
		for i := range h.families {
			h.families[i].doubts = uint8(min(p.number(), mostDoubts-1))
		}
	}
	if !p.whole() {
		return &HostMemory{}
	}
	return h
}

func (p *parser) standIn() standIn {
	l := standIn{print: p.hash(), sample: head(p.text(), standInText), first: p.signed()}
	for range min(p.count(), maxShowing) {
		l.pages = append(l.pages, sighting{page: uint32(p.number()), before: uint32(p.number()), at: p.signed()})
	}
	return l
}

func (p *parser) family() family {
	k := family{key: Family(p.hash()), listed: p.bool()}
	for range min(p.count(), EnoughAside) {
		k.pages = append(k.pages, uint32(p.number()))
	}
	return k
}

func (p *parser) stay() state {
	s := state{key: p.hash(), at: p.signed(), gone: uint8(min(p.number(), flipOwn))}
	for range min(p.count(), enoughStays) {
		s.pages = append(s.pages, uint32(p.number()))
	}
	return s
}

func (p *parser) region() region {
	r := region{key: p.hash(), kind: RegionKind(p.number()), path: p.text(), sample: p.text(), times: uint32(p.number()),
		first: p.signed(), last: p.signed()}
	r.path, r.sample = tail(r.path, maxWhere), head(r.sample, maxSample)
	for range min(p.count(), maxPages) {
		r.pages = append(r.pages, uint32(p.number()))
	}
	return r
}

// Encode writes the memory, in at most MaxHostMemory bytes; nil where there is nothing to remember.
func (h *HostMemory) Encode() []byte {
	if len(h.moves)+len(h.regions)+len(h.retracts)+len(h.missing)+len(h.standIns)+len(h.families)+len(h.stays) == 0 {
		return nil
	}
	w := newWriter(hostForm)
	w.number(uint64(len(h.moves)))
	for _, m := range h.moves {
		w.hash(m.token)
		w.signed(m.page)
		w.signed(m.at)
		w.number(uint64(m.main))
	}
	w.number(uint64(len(h.regions)))
	for i := range h.regions {
		w.region(&h.regions[i])
	}
	w.number(uint64(len(h.retracts)))
	for _, r := range h.retracts {
		w.signed(r.page)
		w.signed(r.at)
	}
	w.number(uint64(len(h.missing)))
	for _, s := range h.missing {
		w.hash(s.title)
		w.hash(s.text)
		w.number(uint64(s.size))
		w.signed(s.at)
	}
	if len(h.standIns)+len(h.families)+len(h.stays) > 0 { // a release before this reads what has none
		w.number(uint64(len(h.standIns)))
		large := uint64(0)
		for i := range h.standIns {
			w.standIn(&h.standIns[i])
			if h.standIns[i].large {
				large |= 1 << i
			}
		}
		w.number(large)
	}
	w.said(h)
	return w.finish()
}

// said writes what pages of families say, and what pages say still; a release before this reads what has none.
func (w *writer) said(h *HostMemory) {
	if len(h.families)+len(h.stays) == 0 {
		return
	}
	w.number(uint64(len(h.families)))
	for i := range h.families {
		w.family(&h.families[i])
	}
	doubts := slices.ContainsFunc(h.families, func(k family) bool { return k.doubts > 0 })
	if len(h.stays) == 0 && !doubts && !slices.ContainsFunc(h.families, func(k family) bool { return k.params != "" }) {
		return
	}
	for i := range h.families {
		w.text(h.families[i].params)
	}
	if len(h.stays) == 0 && !doubts {
		return
	}
	w.number(uint64(len(h.stays)))
	for _, s := range h.stays {
		w.hash(s.key)
		w.signed(s.at)
		w.number(uint64(s.gone))
		w.number(uint64(len(s.pages)))
		for _, page := range s.pages {
			w.number(uint64(page))
		}
	}
	if !doubts {
		return
	}
	for i := range h.families {
		w.number(uint64(h.families[i].doubts))
	}
}

func (w *writer) standIn(l *standIn) {
	w.hash(l.print)
	w.text(l.sample)
	w.signed(l.first)
	w.number(uint64(len(l.pages)))
	for _, s := range l.pages {
		w.number(uint64(s.page))
		w.number(uint64(s.before))
		w.signed(s.at)
	}
}

func (w *writer) family(k *family) {
	w.hash(uint64(k.key))
	w.bool(k.listed)
	w.number(uint64(len(k.pages)))
	for _, page := range k.pages {
		w.number(uint64(page))
	}
}

func (w *writer) region(r *region) {
	w.hash(r.key)
	w.number(uint64(r.kind))
	w.text(r.path)
	w.text(r.sample)
	w.number(uint64(r.times))
	w.signed(r.first)
	w.signed(r.last)
	w.number(uint64(len(r.pages)))
	for _, page := range r.pages {
		w.number(uint64(page))
	}
}
