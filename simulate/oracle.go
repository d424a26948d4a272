package simulate

import (
	"context"
	"math"
	"time"

	"recrawld/models"
)

// oracle is the store of a simulation whose due times come from the true average change rates: a page is due when a visit
// is worth the price, w/λ·g(λτ) = price (see KnownRates), and the price follows what the visits made were worth. So the
// page whose turn comes is the one that a visit is worth most to, as with a greedy choice among all pages.
type oracle struct {
	mortal
	replay *Replay
	pages  []Source
	last   []models.Instant
	due    []models.Due // as they stand in the store
	price  float64      // natural logarithm
	sorted float64      // the price by which the due times in the store were computed
}

func newOracle(s Setup, r *Replay, m *Memory) *oracle {
	o := &oracle{mortal: mortal{m}, replay: r, pages: s.Sources,
		last: make([]models.Instant, len(s.Trace.Pages)), due: make([]models.Due, len(s.Trace.Pages))}
	if o.pages == nil {
		o.pages = sources(s.Trace)
	}
	o.price = math.Log(KnownRates(o.pages, s.PerDay, nil).Price)
	o.sorted = o.price
	return o
}

// sources are the pages of a trace with their true average rates over their lives.
func sources(t *Trace) []Source {
	pages := make([]Source, len(t.Pages))
	for i := range t.Pages {
		l := &t.Pages[i]
		pages[i].Weight = l.weight()
		if life := days(l.End(t) - l.Born); life > 0 {
			pages[i].PerDay = float64(len(l.Changes)) / life
		}
	}
	return pages
}

// place sets the due time of a page that is born.
func (o *oracle) place(p *models.Page, i int32) {
	o.last[i] = p.Stats.VisitedAt
	p.DueAt = o.dueAt(i)
	o.due[i] = models.Due{Bucket: p.Bucket, HostID: p.HostID, PageID: p.ID, Visits: p.Visits, FRMax: p.FRMax, Wanted: p.Wanted,
		Rule: p.Rule, DueAt: p.DueAt}
}

// dueAt is when the page is worth the price. Pages that never are come last, in the order of their last visits.
func (o *oracle) dueAt(i int32) models.Instant {
	every := o.pages[i].every(math.Exp(o.price))
	never := float64(farCeiling / (24 * time.Hour))
	return max(o.last[i]+models.Instant(min(every, never)*24*3600*1000), o.last[i]+1)
}

// Commit implements scheduler.Store.
func (o *oracle) Commit(ctx context.Context, now time.Time, results []models.Result) ([]error, error) {
	for i := range results {
		page := o.replay.index[results[i].Page.ID]
		o.value(page, results[i].Visit.At)
		results[i].Page.DueAt = o.dueAt(page)
		o.due[page].Visits, o.due[page].DueAt = results[i].Page.Visits, results[i].Page.DueAt
	}
	verdicts, err := o.mortal.Commit(ctx, now, results)
	if err == nil && math.Abs(o.price-o.sorted) > 0.05 {
		err = o.sort(ctx)
	}
	return verdicts, err
}

// smooth is the share of a visit's worth in the price.
const smooth = 0.02

// value takes a visit into the price.
func (o *oracle) value(i int32, at models.Instant) {
	s := o.pages[i]
	if s.PerDay > 0 && at > o.last[i] {
		worth := s.Weight / s.PerDay * gOf(s.PerDay*days(at-o.last[i]))
		o.price += smooth * min(max(math.Log(worth)-o.price, -1), 1)
	}
	o.last[i] = at
}

// sort computes all due times by the present price.
func (o *oracle) sort(ctx context.Context) error {
	o.sorted = o.price
	moved := make([]models.Due, 0, len(o.due))
	for i := range o.due {
		if d := &o.due[i]; d.PageID != 0 {
			d.DueAt = o.dueAt(int32(i))
			moved = append(moved, *d)
		}
	}
	return o.Reschedule(ctx, moved)
}
