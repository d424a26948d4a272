package scheduler

import (
	"context"
	"time"

	"recrawld/scheduler/changerate"
)

// Foresight is how well the adaptive policy foresaw, since the worker was made, whether its visits would see a change.
// It is safe for concurrent use.
func (w *Worker) Foresight() changerate.Foresight {
	w.mind.mu.Lock()
	defer w.mind.mu.Unlock()
	return w.mind.judged
}

// Weights is a copy of what the adaptive policy has learned of all pages together. It is safe for concurrent use.
func (w *Worker) Weights() *changerate.Weights {
	w.mind.mu.Lock()
	defer w.mind.mu.Unlock()
	return w.mind.weights.Clone()
}

// Recount counts the pages known now, instead of within some minutes, where a budget is for each of them. It is for a
// worker that does not run yet.
func (w *Worker) Recount(ctx context.Context) error {
	w.purses.mu.Lock()
	w.purses.counted = time.Time{}
	w.purses.mu.Unlock()
	return w.purses.count(ctx, w.Clock.Now())
}
