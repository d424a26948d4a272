package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// A site with hashed names of assets brings new ones with each release, and the old ones may answer for years. So now and then it is looked
// which requisites no page names any more (unnamed), and these are visited no more.

const (
	// unnamedEvery is how long after one pass over all pages the next begins, by the daemon's clock.
	unnamedEvery = 7 * 24 * time.Hour
	// unnamedNote is the name of the note in which the workers agree who passes over them.
	unnamedNote = "unnamed"
	// heldKept is of how many sites it is remembered, and said, that nothing of them was given up.
	heldKept = 100
)

// unnamedTurn is what the note holds.
type unnamedTurn struct {
	Ended models.Instant      `json:"ended"` // the last pass; 0: none has
	Held  map[int32]heldNames `json:"held"`  // sites of which it unnamed nothing, nor gave up

	choreHold
}

// rests tells whether it is not time yet for the next pass.
func (t *unnamedTurn) rests(now time.Time, hold, every time.Duration) bool {
	return t.Ended != 0 && !tooFarAhead(t.Ended, now, hold) && now.Sub(t.Ended.Time()) < every
}

// claim takes the pass for a worker, where it is time and nobody else does it.
func (t *unnamedTurn) claim(name string, now time.Time, hold, every time.Duration) bool {
	if t.rests(now, hold, every) || !t.free(name, now, hold) {
		return false
	}
	t.take(name, now, hold)
	return true
}

// followUnnamed passes over all pages where it is time to look which requisites no page names.
func (d *daemon) followUnnamed(ctx context.Context, now time.Time) error {
	if _, sure := d.agesBy(now); !sure {
		return nil
	}
	return d.passUnnamed(ctx, now, max(unnamedEvery, d.clock.Real(time.Minute)))
}

func (d *daemon) passUnnamed(ctx context.Context, now time.Time, every time.Duration) error {
	note, err := d.store.Note(ctx, unnamedNote)
	turn, hold := fromNote[unnamedTurn](note), d.clock.Real(requisitesHold)
	if err != nil || turn.rests(now, hold, every) {
		return err
	}
	counts, err := d.store.PageCounts(ctx)
	if err != nil {
		return err
	}
	some := false
	for _, r := range models.RequisitesBySite(counts) {
		some = some || r.Kept+r.Resting > 0
	}
	if !some {
		return nil
	}
	mine, name := false, d.start.Worker.Name
	err = d.store.Merge(ctx, unnamedNote, func(old []byte) []byte {
		turn = fromNote[unnamedTurn](old)
		if mine = turn.claim(name, now, hold, every); !mine {
			return nil
		}
		return toNote(turn)
	})
	if err != nil || !mine {
		return err
	}
	pace := unhurried{began: clock.System{}.Now()}
	u := newUnnamed(d.store, d.past, d.force.Load(), counts, now, func(ctx context.Context) (bool, error) {
		if d.clock.Now().After(turn.Until.Time().Add(-hold + hold/10)) { // it rests for nine minutes at most
			if going, err := d.holdUnnamed(ctx, &turn, hold); err != nil || !going {
				return false, err
			}
		}
		return true, pace.rest(ctx)
	})
	ended, err := u.run(ctx, d.clock.Now)
	if err != nil {
		return fmt.Errorf("look which requisites no page names: %w", err)
	}
	if !ended {
		return nil
	}
	return d.endUnnamed(ctx, u)
}

// holdUnnamed says that this worker still passes over the pages. false: another one does.
func (d *daemon) holdUnnamed(ctx context.Context, turn *unnamedTurn, hold time.Duration) (going bool, err error) {
	err = d.store.Merge(ctx, unnamedNote, func(old []byte) []byte {
		t := fromNote[unnamedTurn](old)
		if going = t.By == turn.By; !going {
			return nil
		}
		t.take(t.By, d.clock.Now(), hold)
		turn.Until = t.Until
		return toNote(t)
	})
	return going, err
}

// endUnnamed says that the pass was ended, and what it found.
func (d *daemon) endUnnamed(ctx context.Context, u *unnamed) error {
	f := &u.found
	d.log.Info("looked which requisites no page names", "requisites", f.requisites, "read", f.read, "undecided", f.undecided, "unnamed", f.unnamed,
		"given_up", f.givenUp, "named_again", f.again)
	names, kept := siteNames(u.force.rows), make(map[int32]heldNames)
	for _, site := range slices.Sorted(maps.Keys(u.held)) {
		h := u.held[site]
		if len(kept) == heldKept {
			break
		}
		kept[site] = h
		d.log.Warn("no requisite that the site would keep is given up: what one of its pages names cannot be told", "site", names[site], "page", h.Page,
			"why", h.Why)
	}
	return d.store.Merge(ctx, unnamedNote, func([]byte) []byte {
		return toNote(unnamedTurn{Ended: models.At(d.clock.Now()), Held: kept})
	})
}
