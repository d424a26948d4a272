package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"recrawld/config"
	"recrawld/models"
)

// fullUntil is which share of the requisites that a site may gather must be free again until it does not count as full any more.
const fullUntil = 0.01

// FindFull tells of a site that has as many requisites as it may gather (models.MostRequisites), by how many it has and by the URLs of the last
// that were not added, which may be none; was tells whether it was full before.
func FindFull(site int32, r models.SiteRequisites, refused []string, was bool) (Unusual, bool) {
	room, most := r.Room(models.LeastRequisites), models.MostRequisites(r.Pages, models.LeastRequisites)
	if room > 0 && (!was || float64(room) >= fullUntil*float64(most)) {
		return Unusual{}, false
	}
	return Unusual{Site: site, Kind: Requisites, Words: FullWords(r) + "; " + wayOut(refused)}, true
}

// FullWords says that a site has as many requisites as it may gather.
func FullWords(r models.SiteRequisites) string {
	words := Plural(r.Kept+r.Resting, "requisite")
	if r.Resting > 0 {
		words += fmt.Sprintf(" (%s of them gone or excluded)", Count(r.Resting))
	}
	return words + " for " + Plural(r.Pages, "page") + ": no new ones are kept"
}

// What most URLs have in common is said of so many at least, and is in such a share of them.
const (
	fewestShared = 10
	sharedBy     = 0.8
)

// wayOut names the setting that leaves out what was not added: by a parameter that most of that has, each with another value, if there is one.
func wayOut(refused []string) string {
	if name, n := commonParam(refused); n > 0 {
		return fmt.Sprintf("requisites_filter: { not: { param: [%s] } } leaves out those whose query has %s, as %d of the last %d that were not kept have",
			name, name, n, len(refused))
	}
	words := "requisites_filter says which are, such as { not: { param: [cb] } }: those whose query has no cb"
	if len(refused) > 0 {
		words += "; the last that was not kept is " + shortURL(refused[len(refused)-1])
	}
	return words
}

// commonParam is the parameter that the most of the URLs have, and how many of them; 0: none is in most of them, with another value in most.
func commonParam(urls []string) (name string, n int) {
	if len(urls) < fewestShared {
		return "", 0
	}
	has, values := make(map[string]int), make(map[string]map[string]bool)
	for _, text := range urls {
		for _, param := range paramsOf(text) {
			if values[param] == nil {
				values[param] = make(map[string]bool)
			}
			has[param]++
			values[param][valuesOf(text, param)] = true
		}
	}
	most := int(math.Ceil(sharedBy * float64(len(urls))))
	for _, param := range slices.Sorted(maps.Keys(has)) {
		if has[param] >= most && len(values[param]) >= most && has[param] > n {
			name, n = param, has[param]
		}
	}
	return name, n
}

// valuesOf is what a parameter is in a URL, all of it where it stands there more than once.
func valuesOf(raw, param string) string {
	_, query, _ := strings.Cut(raw, "?")
	var values []string
	for pair := range strings.SplitSeq(query, config.ParamSeparator(query)) {
		if paramName(pair) == param {
			values = append(values, pair)
		}
	}
	return strings.Join(values, "&")
}
