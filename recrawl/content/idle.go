package content

import (
	"slices"
	"strings"

	"recrawld/recrawl/canon"
)

// A parameter is idle if a page that is asked for with it does nothing but lead to the same address without it, as a choice of language that is kept in a
// cookie does: thirty addresses for each page, none of which shows anything. That is known of a host once it led so from as many pages as enoughIdle, by as
// many values as EnoughAside, and no page was seen that showed something by an address with it.
const enoughIdle = 4

// idleSeed sets the keys of parameters apart from those of families.
const idleSeed = slotSeed ^ 2

// idleKey is that of a parameter of a host: the values of it that led so are noted there. The pages are noted by pagesKey.
func idleKey(name string) Family { return Family(mix(hashString(idleSeed, name)) | 1) }

func (k Family) pagesKey() Family { return Family(mix(uint64(k)^1) | 1) }

// TellsLed takes note of a page that leads to another one, and tells whether that was news.
func (h *HostMemory) TellsLed(from, to canon.URL) bool {
	name := PlainParams(from, to)
	if name == "" || strings.Contains(name, "&") {
		return h.tellsBusy(from, to.Query())
	}
	key, news := idleKey(name), false
	for _, param := range paramsOf(from.Query()) {
		if value, found := strings.CutPrefix(param, name+"="); found {
			news = h.Tells(key, int64(hashString(idleSeed, value)), true, "") || news
		}
	}
	return h.Tells(key.pagesKey(), int64(hashString(idleSeed, to.String())), true, "") || news
}

// SpeaksLed tells whether a page that leads to another one is among the few by which it is looked at whether a parameter is idle still: those of the first page.
func (h *HostMemory) SpeaksLed(from, to canon.URL) bool {
	key := idleKey(PlainParams(from, to))
	return h.isIdle(key) && h.family(key.pagesKey()).pages[0] == printOf(int64(hashString(idleSeed, to.String())))
}

// TellsShown takes note of a page that shows something by its address, or is named there for readers, and tells whether that was news: its parameters are
// not idle.
func (h *HostMemory) TellsShown(u canon.URL) bool { return h.tellsBusy(u, "") }

// tellsBusy takes note of the parameters of a URL, but for those that a query has.
func (h *HostMemory) tellsBusy(u canon.URL, but string) (news bool) {
	if u.Query() == "" {
		return false
	}
	same := paramsOf(but)
	for _, param := range paramsOf(u.Query()) {
		if !slices.Contains(same, param) {
			news = h.Tells(idleKey(nameOf(param)), 0, false, "") || news
		}
	}
	return news
}

// withoutIdle is a URL without the parameters that are idle.
func (h *HostMemory) withoutIdle(u canon.URL) canon.URL {
	if u.Query() == "" {
		return u
	}
	for _, param := range paramsOf(u.Query()) {
		if name := nameOf(param); h.isIdle(idleKey(name)) {
			u = without(u, name)
		}
	}
	return u
}

func (h *HostMemory) isIdle(key Family) bool {
	if !h.LeavesAside(key) {
		return false
	}
	pages := h.family(key.pagesKey())
	return pages != nil && len(pages.pages) >= enoughIdle
}
