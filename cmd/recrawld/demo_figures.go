package main

import (
	"context"
	"strings"
	"time"

	"recrawld/internal/origin"
	"recrawld/internal/origin/story"
	"recrawld/models"
)

// demoFigures is what the daemon has learned by a moment, read from its database, beside what the origin did.
type demoFigures struct {
	now      time.Time // by the daemon's clock
	asked    int64     // visits that sent a request for the page
	unasked  int64     // turns that were skipped
	sum      models.Daily
	sections []demoSection
	pages    map[string]models.PageSummary // by URL
	found    int64                         // visits that found a change of content that there was
	mistaken int64                         // visits that took clocks and counters for one
	noise    int64                         // other bytes that it saw and that say nothing new
	made     int64                         // changes of content that the pages it knows went through since it knew them
	ticked   int64                         // changes of times and counters alone likewise
	recent   []models.Event                // the newest first
}

// demoSection sums the pages of a host that have a good copy.
type demoSection struct {
	label   string
	pages   int64
	frMax   int64 // of all pages, in cycles
	visits  int64
	changes int64
}

// mean is the mean fr_max of the section's pages, in cycles.
func (s demoSection) mean() float64 {
	if s.pages == 0 {
		return 0
	}
	return float64(s.frMax) / float64(s.pages)
}

// demoRecent is how many of the last changes are shown.
const demoRecent = 7

// demoRead reads the figures of a moment.
func demoRead(ctx context.Context, store *models.Store, world *origin.World, now time.Time) (demoFigures, error) {
	f := demoFigures{now: now, pages: map[string]models.PageSummary{}}
	days, err := store.DailySums(ctx, 0, 0, 1<<30)
	if err != nil {
		return f, err
	}
	for _, d := range days {
		f.sum = f.sum.Plus(d)
	}
	f.asked, f.unasked = f.sum.Asked, f.sum.Skipped
	if err := f.readPages(ctx, store, world); err != nil {
		return f, err
	}
	counts, err := store.ChangeCounts(ctx, 1, false)
	if err != nil {
		return f, err
	}
	for _, site := range counts {
		f.noise += site[models.EventRefreshed]
	}
	if err := f.readChanges(ctx, store, world); err != nil {
		return f, err
	}
	f.recent, err = store.Changes(ctx, models.ChangesQuery{Since: models.At(now.Add(-7 * 24 * time.Hour)), Limit: demoRecent,
		Kinds: []models.EventKind{models.EventNew, models.EventChanged, models.EventMoved, models.EventGone}})
	return f, err
}

func (f *demoFigures) readPages(ctx context.Context, store *models.Store, world *origin.World) error {
	sections := map[string]*demoSection{}
	for _, label := range story.Sections() {
		sections[label] = &demoSection{label: label}
	}
	for p, err := range store.Summaries(ctx, 0) {
		if err != nil {
			return err
		}
		f.pages[p.URL] = p
		page := world.Lookup(p.URL)
		if page == nil || p.Records == 0 {
			continue
		}
		made, ticked := madeBetween(page, p.FirstAt.Time(), f.now)
		f.made, f.ticked = f.made+made, f.ticked+ticked
		if s := sections[page.Section]; s != nil && p.State == models.StateLive {
			s.pages++
			s.frMax += int64(p.FRMax)
			s.visits += int64(p.Records)
			s.changes += int64(p.Changes)
		}
	}
	for _, label := range story.Sections() {
		f.sections = append(f.sections, *sections[label])
	}
	return nil
}

// readChanges passes over all changes that the daemon saw.
func (f *demoFigures) readChanges(ctx context.Context, store *models.Store, world *origin.World) error {
	q := models.ChangesQuery{Since: 1, Kinds: []models.EventKind{models.EventChanged}, Limit: 1000}
	for {
		events, err := store.Changes(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range events {
			f.judge(world, e)
		}
		if len(events) < q.Limit {
			return nil
		}
		q.After = events[len(events)-1].Cursor()
	}
}

// judge tells a change that the page went through between the two visits from clocks and counters that passed for one.
func (f *demoFigures) judge(world *origin.World, e models.Event) {
	page := world.Lookup(e.URL)
	if page == nil {
		return
	}
	if made, _ := madeBetween(page, e.NotBefore.Time(), e.At.Time()); made > 0 {
		f.found++
	} else {
		f.mistaken++
	}
}

// madeBetween counts the versions with content that a page got in a span: those that say something new, and those in
// which times and counters alone differ.
func madeBetween(page *origin.Page, from, to time.Time) (made, ticked int64) {
	for _, v := range page.Versions {
		switch {
		case v.Status != 0 || !v.At.After(from) || v.At.After(to):
		case v.Noise:
			ticked++
		default:
			made++
		}
	}
	return made, ticked
}

// demoName is a page's URL as the demo shows it: the name of its section in place of the address.
func demoName(world *origin.World, url string) string {
	rest := strings.TrimPrefix(url, "http://")
	addr, path, _ := strings.Cut(rest, "/")
	if h := world.Host(addr); h != nil {
		return h.Label + "/" + path
	}
	return rest
}

// demoHost finds a host by its label.
func demoHost(w *origin.World, label string) (*origin.Host, bool) {
	for _, h := range w.Hosts {
		if h.Label == label {
			return h, true
		}
	}
	return nil, false
}
