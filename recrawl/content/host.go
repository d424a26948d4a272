package content

import (
	"cmp"
	"slices"
	"time"
)

// Bounds of a host's memory.
const (
	maxMoves    = 1000 // at most 28 bytes each
	maxRegions  = 150  // at most 210 bytes each
	maxRetracts = 100
	maxMissing  = 4
	maxSample   = 80 // bytes of a sample
	maxWhere    = 60 // bytes of a path
)

// HostMemory is what is remembered of the noise that a host's pages share. The zero HostMemory remembers nothing.
type HostMemory struct {
	moves    []move // blocks that came or went lately, the newest last
	regions  []region
	retracts []retract
	missing  []shape
	standIns []standIn
	stays    []state  // states that went from pages lately, and who says them still
	families []family // of pages, and what these ask of crawlers
}

// move is a block that came to a page or went from it.
type move struct {
	token uint64 // of the block; came and went differ
	page  int64
	at    int64 // unix seconds
	main  mainPrint
}

// region is a part of pages that was learned to be noise.
type region struct {
	key          uint64
	kind         RegionKind
	path, sample string
	pages        []uint32 // prints of the pages it was seen on, at most maxPages
	times        uint32
	first, last  int64
}

// maxPages is how many pages of a region are told apart.
const maxPages = 8

// retract is a page whose last change turned out to be noise.
type retract struct {
	page int64
	at   int64
}

// shape is what the host's answer for a name that does not exist looks like.
type shape struct {
	title uint64
	text  uint64 // print of its main text
	size  uint32 // of that, in runes
	at    int64
}

// RegionKind says how a region was learned to be noise.
type RegionKind uint8

// The kinds of region.
const (
	Template RegionKind = iota + 1 // it changed on several pages of the host at once
	Volatile                       // it keeps changing
	Missing                        // the host's answer for pages that do not exist
	Absent                         // what pages of the host show in place of their contents; cleared it is what they are now
)

// String is the kind's word.
func (k RegionKind) String() string {
	if k > Absent {
		return "unknown"
	}
	return [...]string{"", "template", "volatile", "missing", "absent"}[k]
}

// Region is a part of a host's pages that is noise.
type Region struct {
	Key    uint64 // names it in Orders
	Kind   RegionKind
	Path   string // where it stands
	Sample string // text that was seen there
	Pages  int    // on how many pages; 8 stands for 8 and more
	Times  int    // how often it changed
	First  time.Time
	Last   time.Time
}

// Noise lists the regions of the host that were learned to be noise, the latest seen first.
func (h *HostMemory) Noise() []Region {
	var all []Region
	for i := range h.regions {
		r := &h.regions[i]
		all = append(all, Region{Key: r.key, Kind: r.kind, Path: r.path, Sample: r.sample, Pages: len(r.pages),
			Times: int(r.times), First: time.Unix(r.first, 0).UTC(), Last: time.Unix(r.last, 0).UTC()})
	}
	for _, s := range h.missing {
		at := time.Unix(s.at, 0).UTC()
		all = append(all, Region{Key: s.text, Kind: Missing, First: at, Last: at})
	}
	for i := range h.standIns {
		all = append(all, h.standIns[i].region())
	}
	slices.SortStableFunc(all, func(a, b Region) int { return cmp.Compare(b.Last.Unix(), a.Last.Unix()) })
	return all
}

// region returns what is known under a key; nil: nothing.
func (h *HostMemory) region(key uint64) *region {
	for i := range h.regions {
		if h.regions[i].key == key {
			return &h.regions[i]
		}
	}
	return nil
}

// learn counts a change of a region on a page.
func (h *HostMemory) learn(key uint64, kind RegionKind, path, sample string, page int64, now int64) {
	r := h.region(key)
	if r == nil {
		if len(h.regions) >= maxRegions {
			oldest := slices.MinFunc(h.regions, func(a, b region) int { return cmp.Compare(a.last, b.last) }).key
			h.regions = slices.DeleteFunc(h.regions, func(r region) bool { return r.key == oldest })
		}
		h.regions = append(h.regions, region{key: key, first: now})
		r = &h.regions[len(h.regions)-1]
	}
	r.kind, r.path, r.sample, r.last = kind, tail(path, maxWhere), head(sample, maxSample), now
	r.times++
	print := uint32(mix(uint64(page)))
	if len(r.pages) < maxPages && !slices.Contains(r.pages, print) {
		r.pages = append(r.pages, print)
	}
}

// LearnMissing keeps the shape of the host's answer to a name that does not exist, where that came with status 200.
func (h *HostMemory) LearnMissing(answer *View, status int, at time.Time) {
	const ok = 200
	if status != ok || answer == nil {
		h.missing = nil
		return
	}
	s := shapeOf(answer, at.Unix())
	h.missing = slices.DeleteFunc(h.missing, func(old shape) bool { return old.text == s.text })
	h.missing = append(h.missing, s)
	if len(h.missing) > maxMissing {
		h.missing = slices.Delete(h.missing, 0, 1)
	}
}

// Withdraw tells whether the change last reported of a page turned out to be noise, and forgets it. A visit that does not
// ask Judge may ask here.
func (h *HostMemory) Withdraw(page int64) bool {
	n := len(h.retracts)
	h.retracts = slices.DeleteFunc(h.retracts, func(r retract) bool { return r.page == page })
	return len(h.retracts) < n
}

// withdrawLater notes that a page's last change was noise.
func (h *HostMemory) withdrawLater(page int64, now int64) {
	if slices.ContainsFunc(h.retracts, func(r retract) bool { return r.page == page }) {
		return
	}
	h.retracts = append(h.retracts, retract{page, now})
	if len(h.retracts) > maxRetracts {
		h.retracts = slices.Delete(h.retracts, 0, 1)
	}
}

// head is the beginning of s, of at most n bytes, cut between runes.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// tail is the end of s.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := len(s) - n
	for at < len(s) && s[at]&0xC0 == 0x80 {
		at++
	}
	return s[at:]
}
