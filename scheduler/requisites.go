package scheduler

import (
	"context"
	"time"
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
