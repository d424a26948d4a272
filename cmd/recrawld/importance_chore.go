package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/importance"
	"recrawld/models"
)

const (
	// importanceEvery is how often, in real time, it is looked whether importance is to be computed.
	importanceEvery = time.Minute
	// importanceAge is how old it becomes before it is computed anew: links come and go.
	importanceAge = 24 * time.Hour
	// importanceHold is how long, in real time, a worker that computes keeps others from it, from slice to slice.
	importanceHold = 5 * time.Minute
	// importanceSlice is how many rows are read at a time.
	importanceSlice = 10_000
	// importanceStep is by which share an importance must differ from the one in the database to be written.
	importanceStep = 0.02
	// importanceNote is the note in which the workers agree who computes.
	importanceNote = "importance"
)

// importanceTurn is what the note holds.
type importanceTurn struct {
	Of    string         `json:"of"`    // the settings that it was computed by; "": nobody asked for any
	At    models.Instant `json:"at"`    // when
	Pages int64          `json:"pages"` // how many there were
	choreHold
}

// followImportance computes the importance of all pages where that is wanted and none of the other workers does: when
// what the operator says has changed, when it is a day old, and when there are twice as many pages as the last time.
func (d *daemon) followImportance(ctx context.Context, now time.Time) error {
	force := d.force.Load()
	of := importanceSettings(force)
	pages, err := d.store.PagesKnown(ctx)
	if err != nil {
		return err
	}
	mine, name, hold := false, d.start.Worker.Name, d.clock.Real(importanceHold)
	err = d.store.Merge(ctx, importanceNote, func(old []byte) []byte {
		turn := fromNote[importanceTurn](old)
		if mine = turn.wanted(of, pages, now) && turn.free(name, now, hold); !mine {
			return nil
		}
		turn.take(name, now, hold)
		return toNote(turn)
	})
	if err != nil || !mine {
		return err
	}
	w := weighing{store: d.store, force: force, hold: d.holdImportance}
	if err := w.run(ctx); err != nil {
		return fmt.Errorf("compute importance: %w", err)
	}
	d.log.Info("importance computed", "pages", w.pages, "links", w.graph.Links(), "changed", w.changed)
	return d.store.Merge(ctx, importanceNote, func([]byte) []byte {
		return toNote(importanceTurn{Of: of, At: models.At(d.clock.Now()), Pages: pages})
	})
}

// holdImportance says that this worker still computes.
func (d *daemon) holdImportance(ctx context.Context) error {
	return d.store.Merge(ctx, importanceNote, func(old []byte) []byte {
		turn := fromNote[importanceTurn](old)
		turn.take(turn.By, d.clock.Now(), d.clock.Real(importanceHold))
		return toNote(turn)
	})
}

// wanted tells whether importance is to be computed.
func (t importanceTurn) wanted(of string, pages int64, now time.Time) bool {
	switch {
	case of != t.Of:
		return true
	case of == "":
		return false
	}
	return !now.Before(t.At.Time().Add(importanceAge)) || tooFarAhead(t.At, now, importanceAge) || pages > 2*t.Pages
}

// importanceSettings names what the operator says of importance; "" where all pages are worth the same.
func importanceSettings(f *inForce) string {
	plain := true
	for _, w := range f.worths {
		plain = plain && w.plain()
	}
	if plain {
		return ""
	}
	sum := sha256.New()
	say := func(id int32, s config.Settings) {
		site := config.Site{Settings: s}
		for _, v := range site.Values(nil) {
			if strings.HasPrefix(v.Key, "importance.") {
				fmt.Fprintln(sum, id, v.Key, v.Value)
			}
		}
	}
	say(0, f.config.Defaults)
	for _, row := range f.rows {
		say(row.ID, f.config.Site(row.ID).Settings)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// weighing computes the importance of all pages of a database once. It reads pages and links in slices and holds only
// what importance.Graph does of the pages of sites where links count.
type weighing struct {
	store *models.Store
	force *inForce
	hold  func(context.Context) error // called now and then

	graph   importance.Graph
	pages   int // weighed
	changed int // written
}

func (w *weighing) run(ctx context.Context) error {
	if w.linksCount() {
		if err := w.readGraph(ctx); err != nil {
			return err
		}
		if _, err := w.graph.Rank(ctx); err != nil {
			return err
		}
	}
	return w.eachPage(ctx, w.write)
}

func (w *weighing) linksCount() bool {
	for _, worth := range w.force.worths {
		if worth.links {
			return true
		}
	}
	return false
}

// readGraph reads the pages of sites where links count, and the links between them.
func (w *weighing) readGraph(ctx context.Context) error {
	err := w.eachPage(ctx, func(_ context.Context, pages []models.Page) error {
		for i := range pages {
			if p := &pages[i]; w.force.worth(p.SiteID).links {
				w.graph.Page(p.Bucket, p.ID, p.Level)
			}
		}
		return nil
	})
	for bucket := int16(0); err == nil && bucket < models.Buckets; bucket++ {
		err = w.readLinks(ctx, bucket)
	}
	return err
}

func (w *weighing) readLinks(ctx context.Context, bucket int16) error {
	for after, full := (models.Link{}), true; full; {
		links, err := w.store.LinksFrom(ctx, bucket, after, importanceSlice)
		if err != nil {
			return err
		}
		for _, l := range links {
			w.graph.Link(l.Bucket, l.ParentID, l.ChildBucket, l.ChildID)
		}
		if full = len(links) == importanceSlice; full {
			after = links[len(links)-1]
		}
	}
	return w.hold(ctx)
}

// eachPage calls f with all pages, in slices in the order of their keys.
func (w *weighing) eachPage(ctx context.Context, f func(context.Context, []models.Page) error) error {
	for bucket := range int16(models.Buckets) {
		for after, full := int64(-1), true; full; {
			pages, err := w.store.PagesFrom(ctx, bucket, after, importanceSlice)
			if err == nil {
				err = f(ctx, pages)
			}
			if err != nil {
				return err
			}
			if full = len(pages) == importanceSlice; full {
				after = pages[len(pages)-1].ID
			}
		}
		if bucket%16 == 0 {
			if err := w.hold(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes the importance of pages where it differs from what the database has.
func (w *weighing) write(ctx context.Context, pages []models.Page) error {
	var worths []models.Worth
	for i := range pages {
		p := &pages[i]
		worth, links := w.force.worth(p.SiteID), 1.0
		if worth.links {
			links = w.graph.Factor(p.Bucket, p.ID)
		}
		want, has := worth.of(p.URL, links), p.Importance
		if has <= 0 {
			has = 1
		}
		if math.Abs(float64(want/has)-1) > importanceStep {
			worths = append(worths, models.Worth{Bucket: p.Bucket, PageID: p.ID, Importance: want})
		}
	}
	w.pages += len(pages)
	w.changed += len(worths)
	if len(worths) == 0 {
		return nil
	}
	return w.store.SetImportance(ctx, worths)
}
