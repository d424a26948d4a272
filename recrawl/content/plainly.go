package content

import (
	"slices"
	"strings"

	"recrawld/recrawl/canon"
)

// maxPlainParams is how long the names of the parameters that a family leaves out are at most, in bytes.
const maxPlainParams = 48

// PlainParams is which parameters have to be left out of a URL for it to be another one, their names sorted with "&" between them: those of its query
// that the other's has not, the rest of both being the same, in the same order. "": it is that by no parameters left out.
func PlainParams(u, canonical canon.URL) string {
	if u.Origin() != canonical.Origin() || u.Path() != canonical.Path() || u == canonical {
		return ""
	}
	has := make(map[string]bool)
	for param := range strings.SplitSeq(canonical.Query(), "&") {
		has[nameOf(param)] = true
	}
	var names []string
	for param := range strings.SplitSeq(u.Query(), "&") {
		if name := nameOf(param); !has[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	params := strings.Join(slices.Compact(names), "&")
	if len(params) > maxPlainParams || without(u, params) != canonical {
		return ""
	}
	return params
}

func nameOf(param string) string {
	name, _, _ := strings.Cut(param, "=")
	return name
}

// without is a URL without some parameters, as PlainParams names them; the URL itself where it has none of them.
func without(u canon.URL, params string) canon.URL {
	out := strings.Split(params, "&")
	query := strings.Split(u.Query(), "&")
	kept := slices.DeleteFunc(slices.Clone(query), func(param string) bool { return slices.Contains(out, nameOf(param)) })
	if len(kept) == len(query) {
		return u
	}
	address := u.Origin() + u.Path()
	if len(kept) > 0 {
		address += "?" + strings.Join(kept, "&")
	}
	plainly, err := canon.Parse(address)
	if err != nil {
		return u
	}
	return plainly
}

// plain is the family as to which parameters its pages leave out of their own address where they name another one as canonical.
func (k Family) plain() Family { return Family(mix(uint64(k)^1) | 1) }

// Plainly is the URL that all pages of its family that were seen would name as canonical in its place; false: they name none, or not enough were seen.
func (h *HostMemory) Plainly(u canon.URL) (canon.URL, bool) {
	if len(h.families) == 0 {
		return canon.URL{}, false
	}
	k := h.family(FamilyOf(u).plain())
	if k == nil || k.listed || len(k.pages) < EnoughAside {
		return canon.URL{}, false
	}
	plainly := without(u, k.params)
	return plainly, plainly != u
}

// AsksPlain tells whether it is of use to know if a page that leaves out such parameters says what the other one does.
func (h *HostMemory) AsksPlain(key Family, params string) bool {
	k := h.family(key.plain())
	return k == nil || !k.listed && (k.params != params || len(k.pages) < EnoughAside)
}

// TellsPlain takes note of the parameters that a page of a family leaves out where it names another one as canonical, which says the same, and tells
// whether that was news. "": it does not leave out any: then nothing is said of its family.
func (h *HostMemory) TellsPlain(key Family, page int64, params string) bool {
	return h.tells(key.plain(), page, params != "", params)
}

// SpeaksPlain tells whether what a page leaves out is among what is known of its family, of which enough were seen.
func (h *HostMemory) SpeaksPlain(key Family, page int64) bool {
	return h.LeavesAside(key.plain()) && h.Speaks(key.plain(), page)
}

// LeavesPlain forgets what a page that is there no more left out, and tells whether that was known.
func (h *HostMemory) LeavesPlain(key Family, page int64) bool { return h.Leaves(key.plain(), page) }
