package scheduler

import (
	"context"
	"time"

	"recrawld/models"
)

// lastCount is when the store counted the requisites of the sites last.
type lastCount struct {
	at   time.Time
	rest time.Duration // how long not to count again
}

// countRequisites has the store count the requisites of the sites where some are kept, as often as purses.count counts pages: that is how
// long a worker does not know what others added, and so by how much they may pass the bound together.
func (w *Worker) countRequisites(ctx context.Context, now time.Time) error {
	t := &w.counted
	if !w.planner.Load().gathers || !t.at.IsZero() && now.Sub(t.at) < t.rest && !now.Before(t.at) {
		return nil
	}
	if err := w.Store.CountRequisites(ctx); err != nil {
		return err
	}
	t.at, t.rest = now, max(w.Clock.Real(recount), recountShare*w.Clock.Now().Sub(now))
	return nil
}

// givenUpDetail says why a page is not visited that no page names.
func givenUpDetail(p *models.Page) string {
	return "no page names it, since " + p.UnnamedAt.Time().UTC().Format(time.DateOnly)
}

// givenUp keeps what we have of a requisite that no page names any more, and is due never: whoever finds it named makes it due. What is gone
// stays that.
func (d *draft) givenUp() {
	d.Page.Failures, d.Page.Class = 0, models.ClassNone
	d.Page.DueAt, d.Page.Rule = 0, models.RuleUnnamed
	if d.before.State == models.StateGone {
		return
	}
	d.Page.State, d.Page.Note = models.StateExcluded, d.out.Detail
	d.Page.MissingSince, d.Page.MissingVisits = 0, 0
	if d.before.State != models.StateExcluded {
		d.event(models.EventExcluded)
	}
}
