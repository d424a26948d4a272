package scheduler

import (
	"context"
	"errors"

	"recrawld/models"
)

// runInline is Run without goroutines: with a virtual clock it is the simulator.
func (w *Worker) runInline(ctx context.Context) error {
	c := w.committer()
	var err error
	claiming, stop := context.WithCancel(ctx)
	defer stop()
	w.loop(claiming, func(l models.Lease) {
		arrivals := make(chan *finished, len(l.Pages)*(maxRobotsTurns+1)+1)
		w.visitHost(ctx, l, arrivals)
		close(arrivals)
		if err == nil {
			err = c.run(ctx, arrivals)
		}
		if err != nil {
			stop()
		}
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
