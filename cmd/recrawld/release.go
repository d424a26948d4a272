package main

import (
	"context"
	"errors"
	"fmt"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// What a later release makes of the tables an earlier one cannot read: its workers would hold hosts and results for ever, or write rows that
// lack what the later one counts on. So tables are brought up to date only by a daemon, and where nobody is at work on them, and who finds that they were
// meanwhile, since it was frozen or cut off for so long that it was taken for dead, ends.

// makeTables makes the tables of an empty database, and refuses one of an earlier release with models.ErrOlderSchema.
func makeTables(ctx context.Context, store *models.Store) error {
	step, err := store.Behind(ctx)
	if err != nil {
		return fmt.Errorf("look at the schema: %w", err)
	}
	if step > 0 {
		return store.CheckSchema(ctx)
	}
	return store.Migrate(ctx, clock.System{}.Now())
}

// migrate brings the schema up to date, unless a worker of an earlier release is at work. It may have to write a large table anew, so it
// says so before.
func (g *globals) migrate(ctx context.Context, store *models.Store) error {
	step, err := store.Behind(ctx)
	if err != nil {
		return fmt.Errorf("look at the schema: %w", err)
	}
	if step > 0 {
		if step, err = g.untilNobodyIsAtWork(ctx, lookAtWork(store)); err != nil {
			return err
		}
	}
	if step > 0 {
		g.Log.Warn("the database is of an earlier release and is brought up to date: where there are millions of pages this takes "+
			"minutes, and meanwhile as much room on the disk again", "step", step)
	}
	return store.Migrate(ctx, clock.System{}.Now())
}

// lookAtWork looks at the beats of all workers, and then at the step that the tables are at, as Store.Behind tells it: a worker of this
// release beats behind its last step.
func lookAtWork(store *models.Store) func(context.Context) ([]models.Worker, int, error) {
	return func(ctx context.Context) ([]models.Worker, int, error) {
		workers, err := store.Beats(ctx)
		if err != nil {
			return nil, 0, err
		}
		step, err := store.Behind(ctx)
		return workers, step, err
	}
}

// untilNobodyIsAtWork returns the step that the tables are at, 0 where another process has brought them up to date meanwhile, or an error
// that names a worker that is at work. One that did not say that it ended is watched: it is at work if it beats again, and dead where it does
// not for as long as others take it for alive. When it beat last, where, and as which process tells nothing: clocks differ, and of containers
// each may have the same name and process.
func (g *globals) untilNobodyIsAtWork(ctx context.Context, look func(context.Context) ([]models.Worker, int, error)) (step int, err error) {
	workers, step, err := look(ctx)
	first := make(beats)
	for _, w := range workers {
		first[w.Name] = w.RealBeatAt
	}
	machine := clock.System{}
	until, said := machine.Now().Add(alive), false
	for ; err == nil && step > 0; workers, step, err = look(ctx) {
		atWork, silent := first.since(workers)
		if atWork != nil {
			return step, fmt.Errorf("the database is of an earlier release, at step %d of its tables: worker %s on %s, process %d, is at work, and could "+
				"not go on with what this release makes of them: stop it and all others first, or use its own release; nothing is changed",
				step, atWork.Name, atWork.Machine, atWork.PID)
		}
		if silent == nil || !machine.Now().Before(until) {
			return step, nil
		}
		if !said {
			g.Log.Info("a worker of an earlier release has not said that it ended: it is watched for "+config.FormatDuration(alive)+
				" whether it is at work", "worker", silent.Name, "machine", silent.Machine)
			said = true
		}
		if err := machine.SleepUntil(ctx, machine.Now().Add(beatEvery/2)); err != nil {
			return step, err
		}
	}
	return step, err
}

// beats are when workers beat last, by their names, at the first look at them.
type beats map[string]models.Instant

// since returns a worker that has beaten since then, and one that has not and did not say that it ended; nil: there is none.
func (b beats) since(workers []models.Worker) (atWork, silent *models.Worker) {
	for i, w := range workers {
		switch {
		case w.RealBeatAt == 0:
		case w.RealBeatAt != b[w.Name]:
			atWork = &workers[i]
		default:
			silent = &workers[i]
		}
	}
	return atWork, silent
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
