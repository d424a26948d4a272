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
	workers, err := d.onlyOne(ctx, d.store.Workers)
	if err != nil {
		return err
	}
	newest, err := d.store.NewestInstant(ctx)
	if err != nil {
		return err
	}
	d.wrote(newest)
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

// onlyOne reads the workers, and refuses a name that a living one has, on another machine or, with another data directory, on this one: the
// lock guards the name in one directory alone, and two of one name would both drain the sinks. Whether one of another machine or container lives is
// seen when it beats again; where it does not, because its machine has just died and this one takes over, the name is free once it was silent for long.
func (d *daemon) onlyOne(ctx context.Context, read func(context.Context) ([]models.Worker, error)) ([]models.Worker, error) {
	workers, err := read(ctx)
	machine, nameless := os.Hostname()
	if err != nil || nameless != nil { // then there is nothing to compare
		return workers, err
	}
	for beat, waited := models.Instant(0), false; ; waited = true {
		other := d.namesake(workers, machine)
		if other == nil {
			return workers, nil
		}
		if other.Machine == machine && runsBeside(other.PID) || waited && other.RealBeatAt != beat {
			return nil, coded{exitLocked, fmt.Errorf("worker %q runs on %s already, as process %d: give this one another name (run --worker NAME, worker NAME)",
				other.Name, other.Machine, other.PID)}
		}
		if beat = other.RealBeatAt; !waited {
			d.log.Info("a worker of this name was alive a moment ago: it is waited whether it still is", "worker", other.Name, "machine", other.Machine)
		}
		if err := d.machine.SleepUntil(ctx, d.machine.Now().Add(beatEvery/2)); err != nil {
			return nil, err
		}
		if workers, err = read(ctx); err != nil {
			return nil, err
		}
	}
}

// namesake is the worker that has our name and lives, as far as its last beat tells; nil: none does. Of this machine, one whose process is gone
// does not. One with the id of ours may: of containers with one name of a host, in each of which the daemon is process 1, another one has it.
func (d *daemon) namesake(workers []models.Worker, machine string) *models.Worker {
	for i, w := range workers {
		if w.Name == d.start.Worker.Name && isAlive(w, d.machine.Now()) &&
			(w.Machine != machine || !d.alone() && (runsBeside(w.PID) || int(w.PID) == os.Getpid())) {
			return &workers[i]
		}
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
