package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

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
		w.closed(&turn.lease.Host)
	}, func() {})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// closed takes note of until when a host that was just visited may not be asked again: it may be the one that the budget is
// to be spent on next, and no page of it need be due by then.
func (w *Worker) closed(h *models.Host) {
	at, now := max(h.OpenAt, h.BackoffUntil), w.Clock.Now()
	if at <= models.At(now) {
		return
	}
	w.opens(now)
	place, _ := slices.BinarySearch(w.opening, at)
	w.opening = slices.Insert(w.opening, place, at)
}

// opens is when the first of the hosts visited may be asked again that may not be now; zero where there is none. With
// fetchers nobody takes note of that: their loop looks again soon anyway.
func (w *Worker) opens(now time.Time) time.Time {
	for len(w.opening) > 0 && !w.opening[0].Time().After(now) {
		w.opening = w.opening[1:]
	}
	if len(w.opening) == 0 {
		return time.Time{}
	}
	return w.opening[0].Time()
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
