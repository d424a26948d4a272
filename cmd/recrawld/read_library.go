package main

import (
	"context"
	"errors"
	"time"

	"recrawld/archive"
	"recrawld/models"
	"recrawld/report"
)

// library answers what programs ask of pages: what happened to them, and what they say. The reading commands and the daemon's own
// server answer out of it, each with what is in force there.
type library struct {
	store *models.Store
	force *inForce
	read  func(models.Record) (archive.Answer, error) // from the archive
	now   time.Time
}

func (l *look) library() library {
	return library{l.store, l.force, l.answer, l.now}
}

func (d *daemon) library() library {
	return library{d.store, d.force.Load(), d.past.bodies.Read, d.clock.Now()}
}

// version is a version of a page by its number; from -1 down they are counted from the newest.
func (b library) version(ctx context.Context, page models.Page, number int32) (models.Version, error) {
	if number < 0 {
		number += page.Version + 1
	}
	v, err := b.store.Version(ctx, page.Bucket, page.ID, number)
	if errors.Is(err, models.ErrNotFound) {
		return v, notFoundf("%s has no version %d: the newest is %d", page.URL, number, page.Version)
	}
	return v, err
}

// table is the table of some events.
func (b library) table(ctx context.Context, events []models.Event) (report.Document, error) {
	rows, err := sitesOf(ctx, b.store, b.force.rows, events)
	if err != nil {
		return report.Document{}, err
	}
	return eventTable(events, b.now, siteNames(rows)), nil
}

// sitesTold are the sites of a name or a start URL that events tell of: that there is, and those that were removed; "" is none, for
// all. A name that is none ends the program with exitNotFound.
func (b library) sitesTold(ctx context.Context, name string) ([]int32, error) {
	if name == "" {
		return nil, nil
	}
	ids, err := b.store.SiteIDs(ctx, name, startURL(name))
	if err != nil || len(ids) > 0 {
		return ids, err
	}
	site, err := findSite(b.force.rows, name) // it may have gone a moment ago, with nothing to tell
	if err != nil {
		return nil, err
	}
	return []int32{site.ID}, nil
}

// sitesOf are the sites that some events are of: those known, unless one is not among them.
func sitesOf(ctx context.Context, store *models.Store, known []models.Site, events []models.Event) ([]models.Site, error) {
	names := siteNames(known)
	for _, e := range events {
		if _, ok := names[e.SiteID]; !ok {
			rows, err := store.Sites(ctx) // it came meanwhile
			if err != nil {
				return nil, err
			}
			removed, err := store.RemovedSites(ctx) // behind that, or what is removed in between were in neither
			return append(removed, rows...), err
		}
	}
	return known, nil
}
