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
// which requisites no page names any more (unneeded), and these are visited no more.

const (
	// unneededEvery is how long after one pass over all pages the next begins, by the daemon's clock.
	unneededEvery = 7 * 24 * time.Hour
	// unneededNote is the name of the note in which the workers agree who passes over them.
	unneededNote = "unneeded"
	// heldKept is of how many sites it is remembered, and said, that nothing of them was given up.
	heldKept = 100
)

// unneededTurn is what the note holds.
type unneededTurn struct {
	By    string              `json:"by"`    // who passes over the pages; "": nobody
	Until models.Instant      `json:"until"` // unless it is not heard of again
	Ended models.Instant      `json:"ended"` // the last pass; 0: none has
	Held  map[int32]heldNames `json:"held"`  // sites of which it unnamed nothing, nor gave up
}

// rests tells whether it is not time yet for the next pass. An end that lies ahead is of a clock that was ahead.
func (t *unneededTurn) rests(now time.Time, every time.Duration) bool {
	since := now.Sub(t.Ended.Time())
	return t.Ended != 0 && since >= 0 && since < every
}

// claim takes the pass for a worker, where it is time and nobody else does it.
func (t *unneededTurn) claim(name string, now time.Time, hold, every time.Duration) bool {
	// A claim that lasts longer than any that is made now is of a clock that was ahead.
	left := t.Until.Time().Sub(now)
	if t.rests(now, every) || t.By != "" && t.By != name && left > 0 && left <= hold {
		return false
	}
	t.By, t.Until = name, models.At(now.Add(hold))
	return true
}

// followUnneeded passes over all pages where it is time to look which requisites no page names.
func (d *daemon) followUnneeded(ctx context.Context, now time.Time) error {
	if _, sure := d.agesBy(now); !sure {
		return nil
	}
	return d.passUnneeded(ctx, now, max(unneededEvery, d.clock.Real(time.Minute)))
}

func (d *daemon) passUnneeded(ctx context.Context, now time.Time, every time.Duration) error {
	note, err := d.store.Note(ctx, unneededNote)
	turn := fromNote[unneededTurn](note)
	if err != nil || turn.rests(now, every) {
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
	mine, name, hold := false, d.start.Worker.Name, d.clock.Real(requisitesHold)
	err = d.store.Merge(ctx, unneededNote, func(old []byte) []byte {
		turn = fromNote[unneededTurn](old)
		if mine = turn.claim(name, now, hold, every); !mine {
			return nil
		}
		return toNote(turn)
	})
	if err != nil || !mine {
		return err
	}
	pace := unhurried{began: clock.System{}.Now()}
	u := newUnneeded(d.store, d.past, d.force.Load(), counts, now, func(ctx context.Context) (bool, error) {
		if d.clock.Now().After(turn.Until.Time().Add(-hold + hold/10)) { // it rests for nine minutes at most
			if going, err := d.holdUnneeded(ctx, &turn, hold); err != nil || !going {
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
	return d.endUnneeded(ctx, u)
}

// holdUnneeded says that this worker still passes over the pages. false: another one does.
func (d *daemon) holdUnneeded(ctx context.Context, turn *unneededTurn, hold time.Duration) (going bool, err error) {
	err = d.store.Merge(ctx, unneededNote, func(old []byte) []byte {
		t := fromNote[unneededTurn](old)
		if going = t.By == turn.By; !going {
			return nil
		}
		t.Until = models.At(d.clock.Now().Add(hold))
		turn.Until = t.Until
		return toNote(t)
	})
	return going, err
}

// endUnneeded says that the pass was ended, and what it found.
func (d *daemon) endUnneeded(ctx context.Context, u *unneeded) error {
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
	return d.store.Merge(ctx, unneededNote, func([]byte) []byte {
		return toNote(unneededTurn{Ended: models.At(d.clock.Now()), Held: kept})
	})
}
