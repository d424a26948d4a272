package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler"
	"recrawld/scheduler/load"
)

// turns keeps the requests of a survey a delay apart from each other and, where there is a database, from those of the daemon,
// which leaves the host alone meanwhile.
type turns struct {
	store  *models.Store // nil: there is none yet
	daemon clock.Clock   // the daemon's
	own    clock.System

	openAt     time.Time   // by own; no request before
	rests      time.Time   // by own; the host asked to be left alone until then
	load       models.Load // of the host
	overloaded bool        // it says so
}

// A host that a worker holds is asked for again so soon. What wants to be left alone for longer than longestRest is not waited
// for.
const (
	heldAgain   = 50 * time.Millisecond
	longestRest = time.Minute
)

// openTurns opens the database of a configuration, if there is one. The caller closes it.
func (g *globals) openTurns(ctx context.Context, c *config.Config) (*turns, error) {
	t := &turns{daemon: clock.System{}}
	store, err := g.openStore(ctx, c)
	switch {
	case exitCode(err) == exitNotFound:
		return t, nil
	case err == nil:
		err = store.Close()
	default: // perhaps of an earlier release; what else it is, is said where it is opened for writing
		err = nil
	}
	if err == nil {
		t.store, err = g.openStoreForWriting(ctx, c)
	}
	if err == nil {
		t.daemon, err = clockOf(ctx, t.store)
	}
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (t *turns) close() error {
	if t.store == nil {
		return nil
	}
	return t.store.Close()
}

// begin waits until a request to a host may be made, which takes so long at most.
func (t *turns) begin(ctx context.Context, host string, takes time.Duration) (models.Slot, error) {
	if rest := t.rests.Sub(t.own.Now()); rest > longestRest {
		return models.Slot{}, wantsRest(host, rest)
	}
	if err := t.own.SleepUntil(ctx, later(t.openAt, t.rests)); err != nil || t.store == nil {
		return models.Slot{}, err
	}
	for {
		now := t.daemon.Now()
		slot, err := t.store.Book(ctx, host, now, t.daemon.Real(takes))
		if err != nil {
			return models.Slot{}, err
		}
		rest := slot.At.Sub(now)
		switch {
		case slot.Booked:
			if err := t.daemon.SleepUntil(ctx, slot.At); err != nil {
				return models.Slot{}, errors.Join(err, t.give(ctx, slot, time.Time{}, time.Time{}))
			}
			return slot, nil
		case rest > t.daemon.Real(longestRest):
			return models.Slot{}, wantsRest(host, rest)
		}
		if err := t.daemon.SleepUntil(ctx, now.Add(max(rest, t.daemon.Real(heldAgain)))); err != nil {
			return models.Slot{}, err
		}
	}
}

// end takes note of what a request came to, under the settings of its site.
func (t *turns) end(ctx context.Context, slot models.Slot, s *config.Settings, out *models.Outcome) error {
	if out.Sent == 0 {
		return t.give(ctx, slot, time.Time{}, time.Time{})
	}
	rule := scheduler.DelayRule(s, out.Delay)
	t.load = load.Next(t.load, out, true, rule)
	t.overloaded = t.overloaded || load.Overloaded(out)
	now, delay := t.own.Now(), load.Delay(t.load, rule)
	t.openAt = now.Add(delay)
	var rests time.Time
	if !out.RetryAfter.IsZero() {
		t.rests = out.RetryAfter
		rests = t.daemon.Now().Add(t.daemon.Real(t.rests.Sub(now)))
	}
	return t.give(ctx, slot, t.daemon.Now().Add(delay), rests)
}

// give ends a slot, also where the command is being ended.
func (t *turns) give(ctx context.Context, slot models.Slot, opens, rests time.Time) error {
	if t.store == nil {
		return nil
	}
	return t.store.EndSlot(context.WithoutCancel(ctx), slot, opens, rests)
}

// left is how long the host is still to be left alone.
func (t *turns) left() time.Duration { return max(later(t.openAt, t.rests).Sub(t.own.Now()), 0) }

func wantsRest(host string, rest time.Duration) error {
	return fmt.Errorf("%s wants to be left alone for another %s, after errors or as its Retry-After says: add it then", host, report.Span(rest))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
