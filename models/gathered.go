package models

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
)

// A page that names a style sheet by another URL each time it is read, as style.css?cb=4711, would add a page each time, for ever. So
// there is a bound to how many requisites a site gathers. What is known stays known and is visited as before; only what is new is not
// added.

// LeastRequisites is how many requisites a site may gather, however few pages it has.
const LeastRequisites = 10_000

const (
	requisitesPerPage = 100 // how many requisites a site of many pages may gather for each
	restingPerOne     = 10  // how many of those that rest count as one
)

// MostRequisites is how many requisites a site may gather that has so many pages which are none: 100 for each, and no fewer than least
// (LeastRequisites). It is math.MaxInt64 where that is no number any more.
func MostRequisites(pages, least int64) int64 {
	if pages > math.MaxInt64/requisitesPerPage {
		return math.MaxInt64
	}
	return max(least, requisitesPerPage*pages)
}

// SiteRequisites is how many requisites a site has.
type SiteRequisites struct {
	Pages   int64 // that are no requisites
	Kept    int64 // requisites that are visited
	Resting int64 // requisites that are gone, excluded or given up: hardly ever asked for
}

// RequisitesBySite is how many requisites the sites have by the counts of their pages (Store.PageCounts).
func RequisitesBySite(states []SiteState) map[int32]SiteRequisites {
	bySite := make(map[int32]SiteRequisites)
	for _, s := range states {
		r := bySite[s.SiteID]
		r.Pages += s.Pages - s.Requisites
		if s.State == StateGone || s.State == StateExcluded {
			r.Resting += s.Requisites
		} else {
			r.Kept += s.Requisites
		}
		bySite[s.SiteID] = r
	}
	return bySite
}

// Room is how many requisites more a site may gather, 0 or more; least is as for MostRequisites. Of those that rest ten count as one: the
// styles of former releases are to leave room for those of the next, and what requisites_filter drops for what it keeps.
func (r SiteRequisites) Room(least int64) int64 { return max(r.spare(least), 0) }

// spare is Room, negative where the site has more.
func (r SiteRequisites) spare(least int64) int64 {
	return MostRequisites(r.Pages, least) - r.Kept - r.Resting/restingPerOne
}

// Gathered holds the sites of a store to MostRequisites. How many requisites they have is counted now and then (Count), and in between
// what this process added is added to that. So a process keeps to the bound, and several pass it by what the others added since it
// counted last. Where nothing was counted yet a site is taken for one that has none. It is safe for concurrent use.
type Gathered struct {
	Least int64 // as for MostRequisites; 0: there is no bound. It is set before anything else.

	mu      sync.Mutex
	room    map[int32]int64    // guarded by mu, as all below; by site, when it was counted, negative where there was none
	counted map[int32]int64    // what of added was counted in room
	added   map[int32]int64    // by this process since it began
	pending map[int32]int64    // in transactions that have not ended
	refused map[int32][]string // the last URLs that were not added
}

// refusedKept is of how many requisites of a site that were not added the URLs are remembered.
const refusedKept = 50

// Count counts how many requisites the sites have, by what read finds.
func (g *Gathered) Count(read func() ([]SiteState, error)) error {
	if g.Least == 0 {
		return nil
	}
	g.mu.Lock()
	counted := maps.Clone(g.added) // of what is pending read may see any part, so it counts until the next time
	g.mu.Unlock()
	states, err := read()
	if err != nil {
		return err
	}
	room := make(map[int32]int64)
	for site, r := range RequisitesBySite(states) {
		room[site] = r.spare(g.Least)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.room, g.counted = room, counted
	return nil
}

// Refused are the URLs of the last requisites of a site that this process did not add because of the bound, at most 50.
func (g *Gathered) Refused(site int32) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.refused[site])
}

// Gathering is what one transaction adds. The nil one has no bound. It is not safe for concurrent use.
type Gathering struct {
	of    *Gathered
	taken map[int32]int64
}

// Begin begins a transaction, which is to End.
func (g *Gathered) Begin() *Gathering {
	if g.Least == 0 {
		return nil
	}
	return &Gathering{of: g}
}

// Add tells whether a page that is not known is added, and counts it then. Where a requisite leads is added beyond the bound, too, since a
// known one that moves would be lost else; but no more than Least, for where one leads to a signed address, that is another at each visit.
func (g *Gathering) Add(p *Page) bool {
	if g == nil || !p.Requisite {
		return true
	}
	of := g.of
	of.mu.Lock()
	defer of.mu.Unlock()
	least := int64(0)
	if len(p.Chain) > 0 {
		least = -of.Least
	}
	if of.left(p.SiteID) <= least {
		of.refuse(p)
		return false
	}
	if g.taken == nil {
		g.taken = make(map[int32]int64)
	}
	g.taken[p.SiteID]++
	of.pending = counting(of.pending, p.SiteID, 1)
	return true
}

// left is how many requisites more a site may gather, negative by how many it has too many.
func (g *Gathered) left(site int32) int64 {
	room, known := g.room[site]
	if !known {
		room = SiteRequisites{}.spare(g.Least)
	}
	return room - (g.added[site] - g.counted[site]) - g.pending[site]
}

func (g *Gathered) refuse(p *Page) {
	if g.refused == nil {
		g.refused = make(map[int32][]string)
	}
	urls := append(g.refused[p.SiteID], p.URL)
	g.refused[p.SiteID] = urls[max(len(urls)-refusedKept, 0):]
}

// End ends the transaction: what it added is there, or is not.
func (g *Gathering) End(written bool) {
	if g == nil || len(g.taken) == 0 {
		return
	}
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	for site, n := range g.taken {
		g.of.pending = counting(g.of.pending, site, -n)
		if written {
			g.of.added = counting(g.of.added, site, n)
		}
	}
	g.taken = nil
}

// counting is counts with n more of a site.
func counting(counts map[int32]int64, site int32, n int64) map[int32]int64 {
	if counts == nil {
		counts = make(map[int32]int64)
	}
	if counts[site] += n; counts[site] == 0 {
		delete(counts, site)
	}
	return counts
}

// CountRequisites counts again how many requisites the sites have, which Commit and AddPages hold to Options.Requisites. It reads what
// PageCounts does. Who adds calls it before, and now and then.
func (s *Store) CountRequisites(ctx context.Context) error {
	return s.gathered.Count(func() ([]SiteState, error) { return s.PageCounts(ctx) })
}

// RefusedRequisites is Gathered.Refused of what was added through this Store.
func (s *Store) RefusedRequisites(site int32) []string { return s.gathered.Refused(site) }
