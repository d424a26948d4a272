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

// variantFilter keeps what a filter keeps but for the variants.
func variantFilter(had config.Filter, parts []variantPart) config.Filter {
	var wide config.Filter // of all of the site
	var either []config.Filter
	places := make(map[string][]string)
	for _, part := range parts {
		if part.place == "" {
			wide.Param = append(wide.Param, part.param)
			continue
		}
		places[part.param] = append(places[part.param], "**/"+part.place+"/**")
	}
	if len(wide.Param) > 0 {
		slices.Sort(wide.Param)
		either = append(either, wide)
	}
	for _, param := range slices.Sorted(maps.Keys(places)) {
		slices.Sort(places[param])
		either = append(either, config.Filter{All: []config.Filter{{Glob: places[param]}, {Param: []string{param}}}})
	}
	left := either[0]
	if len(either) > 1 {
		left = config.Filter{Any: either}
	}
	not := config.Filter{Not: &left}
	switch {
	case had.IsZero():
		return not
	case len(had.All) > 0:
		return config.Filter{All: append(slices.Clone(had.All), not)}
	}
	return config.Filter{All: []config.Filter{had, not}}
}

// variantWords says what was found and the way out.
func variantWords(of SampledSite, sample []models.Sampled, parts []variantPart) string {
	var sum variantSum
	visits := int64(0)
	for i := range sample {
		visits += int64(sample[i].Visits)
	}
	for _, p := range parts {
		sum.pages, sum.visited, sum.same, sum.own, sum.visits = sum.pages+p.pages, sum.visited+p.visited, sum.same+p.same, sum.own+p.own, sum.visits+p.visits
		if sum.example == "" || p.example != "" && len(p.example) < len(sum.example) {
			sum.example = p.example
		}
	}
	filter := variantFilter(of.Filter, parts)
	text := fmt.Sprintf("%s have %s in their address, and %s of those visited say what the page without it says; %s of the site's visits went to them. filter: %s leaves them out",
		countOf(of, len(sample), sum.pages), namesOf(parts), Share(int64(sum.same), int64(sum.visited)), Share(sum.visits, visits), filter.String())
	if sum.own == 0 {
		return text
	}
	return text + fmt.Sprintf(", and with them what %s of them alone say, such as %s", Share(int64(sum.own), int64(sum.visited)), shortURL(sum.example))
}

// shortURL is a URL as far as a sentence has room for it.
func shortURL(raw string) string { return OneLine(raw, 160) }

// countOf is how many pages of a site n of a sample are.
func countOf(of SampledSite, sample, n int) string {
	if int64(sample) >= of.Pages {
		return fmt.Sprintf("%s of %s pages", Count(n), Count(sample))
	}
	about := float64(n) / float64(sample) * float64(of.Pages)
	unit := math.Pow(10, max(0, math.Floor(math.Log10(about))-1)) // two digits that count
	return fmt.Sprintf("about %s of %s pages (%s of a sample of %s)", Count(int64(math.Round(about/unit)*unit)), Count(of.Pages),
		Share(int64(n), int64(sample)), Count(sample))
}

// namesOf are the parameters of parts, with the directories that they are of.
func namesOf(parts []variantPart) string {
	places := make(map[string][]string)
	for _, part := range parts {
		if places[part.param] = append(places[part.param], "/"+part.place+"/"); part.place == "" {
			places[part.param] = nil
		}
	}
	var names []string
	for _, param := range slices.Sorted(maps.Keys(places)) {
		name := "?" + param + "="
		if below := slices.Sorted(slices.Values(places[param])); len(below) > 0 {
			name += " below " + strings.Join(below, " and ")
		}
		names = append(names, name)
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
