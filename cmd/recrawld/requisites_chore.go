package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// What pages need to be shown is found when they are read, and pages that stand still are not. So when a site begins to keep requisites,
// or more of them, the copies of its pages are read once more, from the archive.

const (
	// requisitesEvery is how often, in real time, it is looked whether a site keeps more than its pages were read for.
	requisitesEvery = time.Minute
	// requisitesHold is how long, in real time, a worker that reads keeps others from it, from slice to slice; it rests for nine
	// minutes at most.
	requisitesHold = 15 * time.Minute
	// requisitesSlice is how many pages are read at a time.
	requisitesSlice = 200
	// requisitesNote begins the names of the notes in which the workers of an archive agree who reads: each can read what lies in its own.
	requisitesNote = "requisites:"
)

// needsOf is what a site keeps of what its pages need; the zero one is nothing.
type needsOf struct {
	Mode   string `json:"mode"`
	Filter string `json:"filter"`
	Scope  string `json:"scope"` // whose hosts count; "" where all do
	Read   int    `json:"read"`  // what is read for it (needsRead)
}

// needsRead is one more where a release finds more of what pages need: 1, what scripts import.
const needsRead = 1

// widerThan tells whether there may be requisites that are kept now and were not before.
func (n needsOf) widerThan(before needsOf) bool {
	switch {
	case n == needsOf{} || n == before:
		return false
	case n.Read > before.Read:
		return true
	case before.Mode == config.RequisitesAll && n.Mode == config.RequisitesSite && n.Filter == before.Filter:
		return false
	case n.Mode == before.Mode && n.Scope == before.Scope && before.Filter == new(config.Filter).String():
		return false
	}
	return true
}

// has tells whether there is a site.
func (f *inForce) has(site int32) bool { _, known := f.sites[site]; return known }

// needsWanted is what the sites keep, by their IDs; those that keep nothing are left out.
func needsWanted(f *inForce) map[int32]needsOf {
	wanted := make(map[int32]needsOf)
	for id, s := range f.sites {
		n := needsOf{Mode: s.site.Settings.Requisites, Filter: s.site.Settings.RequisitesFilter.String(), Read: needsRead}
		switch n.Mode {
		case config.RequisitesSite:
			n.Scope = s.site.URL + " " + fmt.Sprint(s.site.Settings.Scope)
		case config.RequisitesAll:
		default:
			continue
		}
		wanted[id] = n
	}
	return wanted
}

// requisitesTurn is what a note holds.
type requisitesTurn struct {
	Of      map[int32]needsOf `json:"of"`      // what each site kept when its pages were read last
	Reading map[int32]needsOf `json:"reading"` // what those keep that are being read
	Bucket  int16             `json:"bucket"`  // how far that has come
	After   int64             `json:"after"`   // the page of it that was read last
	Full    map[int32]bool    `json:"full"`    // sites that had no room for more

	choreHold
}

// readAgain has the copies of sites read once more that had no room for all that their pages need, where there is room again for a tenth of
// what they may gather: what was left out then is found by no visit before its page changes.
func (t *requisitesTurn) readAgain(wanted map[int32]needsOf, has map[int32]models.SiteRequisites) {
	full := make(map[int32]bool)
	for id := range wanted {
		r := has[id]
		room := r.Room(models.LeastRequisites)
		switch {
		case room == 0, t.Full[id] && room < models.MostRequisites(r.Pages, models.LeastRequisites)/10:
			full[id] = true
		case t.Full[id]:
			delete(t.Of, id)
		}
	}
	t.Full = full
}

// follow takes note of what sites keep now and returns those whose pages are to be read. What several sites need, such as a script on a host
// that lends it to all, is a page of the one that found it first: if that was removed, those of all others are read again.
func (t *requisitesTurn) follow(wanted map[int32]needsOf, exists func(int32) bool) map[int32]needsOf {
	of, reading := make(map[int32]needsOf), make(map[int32]needsOf)
	removed := false
	for id := range t.Of {
		if !exists(id) {
			removed = true
		} else if _, keeps := wanted[id]; !keeps {
			of[id] = needsOf{} // it still has what it kept
		}
	}
	for id, now := range wanted {
		switch before := t.Of[id]; {
		case removed:
			of[id], reading[id] = needsOf{}, now
		case now.widerThan(before):
			of[id], reading[id] = before, now
		default:
			of[id] = now
		}
	}
	t.Of = of
	return reading
}

// claim takes the reading for a worker, where there is any and nobody else does it, from where it was left.
func (t *requisitesTurn) claim(wanted map[int32]needsOf, exists func(int32) bool, name string, now time.Time, hold time.Duration) bool {
	reading := t.follow(wanted, exists)
	if len(reading) == 0 {
		t.Reading, t.choreHold = nil, choreHold{}
		return false
	}
	if !t.free(name, now, hold) {
		return false
	}
	if !maps.Equal(reading, t.Reading) {
		t.Reading, t.Bucket, t.After = reading, 0, -1
	}
	t.take(name, now, hold)
	return true
}

// followRequisites reads the copies of pages once more where a site keeps more of what they need than when they were read.
func (d *daemon) followRequisites(ctx context.Context, now time.Time) error {
	id, err := d.archive.ID()
	if err != nil {
		return err
	}
	note, name, hold := requisitesNote+id, d.start.Worker.Name, d.clock.Real(requisitesHold)
	force := d.force.Load()
	counts, err := d.store.PageCounts(ctx)
	if err != nil {
		return err
	}
	wanted, has := needsWanted(force), models.RequisitesBySite(counts)
	var turn requisitesTurn
	mine := false
	err = d.store.Merge(ctx, note, func(old []byte) []byte {
		turn = fromNote[requisitesTurn](old)
		turn.readAgain(wanted, has)
		mine = turn.claim(wanted, force.has, name, now, hold)
		if next := toNote(turn); string(next) != string(old) && (len(old) > 0 || len(turn.Of)+len(turn.Reading) > 0) {
			return next
		}
		return nil
	})
	if err != nil || !mine {
		return err
	}
	if err := d.readmitRequisites(ctx, now, &turn); err != nil {
		return err
	}
	r := newNeedsReading(d.store, d.past, force, turn.Reading)
	pace := unhurried{began: clock.System{}.Now()}
	for turn.Bucket < models.Buckets {
		if err := r.slice(ctx, d.clock.Now(), &turn); err != nil {
			return fmt.Errorf("read what pages need to be shown: %w", err)
		}
		going, err := d.holdRequisites(ctx, note, &turn)
		if err != nil || !going {
			return err
		}
		if err := pace.rest(ctx); err != nil {
			return err
		}
	}
	d.log.Info("what pages need to be shown is looked for in the archive", "sites", len(turn.Reading), "pages", r.read, "unreadable", r.unread, "found", r.added,
		"refused", r.refused)
	return nil
}

// readmitRequisites has those looked at again that their sites did not keep for a while: pages that are known are not found once more.
func (d *daemon) readmitRequisites(ctx context.Context, now time.Time, turn *requisitesTurn) error {
	if turn.Bucket > 0 || turn.After >= 0 { // that was done when the reading began
		return nil
	}
	for id := range turn.Reading {
		if err := d.store.Readmit(ctx, id, now); err != nil {
			return err
		}
	}
	return nil
}

// holdRequisites says that this worker still reads, and how far it is, or that it is done. false: it is to stop, as sites keep something
// else by now or another worker reads.
func (d *daemon) holdRequisites(ctx context.Context, note string, turn *requisitesTurn) (bool, error) {
	wanted := needsWanted(d.force.Load())
	for id, n := range turn.Reading {
		if wanted[id] != n {
			return false, nil
		}
	}
	going := true
	err := d.store.Merge(ctx, note, func(old []byte) []byte {
		t := fromNote[requisitesTurn](old)
		if going = t.By == turn.By; !going {
			return nil
		}
		t.Bucket, t.After = turn.Bucket, turn.After
		t.take(t.By, d.clock.Now(), d.clock.Real(requisitesHold))
		if turn.Bucket == models.Buckets {
			if t.Of == nil {
				t.Of = make(map[int32]needsOf)
			}
			maps.Copy(t.Of, turn.Reading)
			t.Reading, t.choreHold = nil, choreHold{}
		}
		return toNote(t)
	})
	return going, err
}
