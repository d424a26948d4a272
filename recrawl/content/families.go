package content

import (
	"slices"
	"strings"

	"recrawld/config"
	"recrawld/recrawl/canon"
)

// Family names pages of a host that one part of its server makes, such as the forms to edit a wiki; 0: none.
type Family uint64

// What is remembered of families.
const (
	maxFamilies = 100 // of a host; what comes after them is of no family that anything is known of

	// EnoughAside is how many pages of a family have to say a thing, as that they ask for noindex and nofollow or are other addresses of pages, for it to
	// be said of them all.
	EnoughAside = maxPages

	// doubtful is how many other addresses of pages one that may be something else outweighs, and mostDoubts how many of these make a family be visited for good
	// before it is left aside: however many are visited, chance alone would once bring enough others in a row.
	doubtful   = 2
	mostDoubts = 6
)

// family is what pages of one say, of one kind of what they may say: what they are for, or what PlainFamilyOf is about.
type family struct {
	key    Family
	params string   // of what PlainFamilyOf is about: the parameters that they leave out
	pages  []uint32 // prints of those that say it, or of those that others are other addresses of, at most EnoughAside
	listed bool     // one did not, or another thing
	doubts uint8    // how many may be something else, since it was left aside last; less than mostDoubts
}

// FamilyOf tells the family of pages that a URL belongs to by the path of what makes them and the names of its parameters; of those that say what is to
// be done (action=edit) by their values too, and by what stands before a colon, which is how wikis name their parts (Special:, User_talk:), or behind a
// number with a dot, which is how forums tell a post of a topic (topic=7.msg99) from a page of it (topic=7.15). Most pages are of none: a folder alone, as
// /blog/, is no more than where pages stand.
func FamilyOf(u canon.URL) Family {
	path, space := cutSpace(u.Path(), '/')
	query := u.Query()
	if query == "" && !space {
		return 0
	}
	var params []string
	for _, param := range paramsOf(query) {
		name, value, _ := strings.Cut(param, "=")
		if part, ok := cutSpace(value, 0); ok || verbs[name] {
			name += "=" + part
		} else if part := partOf(value); part != "" {
			name += "=." + part
		}
		params = append(params, name)
	}
	slices.Sort(params)
	hash := hashString(slotSeed, path)
	for _, param := range slices.Compact(params) {
		hash = hashString(hash, param)
	}
	return Family(mix(hash) | 1)
}

// verbs are parameters that say what is to be done with what the others name.
var verbs = map[string]bool{"action": true, "do": true, "op": true, "cmd": true, "mode": true, "view": true}

// Bare is a URL without the parameters that say what is to be done with what the others name. false: it has none of either.
func Bare(u canon.URL) (canon.URL, bool) {
	path, query, _ := strings.Cut(u.String(), "?")
	var kept []string
	all := 0
	for _, param := range paramsOf(query) {
		all++
		if name, _, _ := strings.Cut(param, "="); !verbs[name] {
			kept = append(kept, param)
		}
	}
	if len(kept) == 0 || len(kept) == all {
		return canon.URL{}, false
	}
	bare, err := canon.Parse(path + "?" + strings.Join(kept, config.ParamSeparator(query)))
	return bare, err == nil
}

// paramsOf are the parameters of a query, with their values.
func paramsOf(query string) []string { return strings.Split(query, config.ParamSeparator(query)) }

// partOf is what the letters say that stand in a value between a number with a dot and another number, or the end: "msg" of 7.msg99.
func partOf(value string) string {
	number, rest, _ := strings.Cut(value, ".")
	part := strings.TrimRight(rest, "0123456789")
	if number == "" || strings.Trim(number, "0123456789") != "" || strings.ContainsFunc(part, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' }) {
		return ""
	}
	return part
}

// cutSpace cuts a path or a value behind the first colon of it, percent-encoded or not, that something stands before in its segment, and tells
// whether there is one.
func cutSpace(s string, separator byte) (string, bool) {
	for i := range len(s) {
		if (s[i] == ':' || s[i] == '%' && strings.HasPrefix(s[i:], "%3A")) && i > 0 && s[i-1] != separator {
			return s[:i] + ":", true
		}
	}
	return s, false
}

// LeavesAside tells whether the pages of a family ask, all that were seen, for noindex and nofollow, or are other addresses of pages: they are not for
// readers, or for these there are those other pages, and lead nowhere else.
func (h *HostMemory) LeavesAside(key Family) bool {
	k := h.family(key)
	return k != nil && !k.listed && len(k.pages) >= EnoughAside
}

// Undecided tells whether what pages of a family say may still be news, where one says it with some parameters.
func (h *HostMemory) Undecided(key Family, params string) bool {
	k := h.family(key)
	return k == nil || !k.listed && (k.params != params || len(k.pages) < EnoughAside)
}

// Doubts takes note of a page of an undecided family that names, or leads to, another one of which nothing says that it is known without it, and tells
// whether that was news.
func (h *HostMemory) Doubts(key Family) bool {
	k := h.family(key)
	if k == nil || k.listed || len(k.pages) >= EnoughAside {
		return false
	}
	k.doubts++
	k.pages = k.pages[:max(len(k.pages)-doubtful, 0)]
	if k.doubts >= mostDoubts {
		*k = family{key: key, listed: true}
	}
	return true
}

// Tells takes note of whether a page of a family says a thing, and tells whether that was news: that it asks for noindex and nofollow or is another
// address of a page (then page is that one), without params; or that it leaves out params where it names another page as canonical.
func (h *HostMemory) Tells(key Family, page int64, says bool, params string) bool {
	k := h.family(key)
	print := printOf(page)
	switch {
	case key == 0, k != nil && k.listed, k == nil && len(h.families) >= maxFamilies && !(says && h.makeRoom()):
		return false
	case k == nil:
		h.families = append(h.families, family{key: key, params: params})
		k = &h.families[len(h.families)-1]
	case says && params == k.params && (len(k.pages) >= EnoughAside || slices.Contains(k.pages, print)):
		return false
	}
	if says && params == k.params {
		k.pages = append(k.pages, print)
		if len(k.pages) >= EnoughAside {
			k.doubts = 0
		}
	} else {
		*k = family{key: key, listed: true}
	}
	return true
}

// makeRoom forgets a family that is not left aside, or of which one page at most said something, and tells whether there was one: many are of a single page,
// as /product/17?variant=1 is. What is said of it is learned again from its pages if need be.
func (h *HostMemory) makeRoom() bool {
	at := slices.IndexFunc(h.families, func(k family) bool { return len(k.pages) <= 1 })
	if at >= 0 {
		h.families = slices.Delete(h.families, at, at+1)
	}
	return at >= 0
}

// Speaks tells whether what a page asks for is among what is known of its family.
func (h *HostMemory) Speaks(key Family, page int64) bool {
	k := h.family(key)
	return k != nil && slices.Contains(k.pages, printOf(page))
}

// Leaves forgets what a page that is there no more asked for, and tells whether that was known: others have to speak for its family then.
func (h *HostMemory) Leaves(key Family, page int64) bool {
	if !h.Speaks(key, page) {
		return false
	}
	k := h.family(key)
	k.pages = slices.DeleteFunc(k.pages, func(p uint32) bool { return p == printOf(page) })
	return true
}

func printOf(page int64) uint32 { return uint32(mix(uint64(page))) >> 11 } // three bytes of memory each

func (h *HostMemory) family(key Family) *family {
	for i := range h.families {
		if h.families[i].key == key {
			return &h.families[i]
		}
	}
	return nil
}
