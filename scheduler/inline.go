package scheduler

import (
	"context"
	"errors"

	"recrawld/models"
)

// runInline is Run without goroutines: with a virtual clock it is the simulator.
func (w *Worker) runInline(ctx context.Context) error {
	c, visits := w.committer(), new(pile)
	var err error
	var turn hostTurn // used again by each lease
	claiming, stop := context.WithCancel(ctx)
	defer stop()
	w.loop(claiming, func(l models.Lease) {
		turn.begin(w, l, visits, nil)
		w.visitHost(ctx, &turn)
		if err == nil && len(visits.done) > 0 {
			err = c.commit(ctx, visits.done)
		}
		if err != nil {
			stop()
		}
		visits.clear()
	}, func() {})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// pile is the delivery of a worker without fetchers: the visits of a lease, committed together when it ends. They are
// large, and a simulation makes millions of them one after the other, so each is used again.
type pile struct {
	done, spare []*finished
}

func (p *pile) blank() *finished {
	if last := len(p.spare) - 1; last >= 0 {
		f := p.spare[last]
		p.spare = p.spare[:last]
		return f
	}
	return new(finished)
}

func (p *pile) deliver(f *finished) { p.done = append(p.done, f) }

// clear makes what was delivered blank again.
func (p *pile) clear() {
	p.spare = append(p.spare, p.done...)
	p.done = p.done[:0]
}
