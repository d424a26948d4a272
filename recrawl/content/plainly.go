package content

import (
	"slices"
	"strings"

	"recrawld/config"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
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
	for _, param := range paramsOf(canonical.Query()) {
		has[nameOf(param)] = true
	}
	var names []string
	for _, param := range paramsOf(u.Query()) {
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
	query := paramsOf(u.Query())
	kept := slices.DeleteFunc(slices.Clone(query), func(param string) bool { return slices.Contains(out, nameOf(param)) })
	if len(kept) == len(query) {
		return u
	}
	address := u.Origin() + u.Path()
	if len(kept) > 0 {
		address += "?" + strings.Join(kept, config.ParamSeparator(u.Query()))
	}
	plainly, err := canon.Parse(address)
	if err != nil {
		return u
	}
	return plainly
}

// LeaveOut is a URL without some parameters, as PlainParams names them.
func LeaveOut(u canon.URL, params string) canon.URL {
	if params == "" || u.Query() == "" {
		return u
	}
	return without(u, params)
}

// IsCounted tells whether a link of a page leads to its own address with another number for one of some parameters, as those of a list to its further pages do.
func IsCounted(at, link canon.URL, params string) bool {
	if params == "" || link == at || link.Path() != at.Path() || LeaveOut(link, params) != LeaveOut(at, params) {
		return false
	}
	own, names := paramsOf(at.Query()), strings.Split(params, "&")
	return slices.ContainsFunc(paramsOf(link.Query()), func(param string) bool {
		name, value, _ := strings.Cut(param, "=")
		return slices.Contains(names, name) && !slices.Contains(own, param) && value != "" && strings.Trim(value, "0123456789") == ""
	})
}

// PlainFamilyOf tells the family of pages of which it is noted which parameters they leave out of their own address where they name another one as
// canonical; 0: none. It is narrower than FamilyOf: a value without a digit, as in route=product/special, says what makes the page rather than what it is about,
// unless it is a language's or says by what a list is ordered.
func PlainFamilyOf(u canon.URL) Family {
	key := FamilyOf(u)
	if key == 0 || u.Query() == "" {
		return 0
	}
	hash := uint64(key) ^ 1
	params := paramsOf(u.Query())
	slices.Sort(params)
	for _, param := range slices.Compact(params) {
		name, value, _ := strings.Cut(param, "=")
		if !strings.ContainsAny(value, "0123456789") && !isLanguage(value) && !extract.NamesOrder(name, value) {
			hash = hashString(hash, param)
		}
	}
	return Family(mix(hash) | 1)
}

// isLanguage tells the tag of a language, as en or pt-BR (BCP 47), of two letters and two of a region.
func isLanguage(s string) bool {
	language, region, both := s, "", len(s) == 5 && (s[2] == '-' || s[2] == '_')
	if both {
		language, region = s[:2], s[3:]
	}
	isLetters := func(s string) bool {
		return strings.IndexFunc(s, func(r rune) bool { return r|' ' < 'a' || r|' ' > 'z' }) < 0
	}
	return len(language) == 2 && isLetters(language) && isLetters(region)
}

// Plainly is the URL that stands for another one: without the parameters of it that are idle, and without those that all pages of its family that were seen
// leave out of the address that they name as canonical; false: there is none.
func (h *HostMemory) Plainly(u canon.URL) (canon.URL, bool) {
	if len(h.families) == 0 {
		return canon.URL{}, false
	}
	plainly := h.withoutIdle(u)
	if k := h.family(PlainFamilyOf(plainly)); k != nil && !k.listed && len(k.pages) >= EnoughAside {
		plainly = without(plainly, k.params)
	}
	return plainly, plainly != u
}
