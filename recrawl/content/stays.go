package content

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A state that goes from many pages in a day, as "In stock", may be the host's own text, which goes from all pages that have it, or what each page says of
// its own subject, which others go on saying. So pages that are seen meanwhile and say it still speak for the second.
const (
	maxStays    = 60 // states that went lately
	enoughStays = 3  // pages that say one still, from which on it is no text of the host's
)

// state is a state that went from a page of the host within a day, and the pages seen since that say it still.
type state struct {
	key   uint64
	at    int64    // when it last went, unix seconds
	gone  uint8    // how often it went, at most flipOwn; since one more page was seen to say it, where enough do
	pages []uint32 // prints, at most enoughStays
}

// stayKey names what a block says where it stands.
func stayKey(v *View, b *Block) uint64 { return mix(b.hash(linkTarget) ^ v.slot(b)) }

// Stays takes note of a view of a page that says, still, what went from others of the host within a day, and tells whether that was news.
func (h *HostMemory) Stays(v *View, page, now int64) bool {
	at := make(map[uint64]int, len(h.stays))
	for i := range h.stays {
		if !h.stays[i].past(now) {
			at[h.stays[i].key] = i
		}
	}
	if len(at) == 0 {
		return false
	}
	news := false
	for i := range v.blocks {
		b := &v.blocks[i]
		if !b.own() && !b.entry {
			continue
		}
		if n, ok := at[stayKey(v, b)]; ok {
			news = h.stays[n].add(printOf(page)) || news
		}
	}
	return news
}

// past tells whether a state went too long ago to be of use.
func (s *state) past(now int64) bool { return now-s.at > flipSeconds || s.at > now }

// add notes a page that says the state still, and tells whether that is news: also of one more than enough, where the state went from others since.
func (s *state) add(page uint32) bool {
	if len(s.pages) >= enoughStays {
		news := s.gone >= enoughStays
		s.gone = 0
		return news
	}
	if slices.Contains(s.pages, page) {
		return false
	}
	s.pages = append(s.pages, page)
	if len(s.pages) == enoughStays {
		s.gone = 0
	}
	return true
}

// said tells whether enough pages say the state still, and some did of late: what went from as many in a row as make it the host's is said nowhere any more,
// whatever was seen before.
func (s *state) said() bool { return len(s.pages) >= enoughStays && s.gone < flipOwn }

// Awaits tells whether something went from several pages of the host within a day of which it is not known whether others say it still.
func (h *HostMemory) Awaits(now int64) bool {
	return slices.ContainsFunc(h.stays, func(s state) bool { return s.gone >= enoughStays && !s.past(now) })
}

// went notes that a state went from a page, which says it no more, and tells whether enough others do.
func (h *HostMemory) went(key uint64, page, now int64) (stays bool) {
	s := state{key: key}
	if at := slices.IndexFunc(h.stays, func(s state) bool { return s.key == key }); at >= 0 {
		s = h.stays[at]
		h.stays = slices.Delete(h.stays, at, at+1)
	} else if len(h.stays) >= maxStays {
		h.stays = slices.Delete(h.stays, 0, 1)
	}
	stays = s.said()
	s.at, s.gone = now, min(s.gone+1, flipOwn)
	s.pages = slices.DeleteFunc(s.pages, func(p uint32) bool { return p == printOf(page) })
	h.stays = append(h.stays, s)
	return stays
}

// label is what stands before the value in a short line, as "Availability: In stock" has it; "": nothing does.
func label(text string) string {
	at := strings.IndexByte(text, ':')
	if at < 0 || utf8.RuneCountInString(text[:at]) > longestLabel {
		return ""
	}
	return text[:at+1]
}

// longestLabel is how long a label is at most, in runes.
const longestLabel = 30
