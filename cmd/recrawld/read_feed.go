package main

import (
	"context"
	"errors"

	"recrawld/models"
	"recrawld/report"
)

// feed lists what came after a cursor, and says where to go on.
func (c changesCmd) feed(ctx context.Context, l *look, site int32, kinds []models.EventKind) (report.Document, error) {
	after, err := feedCursor(ctx, l.store, c.After)
	if err != nil {
		return report.Document{}, err
	}
	events, at, err := l.store.Feed(ctx, after, c.query(site, kinds))
	if errors.Is(err, models.ErrCursorLost) {
		return report.Document{}, notFoundf("changes after this cursor are not there any more (they were older than history.keep, or a checkpoint was "+
			"restored): look at all pages anew, then go on with --after start; %w", err)
	}
	if err != nil {
		return report.Document{}, err
	}
	d := l.eventTable(events)
	d.Title, d.Cursor = "Changes after the cursor", at.String()
	d.Notes = append(d.Notes, "go on with --after "+d.Cursor)
	return d, nil
}

// feedCursor reads --after.
func feedCursor(ctx context.Context, store *models.Store, after string) (models.FeedCursor, error) {
	switch after {
	case "now":
		return store.Newest(ctx)
	case "start":
		return store.Oldest(ctx)
	}
	p, err := models.ParseFeedCursor(after)
	if err != nil {
		return p, usagef("--after: %w; there is now, start, and the cursor that an earlier answer ended with", err)
	}
	return p, nil
}
