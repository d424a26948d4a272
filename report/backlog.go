package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"recrawld/models"
)

// A repository shows each file at each commit, a calendar each day of each year, a shop each choice in each order: what a link leads to is new
// for longer than anybody waits. What tells such a site from one that was just added is how long its new pages wait at the pace of the week before.

// BacklogDays is over how many days that pace is.
const BacklogDays = 7

// What counts as a backlog: so many pages wait, for so many days. Of a site that had one it holds somewhat longer.
const (
	fewestWaiting = 1000
	longWait      = 60
	stillLong     = 45
)

// What is said of the pages that wait, where so many of them are in the sample: what has a share of them, the first few. A filter is offered for a
// parameter that shows in another way what is there without it: such a share of those that wait are known by their address without, as so many
// pages, it has hardly more values than these are, and each value on several of them. What has many values on few pages, as a wiki's titles on
// one, or values of its own on each, as the pictures of users, may tell apart all that the site has.
const (
	fewestSampled = 20
	backlogShare  = 0.1
	mostNamed     = 3
	fewestVisited = 20 // again
	viewOfKnown   = 0.1
	valuesOfViews = 1.25 // for each of these pages
	timesOfValue  = 2    // on the mean: of a site that is too large for the sample it has one page of each, whatever its values are
)

// backlogPart is a part of the pages that wait: by a parameter, or in a directory.
type backlogPart struct {
	param, place string
	pages        int
	known        int             // whose address without the parameter is that of a page
	bases        map[string]bool // these pages
	values       map[string]bool // of the parameter, where it is
	example      string          // the shortest
}

// has tells whether a URL belongs to the part.
func (p *backlogPart) has(raw string) bool {
	if p.param != "" {
		return slices.Contains(paramsOf(raw), p.param)
	}
	return firstPlace(raw) == p.place
}

// view tells whether the part shows once more what is known without it.
func (p *backlogPart) view() bool {
	return len(p.bases) >= fewestPages && float64(p.known) >= viewOfKnown*float64(p.pages) &&
		float64(len(p.values)) <= valuesOfViews*float64(len(p.bases)) && timesOfValue*len(p.values) <= p.known
}

func (p *backlogPart) name() string {
	if p.param != "" {
		return "have ?" + p.param + "= in their address"
	}
	return "lie below /" + p.place + "/"
}

// firstPlace is the first directory in the path of a URL that a glob can name as it is; "": none.
func firstPlace(raw string) string {
	if places := placesOf(raw); len(places) > 1 {
		return places[1]
	}
	return ""
}

// waitingOf are the pages of a sample that no visit has reached: one that was visited in vain is new as well.
func waitingOf(sample []models.Sampled) (waiting []models.Sampled) {
	for i := range sample {
		if isNew(&sample[i]) && sample[i].Visits == 0 {
			waiting = append(waiting, sample[i])
		}
	}
	return waiting
}

func isNew(p *models.Sampled) bool { return p.State == models.StateNew }

// Piles tells whether so many pages of a site wait that they may be a backlog, if they do so for days.
func (of *SampledSite) Piles() bool { return of.Waiting >= fewestWaiting }

// waits is for how many days the new pages of a site wait, and whether that is for too long. None is reached where it is 0.
func (of *SampledSite) waits() (days float64, long bool) {
	if of.First < 0 || !of.Piles() {
		return 0, false
	}
	if of.First == 0 {
		return 0, true
	}
	days, limit := float64(of.Waiting)*BacklogDays/float64(of.First), float64(longWait)
	if of.HadBacklog {
		limit = stillLong
	}
	return days, days >= limit
}

// FindBacklog tells of a site whose new pages wait for their first visit for months, by a uniform sample of its pages and by those of the pages
// without one parameter of theirs that are known, by their URLs (BacklogBases).
func FindBacklog(of SampledSite, sample []models.Sampled, known map[string]models.Sampled) (Unusual, bool) {
	days, long := of.waits()
	if !long {
		return Unusual{}, false
	}
	words := fmt.Sprintf("%s of %s pages wait for their first visit, ", Count(of.Waiting), Count(of.Pages))
	if days == 0 {
		words += fmt.Sprintf("and none of them had it in the last %d days", BacklogDays)
	} else {
		words += fmt.Sprintf("for about %s at the pace of the last %d days (%s)", backlogSpan(days), BacklogDays, Count(of.First))
	}
	waiting := waitingOf(sample)
	if parts := backlogParts(waiting, known); len(parts) > 0 {
		words += "; " + of.partsWords(parts, waiting, sample)
	}
	return Unusual{Site: of.Site, Kind: Backlog, Words: words}, true
}

// backlogSpan is how long something takes, in days or years.
func backlogSpan(days float64) string {
	if days < 1000 {
		return Plural(int64(math.Round(days)), "day")
	}
	return Plural(int64(math.Round(days/365.25)), "year")
}

// partsWords says which pages wait, and by which filter those among them that show once more what is known are left out.
func (of *SampledSite) partsWords(parts []backlogPart, waiting, sample []models.Sampled) string {
	var said []string
	var views []variantPart
	for i := range parts {
		p := &parts[i]
		share := Share(int64(p.pages), int64(len(waiting)))
		if i == 0 {
			said = append(said, fmt.Sprintf("%s of them %s (%s)", share, p.name(), shortURL(p.example)))
		} else {
			said = append(said, share+" "+p.name())
		}
		if p.view() {
			views = append(views, variantPart{param: p.param})
		}
	}
	words := strings.Join(said, ", ")
	if len(views) == 0 {
		return words + ". A filter leaves out what is not wanted"
	}
	again, changed := 0, 0
	for i := range sample {
		p := &sample[i]
		if p.Records > 1 && slices.ContainsFunc(views, func(v variantPart) bool { return v.has(p.URL) }) {
			again++
			if p.Changes > 0 {
				changed++
			}
		}
	}
	filter := variantFilter(of.Filter, views)
	words += fmt.Sprintf(". filter: %s leaves out those with %s, other views of what is known without if they are not its further pages or languages",
		filter.String(), namesOf(views))
	if again >= fewestVisited {
		words += fmt.Sprintf("; of %s of the sample that were visited again %s changed", Count(again), Count(changed))
	}
	return words
}

// backlogParts are the parts that most of the pages that wait belong to, each page to one: before others those that show once more what is known.
func backlogParts(waiting []models.Sampled, known map[string]models.Sampled) (parts []backlogPart) {
	if len(waiting) < fewestSampled {
		return nil
	}
	rest, least := slices.Clone(waiting), backlogShare*float64(len(waiting))
	for len(parts) < mostNamed {
		var best *backlogPart
		all := sumBacklog(rest, known)
		for _, key := range slices.SortedFunc(maps.Keys(all), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
			p := all[key]
			if float64(p.pages) >= least && (best == nil || p.before(best)) {
				best = p
			}
		}
		if best == nil {
			break
		}
		parts = append(parts, *best)
		rest = slices.DeleteFunc(rest, func(p models.Sampled) bool { return best.has(p.URL) })
	}
	slices.SortStableFunc(parts, func(a, b backlogPart) int { return cmp.Compare(b.pages, a.pages) })
	return parts
}

// before orders parts: views first, by how many are known without the parameter, then the largest, then those by a parameter.
func (p *backlogPart) before(o *backlogPart) bool {
	if p.view() != o.view() {
		return p.view()
	}
	if p.view() && p.known != o.known {
		return p.known > o.known
	}
	return p.pages > o.pages || p.pages == o.pages && p.param != "" && o.param == ""
}

// sumBacklog counts pages by parameter, and by directory those that have none.
func sumBacklog(waiting []models.Sampled, known map[string]models.Sampled) map[[2]string]*backlogPart {
	all := make(map[[2]string]*backlogPart)
	add := func(param, place, raw string) *backlogPart {
		key := [2]string{param, place}
		if all[key] == nil {
			all[key] = &backlogPart{param: param, place: place, bases: make(map[string]bool), values: make(map[string]bool), example: raw}
		}
		p := all[key]
		p.pages++
		p.example = slices.MinFunc([]string{raw, p.example}, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		return p
	}
	for i := range waiting {
		raw := waiting[i].URL
		for _, param := range paramsOf(raw) {
			p := add(param, "", raw)
			base := without(raw, param)
			if of, is := known[base]; !is || of.State != models.StateLive && of.State != models.StateNew {
				continue
			}
			p.known++
			p.bases[base], p.values[valuesOf(raw, param)] = true, true
		}
		if place := firstPlace(raw); place != "" {
			add("", place, raw)
		}
	}
	return all
}

// BacklogBases are the URLs without one parameter of the pages that wait, where they do for too long, with the buckets in which they are known if
// they are.
func BacklogBases(of SampledSite, sample []models.Sampled) map[string]int16 {
	bases := make(map[string]int16)
	if _, long := of.waits(); !long {
		return bases
	}
	for _, p := range waitingOf(sample) {
		for _, param := range paramsOf(p.URL) {
			bases[without(p.URL, param)] = p.Bucket
		}
	}
	return bases
}
