package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"recrawld/models"
	"recrawld/report"
)

// feed lists what came after a cursor, and says where to go on.
func (c changesCmd) feed(ctx context.Context, l *look, sites []int32, kinds []models.EventKind) (report.Document, error) {
	after, err := feedCursor(ctx, l.store, c.After)
	if err != nil {
		return report.Document{}, err
	}
	q := c.query(sites, kinds)
	d, _, err := l.library().changesOf(ctx, c.Site, after, &q)
	if err != nil {
		return report.Document{}, err
	}
	d.Title = "Changes after the cursor"
	d.Notes = append(d.Notes, "go on with --after "+d.Cursor)
	return d, nil
}

// feedCursor reads the word for where to begin.
func feedCursor(ctx context.Context, store *models.Store, after string) (models.FeedCursor, error) {
	switch after {
	case "now":
		return store.Newest(ctx)
	case "start":
		return store.Oldest(ctx)
	case "all":
		return store.All(ctx)
	}
	p, err := models.ParseFeedCursor(after)
	if err != nil {
		return p, usagef("after %.20q: %w; there is now, start, all, and the cursor that an earlier answer ended with", after, err)
	}
	return p, nil
}

// changes lists what came after a cursor. The document has the cursor behind it, as text.
func (b library) changes(ctx context.Context, after models.FeedCursor, q models.ChangesQuery) (report.Document, models.FeedCursor, error) {
	events, at, err := b.store.Feed(ctx, after, q)
	if errors.Is(err, models.ErrCursorLost) {
		return report.Document{}, at, cursorLost(err)
	}
	if err != nil {
		return report.Document{}, at, err
	}
	d, err := b.table(ctx, events)
	d.Cursor = at.String()
	return d, at, err
}

// changesOf is changes of the sites of a name or a start URL, "" for all. One may have been added since those of the query were read: the
// cursor must not pass what comes of it, so that the query goes on with that. Where none has the name any more, nothing else will come
// of those that had.
func (b library) changesOf(ctx context.Context, site string, after models.FeedCursor, q *models.ChangesQuery) (report.Document, models.FeedCursor, error) {
	for {
		d, at, err := b.changes(ctx, after, *q)
		if err != nil {
			return d, at, err
		}
		sites, err := b.sitesTold(ctx, site)
		if err != nil && exitCode(err) != exitNotFound {
			return d, at, err
		}
		if !slices.ContainsFunc(sites, func(id int32) bool { return !slices.Contains(q.Sites, id) }) {
			return d, at, nil
		}
		q.Sites = sites
	}
}

// cursorLost says what to do about a models.ErrCursorLost.
func cursorLost(err error) error {
	return coded{exitNotFound, fmt.Errorf("changes after this cursor are not there any more, or it is behind some that never were (they were older than "+
		"history.keep, a checkpoint was restored, or another server took the database's place and lacks the last of them): begin anew after \"all\", which is every page as it is now, and drop what it does not name; %w", err)}
}
