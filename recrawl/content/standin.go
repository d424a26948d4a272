package content

import (
	"cmp"
	"slices"
	"time"
)

// Bounds of what pages of a host were seen to show in place of their contents.
const (
	maxStandIns = 8          // at most 220 bytes each
	maxShowing  = 8          // pages of one
	standInText = 60         // bytes of a sample
	standInKept = 60 * 86400 // seconds after which a page that was not seen otherwise counts no more

	renewedLately = 7 * 86400 // seconds for which a page that became another document speaks for others that do
	enoughRenewed = 2         // of them
)

// standIn is what pages of a host showed in place of their contents, however long ago they were last visited.
type standIn struct {
	print  uint64
	sample string
	first  int64      // Unix seconds
	pages  []sighting // at most maxShowing, the one seen last at the end
	large  bool       // it is no shorter than a page
}

// sighting is a page that was last seen to show one.
type sighting struct {
	page   uint32 // print of its number
	before uint32 // print of the content that it had: pages that had one content are no witnesses for each other
	at     int64  // Unix seconds
}

func pagePrint(page int64) uint32 { return uint32(mix(uint64(page))) }

// shows notes that a page shows something of that print in place of its content, and returns the other pages that do, as far
// as is known: a page shows one at most, until it is seen otherwise or for sixty days.
func (h *HostMemory) shows(print uint64, v *View, large bool, page sighting) (others []sighting) {
	h.shown(page.page, page.at, print)
	at := slices.IndexFunc(h.standIns, func(l standIn) bool { return l.print == print })
	if at < 0 {
		if len(h.standIns) >= maxStandIns {
			h.standIns = slices.DeleteFunc(h.standIns, h.least().is)
		}
		at = len(h.standIns)
		h.standIns = append(h.standIns, standIn{print: print, sample: head(v.sample(), standInText), first: page.at})
	}
	l := &h.standIns[at]
	l.large = large
	l.pages = slices.DeleteFunc(l.pages, func(s sighting) bool { return s.page == page.page })
	for _, s := range l.pages {
		if s.before != page.before {
			others = append(others, s)
		}
	}
	if l.pages = append(l.pages, page); len(l.pages) > maxShowing {
		l.pages = slices.Delete(l.pages, 0, 1)
	}
	return others
}

// renewed tells whether enough other pages of the host, with other contents before, lately became a document of their own each, which no
// other page shows and which begins otherwise than the others: an outage says the same wherever one asks.
func (h *HostMemory) renewed(print uint64, v *View, page sighting) bool {
	begin := map[string]bool{head(v.sample(), standInText): true}
	for i := range h.standIns {
		l := &h.standIns[i]
		if l.print == print || !l.large || len(l.pages) != 1 || l.pages[0].before == page.before || page.at-l.pages[0].at > renewedLately {
			continue
		}
		begin[l.sample] = true
	}
	return len(begin) > enoughRenewed
}

// least is the one to forget first: of those that the fewest pages show the one seen longest ago.
func (h *HostMemory) least() *standIn {
	least := slices.MinFunc(h.standIns, func(a, b standIn) int {
		return cmp.Or(cmp.Compare(len(a.pages), len(b.pages)), cmp.Compare(a.last(), b.last()))
	})
	return &least
}

func (l *standIn) is(other standIn) bool { return l.print == other.print }

// last is when it was last seen.
func (l *standIn) last() int64 {
	last := l.first
	for _, s := range l.pages {
		last = max(last, s.at)
	}
	return last
}

// shown notes that a page shows none but one, 0: none at all, and forgets what is long ago.
func (h *HostMemory) shown(page uint32, now int64, but uint64) {
	for i := range h.standIns {
		l := &h.standIns[i]
		l.pages = slices.DeleteFunc(l.pages, func(s sighting) bool {
			return s.page == page && l.print != but || now-s.at > standInKept
		})
	}
	h.standIns = slices.DeleteFunc(h.standIns, func(l standIn) bool { return len(l.pages) == 0 })
}

// Shown notes that a page shows its content again. A visit that does not ask Judge must say so here.
func (h *HostMemory) Shown(page int64, now time.Time) { h.shown(pagePrint(page), now.Unix(), 0) }

// showing is how many other pages of the host are known to show something of that print in place of their contents, and whether none showed its own
// since the first of them did; shown is as Case.HostShown.
func (h *HostMemory) showing(print uint64, page uint32, shown time.Time) (others int, down bool) {
	for i := range h.standIns {
		if l := &h.standIns[i]; l.print == print {
			for _, s := range l.pages {
				if s.page != page {
					others++
				}
			}
			down = others > 0 && shown.Unix() <= l.first
		}
	}
	return others, down
}

// showsFirst notes that a page that never showed anything else shows something of that print. What it showed before is nothing that others had, so
// it is a witness for each of them; but where there is no room it makes none.
func (h *HostMemory) showsFirst(print uint64, v *View, page uint32, now int64) {
	at := slices.IndexFunc(h.standIns, func(l standIn) bool { return l.print == print })
	if at < 0 && len(h.standIns) >= maxStandIns {
		h.shown(page, now, print)
		return
	}
	h.shows(print, v, at >= 0 && h.standIns[at].large, sighting{page: page, before: page, at: now})
}

// StandsIn tells whether other pages of the host are known to show a view in place of their contents: a page that shows it says nothing of whether
// these are well, whatever it is to itself.
func (h *HostMemory) StandsIn(v *View, page int64) bool {
	if len(h.standIns) == 0 {
		return false
	}
	others, _ := h.showing(v.look(), pagePrint(page), time.Time{})
	return others > 0
}

// Replaces tells whether anything is known that pages of the host that had contents show in place of these, or for names that do not exist.
func (h *HostMemory) Replaces() bool {
	return len(h.missing) > 0 || slices.ContainsFunc(h.standIns, func(l standIn) bool {
		return slices.ContainsFunc(l.pages, func(s sighting) bool { return s.before != s.page })
	})
}

// StandIns tells whether any page of the host is known to show something in place of its content.
func (h *HostMemory) StandIns() bool { return len(h.standIns) > 0 }

// downBy tells whether a page of the host showed a view in place of its content by a moment, and none its own since.
func (h *HostMemory) downBy(at int64, v *View, shown time.Time) bool {
	print := v.look()
	return slices.ContainsFunc(h.standIns, func(l standIn) bool {
		return l.print == print && l.first <= at && shown.Unix() <= l.first
	})
}

// region is one as a person sees it.
func (l *standIn) region() Region {
	return Region{Key: l.print, Kind: Absent, Sample: l.sample, Pages: len(l.pages), Times: len(l.pages),
		First: time.Unix(l.first, 0).UTC(), Last: time.Unix(l.last(), 0).UTC()}
}

// sample is the beginning of the main content, or the title.
func (v *View) sample() string {
	for i := range v.blocks {
		if b := &v.blocks[i]; b.Main && b.Text != "" {
			return b.Text
		}
	}
	return v.Title
}
