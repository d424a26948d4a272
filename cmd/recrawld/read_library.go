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

// sitesOf are the sites that some events are of: those known, unless one is not among them.
func sitesOf(ctx context.Context, store *models.Store, known []models.Site, events []models.Event) ([]models.Site, error) {
	names := siteNames(known)
	for _, e := range events {
		if _, ok := names[e.SiteID]; !ok {
			return store.Sites(ctx) // it came meanwhile, or is gone
		}
	}
	return known, nil
}
