package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// anchorKey is where the database keeps the clock that its workers share.
const anchorKey = "clock"

// setClock chooses the clock, and takes back the leases of a daemon that died where nobody else can hold any.
func (d *daemon) setClock(ctx context.Context) error {
	known, err := d.followServer(ctx)
	if err != nil {
		return err
	}
	workers, err := d.store.Workers(ctx)
	if err != nil {
		return err
	}
	newest, err := d.store.NewestInstant(ctx)
	if err != nil {
		return err
	}
	d.wrote(newest)
	if err := d.onlyOne(workers); err != nil {
		return err
	}
	others := false
	for _, name := range livingWorkers(workers, d.machine.Now()) {
		others = others || name != d.start.Worker.Name
	}
	if d.anchor, err = d.shareAnchor(ctx, others); err != nil {
		return err
	}
	d.clock = d.machine.Anchored(d.anchor)
	d.began = d.clock.Now()
	if since := d.began.Sub(newest.Time()); newest > 0 && since > away {
		d.ages.leapt(since, d.began)
	}
	if !known {
		return nil // what we held runs out by itself
	}
	owner := d.start.Worker.Name
	if d.alone() {
		owner = "" // whoever held a host held it in this data directory, which is ours now
	}
	recovered, err := d.store.Recover(ctx, d.began, owner)
	if recovered > 0 {
		d.log.Info("hosts were held by a worker that is gone; they are free again", "hosts", recovered)
	}
	return err
}

// onlyOne refuses a name that a living worker has, on another machine or, with another data directory, on this one: the
// lock guards the name in one directory alone, and two of one name would both drain the sinks.
func (d *daemon) onlyOne(workers []models.Worker) error {
	machine, err := os.Hostname()
	if err != nil {
		return nil // nothing to compare
	}
	for _, w := range workers {
		if w.Name != d.start.Worker.Name || !isAlive(w, d.machine.Now()) || w.Machine == machine && (d.alone() || !runsBeside(w.PID)) {
			continue
		}
		return coded{exitLocked, fmt.Errorf("worker %q runs on %s already, as process %d: give this one another name (run --worker NAME, worker NAME)",
			w.Name, w.Machine, w.PID)}
	}
	return nil
}

// runsBeside tells whether another process of this machine has an id.
func runsBeside(pid int32) bool {
	if pid <= 0 || int(pid) == os.Getpid() {
		return false
	}
	err := syscall.Kill(int(pid), 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// shareAnchor chooses the clock's anchor and keeps it for other workers and for commands. Of workers that choose at
// once all take the choice of one.
func (d *daemon) shareAnchor(ctx context.Context, others bool) (clock.Anchor, error) {
	kept, old, err := readAnchor(ctx, d.store)
	if err != nil {
		return clock.Anchor{}, err
	}
	chosen, err := d.flags.anchor()
	if err == nil && chosen == (clock.Anchor{}) {
		chosen, err = clockChoice{now: d.machine.Now(), speed: d.flags.Speed, kept: kept, newest: d.newestWritten().Time(),
			others: others}.choose()
	}
	if err != nil || chosen == kept {
		return chosen, err
	}
	text, err := json.Marshal(chosen)
	if err != nil {
		return clock.Anchor{}, fmt.Errorf("keep the clock: %w", err)
	}
	current, err := d.store.SetMeta(ctx, anchorKey, old, string(text))
	if err != nil || current == string(text) {
		return chosen, err
	}
	var winner clock.Anchor
	if err := json.Unmarshal([]byte(current), &winner); err != nil {
		return clock.Anchor{}, fmt.Errorf("the clock in the database: %w", err)
	}
	if winner.Speed != d.flags.Speed {
		return clock.Anchor{}, usagef("another worker of this database has just begun with %s", speedFlag(winner.Speed))
	}
	return winner, nil
}

// readAnchor is the anchor that the database keeps, zero where the machine's clock is used, and its text.
func readAnchor(ctx context.Context, store *models.Store) (clock.Anchor, string, error) {
	text, err := store.Meta(ctx, anchorKey)
	if err != nil || text == "" {
		return clock.Anchor{}, text, err
	}
	var anchor clock.Anchor
	if err := json.Unmarshal([]byte(text), &anchor); err != nil {
		return clock.Anchor{}, text, fmt.Errorf("the clock in the database: %w", err)
	}
	return anchor, text, nil
}

// clockOf is the clock of the daemon that works, or last worked, on a database, for commands: a rehearsal that has ended
// stands still at its last beat.
func clockOf(ctx context.Context, store *models.Store) (clock.Clock, error) {
	machine, err := machineOf(ctx, store)
	if err != nil {
		return nil, err
	}
	return clockOn(ctx, store, machine)
}

// clockOn is clockOf by the clock that the workers take for the machine's.
func clockOn(ctx context.Context, store *models.Store, machine clock.System) (clock.Clock, error) {
	anchor, _, err := readAnchor(ctx, store)
	if err != nil || anchor.Speed == 0 {
		return machine, err
	}
	workers, err := store.Workers(ctx)
	if err != nil {
		return nil, err
	}
	if len(livingWorkers(workers, machine.Now())) > 0 {
		return machine.Anchored(anchor), nil
	}
	newest, err := store.NewestInstant(ctx)
	if err != nil {
		return nil, err
	}
	return stopped(newest.Time()), nil
}

// stopped is a clock that no longer runs.
func stopped(at time.Time) clock.Clock { return clock.NewVirtual(at) }
