package scheduler

import (
	"context"
	"sync/atomic"
	"time"

	"recrawld/clock"
)

// alarm ends the sleeps of a worker's loop. ring is safe for concurrent use; the rest is for the loop alone.
type alarm struct {
	rang atomic.Bool                        // since the loop began to look
	end  atomic.Pointer[context.CancelFunc] // of the present sleep's context; nil: the loop is awake
}

// ring ends the present sleep, or lets the next one not begin.
func (a *alarm) ring() {
	a.rang.Store(true) // first: who goes to sleep now sees it, or we see the sleep
	if end := a.end.Load(); end != nil {
		(*end)()
	}
}

// listen begins a look: what rings from now on keeps the loop awake.
func (a *alarm) listen() { a.rang.Store(false) }

// bed is the context for sleeps of a loop, good until it rings during one of them, and how it is ended.
func bed(ctx context.Context) (context.Context, *context.CancelFunc) {
	sleep, end := context.WithCancel(ctx)
	return sleep, &end
}

// sleep sleeps in a bed until then, or until it rings; not at all where it rang since the loop began to look.
func (a *alarm) sleep(ctx context.Context, end *context.CancelFunc, c clock.Clock, until time.Time) {
	a.end.Store(end)
	if !a.rang.Load() {
		_ = c.SleepUntil(ctx, until) // rung, stopped or slept: the next round looks
	}
	a.end.Store(nil)
}
