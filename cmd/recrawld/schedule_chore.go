package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler"
)

// A page waits for a moment that was chosen at its last visit, which may be months away. Whoever changes the cycle, a policy, fr_max or a
// window means the pages that wait, too: they are rescheduled.

const (
	// scheduleEvery is how often, in real time, it is looked whether the settings that due times follow have changed.
	scheduleEvery = 10 * time.Second
	// scheduleSlice is how many pages are read at a time.
	scheduleSlice = 1000
	// scheduledNote is the name of the note that has what all due times follow. With a worker's name behind it, it has the worker's settings
	// as they were when it last looked: while workers get a new configuration one after the other, only one whose own has changed acts. One
	// that has no note yet, such as a container that is named anew with each start, holds its settings against those that all follow.
	scheduledNote = "scheduled"
)

// pacings is what due times follow, by site (scheduler.Pacing).
type pacings map[int32]string

func pacingsOf(f *inForce) pacings {
	of := make(pacings, len(f.sites))
	for id, s := range f.sites {
		of[id] = scheduler.Pacing(f.config.Cycle, &s.site.Settings)
	}
	return of
}

// changedSince is those of the sites that were paced otherwise before; new ones were not.
func (p pacings) changedSince(before pacings) pacings {
	changed := make(pacings)
	for id, now := range p {
		if was, known := before[id]; known && was != now {
			changed[id] = now
		}
	}
	return changed
}

// followSchedule reschedules the pages that wait where the settings that their due times follow have changed, also while no daemon ran. What is
// cut short is done again from the beginning: done twice it changes nothing.
func (d *daemon) followSchedule(ctx context.Context, _ time.Time) error {
	force := d.force.Load()
	if force == d.scheduled {
		return nil
	}
	own, wanted := scheduledNote+":"+d.start.Worker.Name, pacingsOf(force)
	done, err := d.readPacings(ctx, scheduledNote)
	if err != nil {
		return err
	}
	had, err := d.readPacings(ctx, own)
	if err != nil {
		return err
	}
	if had == nil {
		had = done
	}
	changed := wanted.changedSince(had)
	maps.DeleteFunc(changed, func(id int32, now string) bool { return done[id] == now }) // another worker has
	if len(changed) > 0 {
		going, err := d.reschedule(ctx, force, changed)
		if err != nil || !going {
			return err
		}
	}
	if err := d.writePacings(ctx, scheduledNote, wanted, changed, force.has); err != nil {
		return err
	}
	if err := d.writePacings(ctx, own, wanted, wanted, force.has); err != nil {
		return err
	}
	d.scheduled = force
	return nil
}

// due is the new due times of those of the pages that are of the sites and move.
func (p pacings) due(planner *scheduler.Planner, pages []models.Page, now time.Time) (due []models.Due) {
	for i := range pages {
		if _, changed := p[pages[i].SiteID]; !changed {
			continue
		}
		if one, moves := planner.Reschedule(&pages[i], now); moves {
			due = append(due, one)
		}
	}
	return due
}

// reschedule passes over all pages and moves those of some sites. false: other settings came into force meanwhile.
func (d *daemon) reschedule(ctx context.Context, force *inForce, sites pacings) (bool, error) {
	moved, pace := 0, unhurried{began: clock.System{}.Now()}
	known, err := d.store.PagesBySite(ctx)
	if err != nil {
		return false, err
	}
	planner, err := force.planner.Counted(ctx, d.store, known)
	if err != nil {
		return false, err
	}
	for bucket := range int16(models.Buckets) {
		for after, more := int64(-1), true; more; {
			if d.force.Load() != force {
				return false, nil
			}
			pages, err := d.store.PagesFrom(ctx, bucket, after, scheduleSlice)
			if err != nil {
				return false, err
			}
			if more = len(pages) == scheduleSlice; len(pages) == 0 {
				break
			}
			after = pages[len(pages)-1].ID
			due := sites.due(planner, pages, d.clock.Now())
			if err := d.store.Reschedule(ctx, due); err != nil {
				return false, err
			}
			moved += len(due)
			if err := pace.rest(ctx); err != nil {
				return false, err
			}
		}
	}
	if moved > 0 {
		d.worker.Wake()
	}
	d.log.Info("pages that wait are rescheduled by the settings in force", "sites", len(sites), "pages", moved)
	return true, nil
}

func (d *daemon) readPacings(ctx context.Context, note string) (pacings, error) {
	body, err := d.store.Note(ctx, note)
	if err != nil {
		return nil, fmt.Errorf("read what due times follow: %w", err)
	}
	return fromNote[pacings](body), nil
}

// writePacings adds to a note the sites that it does not have, and those that have changed, and leaves out those that are gone.
func (d *daemon) writePacings(ctx context.Context, note string, wanted, changed pacings, exists func(int32) bool) error {
	err := d.store.Merge(ctx, note, func(old []byte) []byte {
		of := maps.Clone(wanted)
		for id, pacing := range fromNote[pacings](old) {
			if _, replaced := changed[id]; !replaced {
				of[id] = pacing
			}
		}
		maps.DeleteFunc(of, func(id int32, _ string) bool { return !exists(id) })
		next := toNote(of)
		if string(next) == string(old) {
			return nil
		}
		return next
	})
	if err != nil {
		return fmt.Errorf("note what due times follow: %w", err)
	}
	return nil
}
