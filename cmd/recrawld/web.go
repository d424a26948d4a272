package main

import (
	"context"
	"errors"
	"net/http"

	"recrawld/models"
	"recrawld/report"
	"recrawld/web"
)

// shelf lends what a library knows to the daemon's own server.
type shelf struct{ library func() library }

// Changes implements web.Library.
func (s shelf) Changes(ctx context.Context, q web.ChangesQuery) (report.Document, error) {
	b := s.library()
	d, err := b.asked(ctx, q)
	switch {
	case errors.Is(err, models.ErrCursorLost):
		err = web.Refusal{Status: http.StatusGone, Err: err}
	case err != nil && exitCode(err) != exitFailed: // a word in it is wrong
		err = web.Refusal{Status: http.StatusBadRequest, Err: err}
	}
	return d, err
}

// asked reads the words of a query and lists the changes that it asks for.
func (b library) asked(ctx context.Context, q web.ChangesQuery) (report.Document, error) {
	kinds, err := eventKinds(q.Kinds)
	if err != nil {
		return report.Document{}, err
	}
	site, err := siteID(b.force.rows, q.Site)
	if err != nil {
		return report.Document{}, err
	}
	after, err := feedCursor(ctx, b.store, q.After)
	if err != nil {
		return report.Document{}, err
	}
	d, _, err := b.changes(ctx, after, models.ChangesQuery{Site: site, Kinds: kinds, Limit: q.Limit, Weight: float32(q.Weight)})
	return d, err
}

// Page implements web.Library.
func (s shelf) Page(ctx context.Context, q web.PageQuery) (any, error) {
	said, err := s.library().text(ctx, q.URL, q.Version)
	switch exitCode(err) {
	case exitNotFound:
		err = web.Refusal{Status: http.StatusNotFound, Err: err}
	case exitUsage:
		err = web.Refusal{Status: http.StatusBadRequest, Err: err}
	}
	return said, err
}
