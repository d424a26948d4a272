package report

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"recrawld/config"
	"recrawld/models"
)

// Some sites have each page by many addresses: for printing, with an answer begun, sorted, in a session, of each commit of a repository. What tells such
// a variant from a page of its own is what visits saw: the page whose address lacks the parameter is known, and says the same. A parameter that
// tells topics or products apart has pages that say something else each, or none without it, so it is never taken for one of variants.

const (
	fewestPages = 5  // without the parameter
	fewestStill = 15 // variants of a site that had too many, less than of any other
	mostParts   = 8  // of a filter
)

// variantBar is what counts as too many variants.
type variantBar struct {
	fewest int     // of a sample that were visited; and of so many pages, fewestPages
	share  float64 // of the site's pages
	known  float64 // of the variants: the page without the parameter is
	same   float64 // say what that one says
	alone  float64 // at most: say something of their own
	never  float64 // at most: at values that never say anything else, as far as they were seen
}

// variantBarOf is the one for a site that had too many when was looked before, or had not. Of one that had it holds until there are clearly fewer: a page more
// or less, and variants that were not visited since their pages changed, as such are rarely, would else be told of as the end of it, and days later as its
// beginning.
func variantBarOf(had bool) variantBar {
	if had {
		return variantBar{fewest: fewestStill, share: 0.075, known: 0.8, same: 0.5, alone: 0.1, never: 0.04}
	}
	return variantBar{fewest: 20, share: 0.1, known: 0.9, same: 0.6, alone: 0.05, never: 0.02}
}

// What variants alone say is lost with them. It may be next to nothing, and not at values that always say something of their own, as far as they
// were seen. Or it lies at values, of which there are many, that for other pages say the same, as former versions of files do at each commit; where
// it lies at values of its own, as the second page of topics and other languages do, these are no variants, however many the others are.
const (
	seenTimes   = 3   // a value was seen, so often at least
	elsewhere   = 0.4 // of the other pages at the value of one that says something of its own, in the mean
	fewestMixed = 10  // values with one
)

// variantPart is the variants by one parameter, in all of a site or in a directory.
type variantPart struct {
	param, place string
	variantSum
}

// variantSum counts, of a sample, pages with a parameter.
type variantSum struct {
	pages, visited int
	known          int // the page without it is
	same           int // which says the same
	own            int // nobody else says what they say
	visits         int64
	bases          map[string]bool // the first addresses without it
	example        string          // of own
	values         map[string]*valueSum
}

// valueSum counts the pages of one value.
type valueSum struct{ visited, same, own int }

// FindVariants tells of a site where much of what is visited is the same once more, by a uniform sample of its pages and by those of the pages
// without one parameter of theirs that are known, by their URLs (VariantBases).
func FindVariants(of SampledSite, sample []models.Sampled, known map[string]models.Sampled) (Unusual, bool) {
	bar := variantBarOf(of.HadVariants)
	parts, left := variantParts(sample, known, bar)
	if n := len(sample) - left; n < bar.fewest || float64(n) < bar.share*float64(len(sample)) {
		return Unusual{}, false
	}
	return Unusual{Site: of.Site, Kind: Variants, Words: variantWords(of, sample, parts)}, true
}

// variantParts are the parts of a filter that leaves the variants out, the largest first, and how many pages it leaves. What one part leaves out
// counts for no other.
func variantParts(sample []models.Sampled, known map[string]models.Sampled, bar variantBar) (parts []variantPart, left int) {
	rest := slices.Clone(sample)
	for len(parts) < mostParts {
		best, found := bestPart(rest, known, bar)
		if !found {
			break
		}
		parts = append(parts, best)
		rest = slices.DeleteFunc(rest, func(p models.Sampled) bool { return best.has(p.URL) })
	}
	return parts, len(rest)
}

// has tells whether the filter leaves out a URL because of this part.
func (v *variantPart) has(raw string) bool {
	if v.place != "" && !slices.Contains(placesOf(raw), v.place) {
		return false
	}
	return slices.Contains(paramsOf(raw), v.param)
}

// bestPart is the part of a site that has the most variants.
func bestPart(sample []models.Sampled, known map[string]models.Sampled, bar variantBar) (best variantPart, found bool) {
	for key, sum := range sumVariants(sample, known) {
		if !sum.enough(bar) || found && !sum.before(key, &best) {
			continue
		}
		best, found = variantPart{key[0], key[1], *sum}, true
	}
	return best, found
}

// enough tells whether the pages that have the parameter are variants.
func (s *variantSum) enough(bar variantBar) bool {
	n := float64(s.visited)
	return s.visited >= bar.fewest && len(s.bases) >= fewestPages && float64(s.known) >= bar.known*n && float64(s.same) >= bar.same*n && s.spares(bar)
}

// spares tells whether little is lost by leaving the pages out that have the parameter, or what is lost has nothing to do with its value.
func (s *variantSum) spares(bar variantBar) bool {
	never, mixed, of, same := 0, 0, 0, 0.0
	for _, value := range slices.Sorted(maps.Keys(s.values)) { // in order, for sums of fractions depend on it
		v := s.values[value]
		if v.own == v.visited && v.own >= seenTimes {
			never += v.own
		}
		if v.own > 0 && v.visited > 1 {
			mixed, of = mixed+1, of+v.own
			same += float64(v.own) * float64(v.same) / float64(v.visited-1)
		}
	}
	few := float64(s.own) <= bar.alone*float64(s.visited) && float64(never) <= bar.never*float64(s.visited)
	return few || mixed >= fewestMixed && same >= elsewhere*float64(of)
}

// before orders parts: the more pages the better, and all of the site before a directory of it.
func (s *variantSum) before(key [2]string, o *variantPart) bool {
	if s.pages != o.pages {
		return s.pages > o.pages
	}
	return slices.Compare(key[:], []string{o.param, o.place}) < 0
}

// sumVariants counts by parameter and directory; the directory "" is all of the site.
func sumVariants(sample []models.Sampled, known map[string]models.Sampled) map[[2]string]*variantSum {
	sums := make(map[[2]string]*variantSum)
	for i := range sample {
		p := &sample[i]
		params := paramsOf(p.URL)
		if len(params) == 0 {
			continue
		}
		places := placesOf(p.URL)
		for _, param := range params {
			base, value := without(p.URL, param), valuesOf(p.URL, param)
			for _, place := range places {
				key := [2]string{param, place}
				if sums[key] == nil {
					sums[key] = &variantSum{bases: make(map[string]bool), values: make(map[string]*valueSum)}
				}
				sums[key].add(p, base, value, known)
			}
		}
	}
	return sums
}

func (s *variantSum) add(p *models.Sampled, base, value string, known map[string]models.Sampled) {
	s.pages++
	s.visits += int64(p.Visits)
	says := p.Says()
	if says == "" {
		return
	}
	v := s.values[value]
	if v == nil {
		v = new(valueSum)
		s.values[value] = v
	}
	s.visited, v.visited = s.visited+1, v.visited+1
	if len(s.bases) < fewestPages {
		s.bases[base] = true
	}
	of, is := known[base]
	is = is && (of.State == models.StateLive || of.State == models.StateNew) // and does not lead elsewhere itself, as to a log-in
	switch {
	case is && (says == base || says == of.Says()):
		s.same, v.same = s.same+1, v.same+1
	case says == p.URL:
		s.own, v.own = s.own+1, v.own+1
		if s.example == "" || len(p.URL) < len(s.example) {
			s.example = p.URL
		}
	}
	if is {
		s.known++
	}
}

// VariantBases are the URLs without one parameter of those pages of a sample that may turn out to be variants, with the buckets in which they
// are known if they are. Of a site whose pages each say something of their own there are none.
func VariantBases(sample []models.Sampled) map[string]int16 {
	first := variantsFirst(sample)
	may := make(map[[2]string]bool)
	for key, sum := range sumVariants(sample, nil) {
		may[key] = sum.visited >= fewestStill && sum.visited-sum.own+first[key[0]] >= sum.visited/4
	}
	bases := make(map[string]int16)
	for i := range sample {
		p := &sample[i]
		for _, param := range paramsOf(p.URL) {
			if slices.ContainsFunc(placesOf(p.URL), func(place string) bool { return may[[2]string{param, place}] }) {
				bases[without(p.URL, param)] = p.Bucket
			}
		}
	}
	return bases
}

// variantsFirst counts, by parameter, the pages that say what a variant of theirs said first.
func variantsFirst(sample []models.Sampled) map[string]int {
	first := make(map[string]int)
	for i := range sample {
		p := &sample[i]
		if says := p.Says(); says != "" && says != p.URL {
			for _, param := range paramsOf(says) {
				if without(says, param) == p.URL {
					first[param]++
				}
			}
		}
	}
	return first
}

// mostParams is how many parameters of a URL are looked at.
const mostParams = 8

// paramsOf are the names of the parameters of a URL that a configuration can name, each once.
func paramsOf(raw string) []string {
	_, query, _ := strings.Cut(raw, "?")
	var names []string
	for pair := range strings.SplitSeq(query, config.ParamSeparator(query)) {
		if name := paramName(pair); config.PlainParam(name) && !slices.Contains(names, name) && len(names) < mostParams {
			names = append(names, name)
		}
	}
	return names
}

// paramName is the name in a part of a query, as filters read it.
func paramName(pair string) string {
	name, _, _ := strings.Cut(pair, "=")
	if plain, err := url.QueryUnescape(name); err == nil {
		return plain
	}
	return name
}

// without is a URL without a parameter.
func without(raw, param string) string {
	path, query, _ := strings.Cut(raw, "?")
	var kept []string
	separator := config.ParamSeparator(query)
	for pair := range strings.SplitSeq(query, separator) {
		if paramName(pair) != param {
			kept = append(kept, pair)
		}
	}
	if len(kept) == 0 {
		return path
	}
	return path + "?" + strings.Join(kept, separator)
}

// mostPlaces is how many directories of a path are looked at.
const mostPlaces = 4

// placesOf are "" and the names of the first directories in the path of a URL that a glob can name as they are, each once.
func placesOf(raw string) []string {
	places := []string{""}
	path, _, _ := strings.Cut(raw, "?")
	parts := strings.Split(path, "/") // "https:", "", the host, the directories, and the last name
	for _, part := range parts[min(3, len(parts)):max(min(3, len(parts)), len(parts)-1)] {
		if plainPlace(part) && !slices.Contains(places, part) && len(places) <= mostPlaces {
			places = append(places, part)
		}
	}
	return places
}

func plainPlace(name string) bool {
	return name != "" && len(name) <= 40 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-") == ""
}
