package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// What a later release makes of the tables an earlier one cannot read: its workers would hold hosts and results for ever, or write rows that
// lack what the later one counts on. So tables are brought up to date only where nobody is at work on them, and who finds that they were
// meanwhile, since it was frozen or cut off for so long that it was taken for dead, ends.

// migrate brings the schema up to date, unless a worker of an earlier release is at work. It may have to write a large table anew, so it
// says so before.
func (g *globals) migrate(ctx context.Context, store *models.Store) error {
	step, err := store.Behind(ctx)
	if err != nil {
		return fmt.Errorf("look at the schema: %w", err)
	}
	if step > 0 {
		if step, err = g.untilNobodyIsAtWork(ctx, store, step); err != nil {
			return fmt.Errorf("the database is of an earlier release, at step %d of its tables: %w", step, err)
		}
	}
	if step > 0 {
		g.Log.Warn("the database is of an earlier release and is brought up to date: where there are millions of pages this takes "+
			"minutes, and meanwhile as much room on the disk again", "step", step)
	}
	return store.Migrate(ctx, clock.System{}.Now())
}

// untilNobodyIsAtWork returns the step that the tables are at, 0 where another process has brought them up to date meanwhile, or an error
// that names a worker that is alive. One that was a moment ago is waited for: until it beats again, or was silent for so long that it is dead.
func (g *globals) untilNobodyIsAtWork(ctx context.Context, store *models.Store, step int) (now int, err error) {
	machine, err := machineOf(ctx, store)
	if err != nil {
		return step, err
	}
	host, _ := os.Hostname() // without it no process of this machine is known to be gone, and is waited for
	first := make(map[string]models.Instant)
	for {
		workers, err := store.Beats(ctx)
		if err != nil {
			return step, err
		}
		if step, err = store.Behind(ctx); err != nil || step == 0 { // asked last: one of this release beats behind its last step
			return step, err
		}
		living := stillAlive(workers, host, machine.Now())
		if len(living) == 0 {
			return step, nil
		}
		for _, w := range living {
			beat, seen := first[w.Name]
			if seen && beat != w.RealBeatAt {
				return step, fmt.Errorf("worker %s on %s, process %d, is at work, and could not go on with what this release makes of them: "+
					"stop it and all others first, or use its own release; nothing is changed", w.Name, w.Machine, w.PID)
			}
			first[w.Name] = w.RealBeatAt
		}
		if err := machine.SleepUntil(ctx, machine.Now().Add(beatEvery/2)); err != nil {
			return step, err
		}
	}
}

// stillAlive are the workers that are alive as far as their beats tell, but for processes of this machine that are gone.
func stillAlive(workers []models.Worker, host string, now time.Time) (living []models.Worker) {
	for _, w := range workers {
		if isAlive(w, now) && (w.Machine != host || runsBeside(w.PID)) {
			living = append(living, w)
		}
	}
	return living
}

// endForLater ends with an error when a later release has brought the tables up to date. A database that does not answer is no reason to.
func (d *daemon) endForLater(ctx context.Context) error {
	for d.machine.SleepUntil(ctx, d.machine.Now().Add(beatEvery)) == nil {
		if err := d.store.CheckSchema(ctx); errors.Is(err, models.ErrNewerSchema) {
			return unusable(&d.start, err)
		}
	}
	return nil
}
