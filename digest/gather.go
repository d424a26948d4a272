package digest

import (
	"cmp"
	"slices"

	"recrawld/models"
)

// Found is what happened to a page, all its events of the time put together, or to a site that was removed.
type Found struct {
	models.Event       // the last one; of changes in a row it is from the first one's Previous on, with the greatest Significance
	Times        int   // how many changes these are, one behind the other; of a new page one more than it had since; else 1
	Pages        int64 // of a site that was removed; else 1
}

// weight orders what is found: what happened to a whole page weighs as much as a change can, a new page half of that, and so does a change
// that was never weighed.
func (f *Found) weight() float32 {
	switch {
	case f.Kind == models.EventChanged && f.Significance == 0 && f.Reasons == 0, f.Kind == models.EventNew:
		return 0.5
	case f.Kind == models.EventChanged, f.Kind == models.EventRefreshed:
		return f.Significance
	}
	return 1
}

// Tally is how many pages of a site something happened to, by the last that did.
type Tally map[models.EventKind]int64

// Gather puts the events of each page together and keeps those that weigh most. It holds the pages of one bucket and a few times as many
// as it keeps. It is not safe for concurrent use; the zero value keeps none.
type Gather struct {
	Most int // how many it keeps

	bucket int16
	open   map[int64]*Found // of the bucket, by page
	order  []*Found         // as they came
	kept   []Found
	gone   map[int32]*Found // sites that were removed
	tally  map[int32]Tally
}

// Add takes an event. Those of a bucket come one after another and in order.
func (g *Gather) Add(e models.Event) {
	if g.tally == nil {
		g.open, g.gone, g.tally = map[int64]*Found{}, map[int32]*Found{}, map[int32]Tally{}
	}
	if e.Bucket != g.bucket {
		g.flush()
		g.bucket = e.Bucket
	}
	switch e.Kind {
	case models.EventRemoved:
		if f := g.gone[e.SiteID]; f == nil {
			g.gone[e.SiteID] = &Found{Event: e, Times: 1, Pages: 1}
		} else {
			f.Pages++
		}
		return
	case models.EventTemplate: // of the host, not of the page that showed it
		g.order = append(g.order, &Found{Event: e, Times: 1, Pages: 1})
		return
	}
	f := g.open[e.PageID]
	if f == nil {
		f = &Found{Event: e, Pages: 1}
		g.open[e.PageID], g.order = f, append(g.order, f)
	}
	f.join(e)
}

// join adds a later event of the page.
func (f *Found) join(e models.Event) {
	f.Times++
	first := f.Event
	f.Event = e
	copies := e.Kind == models.EventChanged || e.Kind == models.EventRefreshed
	switch {
	case !copies:
		f.Times = 1
	case first.Kind == models.EventNew: // it is that to whoever reads of it first
		f.Kind, f.Previous = models.EventNew, 0
		if e.Kind == models.EventRefreshed { // it says what it said
			f.Times--
		}
	case first.Kind == models.EventChanged || first.Kind == models.EventRefreshed:
		f.Kind, f.Previous = min(first.Kind, e.Kind), first.Previous // a change is one, whatever came behind it
		f.Significance = max(first.Significance, e.Significance)
		f.Reasons |= first.Reasons
	default:
		f.Times = 1
	}
}

// flush has done with a bucket.
func (g *Gather) flush() {
	for _, f := range g.order {
		g.count(f.SiteID, f.Kind, 1)
		g.kept = append(g.kept, *f)
	}
	clear(g.open)
	g.order = g.order[:0]
	if len(g.kept) > 4*g.Most {
		g.cut()
	}
}

func (g *Gather) count(site int32, kind models.EventKind, pages int64) {
	if g.tally[site] == nil {
		g.tally[site] = Tally{}
	}
	g.tally[site][kind] += pages
}

// cut leaves what weighs most, of the same weight what is newest.
func (g *Gather) cut() {
	slices.SortStableFunc(g.kept, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(b.At, a.At), cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Seq, b.Seq))
	})
	g.kept = g.kept[:min(len(g.kept), g.Most)]
}

// Found is what weighs most of all that was added, that first, and how many pages of each site something happened to. A site that was
// removed is one Found, and always among them.
func (g *Gather) Found() ([]Found, map[int32]Tally) {
	g.flush()
	g.cut()
	removed := make([]Found, 0, len(g.gone))
	for _, f := range g.gone {
		removed = append(removed, *f)
	}
	slices.SortFunc(removed, func(a, b Found) int { return cmp.Compare(a.SiteID, b.SiteID) })
	return append(removed, g.kept...), g.tally
}
