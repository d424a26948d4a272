package main

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"recrawld/models"
)

// goneKept is how long a worker that is gone leaves what it said of itself.
const goneKept = 90 * 24 * time.Hour

// hostKept is how long a host without a page stays after it could be asked again: as long as its robots.txt would hold.
const hostKept = models.RobotsHold

// clearRemoved ends what removals of sites left. Of several workers each does so: what one has cleared the next has not to.
func (d *daemon) clearRemoved(ctx context.Context, now time.Time) error {
	by, sure := d.agesBy(now)
	if !sure {
		return nil
	}
	done, err := d.store.ClearRemoved(ctx, now, by.Add(-hostKept))
	if done != (models.Cleared{}) {
		d.log.Info("what removed sites left is cleared", "sites", done.Sites, "hosts", done.Hosts, "prints", done.Filings)
	}
	return err
}

// forgetGone removes what workers left that are gone for long: where workers are named for machines or containers that come and go, it would be more
// and more, and each beat of the others reads their rows. What this worker says of itself is there, so a command always finds a configuration.
func (d *daemon) forgetGone(ctx context.Context) error {
	workers, err := d.store.Workers(ctx)
	if err != nil {
		return err
	}
	before := models.At(d.machine.Now().Add(-goneKept))
	last := make(map[string]models.Instant) // when each was heard of
	for _, w := range workers {
		last[w.Name] = max(w.BeatAt, w.RealBeatAt)
	}
	notes, err := d.store.Metas(ctx, goesByPrefix)
	if err != nil {
		return err
	}
	for key, text := range notes {
		var note goesBy
		name := strings.TrimPrefix(key, goesByPrefix)
		if json.Unmarshal([]byte(text), &note) != nil {
			note.At = before + 1 // of a later release, perhaps
		}
		last[name] = max(last[name], note.At)
	}
	for name, at := range last {
		if at > before {
			continue
		}
		if err := d.forgetWorker(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// forgetWorker removes what a worker left, but for what its segments need: where its archive is, and on PostgreSQL its row where that is not known, since
// then the row's machine tells.
func (d *daemon) forgetWorker(ctx context.Context, name string) error {
	for _, key := range []string{goesByPrefix + name, selfCheckPrefix + name} {
		text, err := d.store.Meta(ctx, key)
		if err == nil && text != "" {
			err = d.store.ForgetMeta(ctx, key, text)
		}
		if err != nil {
			return err
		}
	}
	if err := d.store.ForgetNote(ctx, scheduledNote+":"+name); err != nil {
		return err
	}
	if d.store.Dialect() != "sqlite" {
		places, err := archivePlaces(ctx, d.store)
		if _, known := places[name]; err != nil || !known {
			return err
		}
	}
	return d.store.Leave(ctx, name)
}
