package models

import (
	"context"
	"fmt"
	"iter"
)

// currentRows is how many pages Current reads at a time.
const currentRows = 2000

// Current tells of every page as events would that made it what it is now: its newest copy, and then that it moved, is
// gone, fails or is excluded. Seq is 0. Pages that change meanwhile are told as they were or as they are. It reads the
// keys of pages and versions, some thousand pages at a time, and holds no transaction open.
func (s *Store) Current(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for bucket := range int16(Buckets) {
			for after, more := int64(-1), true; more; {
				pages, versions, err := s.currentSlice(ctx, bucket, after, ChangesQuery{Requisites: true}, currentRows)
				if err != nil {
					yield(Event{}, fmt.Errorf("read current pages: %w", err))
					return
				}
				for i := range pages {
					for _, e := range currentEvents(pages[i], versions[i]) {
						if !yield(e, nil) {
							return
						}
					}
				}
				if more = len(pages) == currentRows; more {
					after = pages[len(pages)-1].ID
				}
			}
		}
	}
}

// currentSlice reads the next pages of a bucket, of the sites of a query and without requisites where it asks for none, at most limit, each with
// its newest version; one without has the zero Version. It leaves out those of which there is nothing to tell (currentEvents), which may be nearly all: the database passes
// over a page in a small part of the time that it takes to read one.
func (s *Store) currentSlice(ctx context.Context, bucket int16, after int64, q ChangesQuery, limit int) ([]Page, []Version, error) {
	var pages []Page
	var versions []Version
	var p Page
	var v Version
	fields := append(pageTable.fields(&p), &v.At, &v.Status, &v.Record.File, &v.Record.Offset, &v.Record.Length)
	told := fmt.Sprintf("(p.version > 0 OR p.redirect_to <> '' OR p.state IN (%d, %d))", StateGone, StateExcluded)
	query := "SELECT " + pageTable.coalesced("p.") + `, COALESCE(v.at, 0), COALESCE(v.status, 0),
		COALESCE(v.record_file, ''), COALESCE(v.record_offset, 0), COALESCE(v.record_length, 0)
		FROM pages p LEFT JOIN versions v ON v.bucket = p.bucket AND v.page_id = p.id AND v.number = p.version
		WHERE p.bucket = $1 AND p.id > $2 AND ` + told
	args := []any{bucket, after, limit}
	if !q.Requisites {
		query += ` AND NOT COALESCE(p.requisite,false)`
	}
	if len(q.Sites) > 0 {
		query += ` AND p.site_id = ANY($4)`
		args = append(args, q.Sites)
	}
	query += ` ORDER BY p.id LIMIT $3`
	for _, err := range s.scan(ctx, fields, query, args...) {
		if err != nil {
			return nil, nil, err
		}
		pages, versions = append(pages, p), append(versions, v)
	}
	return pages, versions, nil
}

// currentEvents is what a page's state says as events.
func currentEvents(p Page, v Version) []Event {
	e := Event{Bucket: p.Bucket, SiteID: p.SiteID, PageID: p.ID, URL: p.URL, Requisite: p.Requisite, Version: p.Version}
	var events []Event
	if v.Record.File != "" && p.State != StateGone {
		copied := e
		copied.Kind, copied.At, copied.Status, copied.Record = EventNew, v.At, v.Status, v.Record
		copied.NotAfter = max(p.Stats.ChangedAt, p.Stats.FirstAt)
		copied.ContentType, copied.LastModified, copied.Digest, copied.Bytes = p.ContentType, p.LastModified, p.Digest, p.Bytes
		events = append(events, copied)
	}
	e.At = p.TriedAt
	switch {
	case p.LeadsAway():
		e.Kind, e.RedirectTo = EventMoved, p.RedirectTo
	case p.State == StateGone:
		e.Kind = EventGone
	case p.State == StateExcluded:
		e.Kind = EventExcluded
	case p.Failures > 0 && p.Version > 0:
		e.Kind = EventFailing
	default:
		return events
	}
	return append(events, e)
}
