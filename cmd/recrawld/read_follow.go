package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/report"
)

const (
	followEvery = time.Second // between two looks that find nothing
	followBatch = 1000        // events read at a time
	cursorEvery = time.Minute // between two cursors with no event between them
)

// follow prints what comes until ctx ends.
func (c changesCmd) follow(ctx context.Context, l *look, sites []int32, kinds []models.EventKind) error {
	at, err := feedCursor(ctx, l.store, cmp.Or(c.After, "now"))
	if err != nil {
		return err
	}
	c.Limit = followBatch
	f := follower{library: l.library(), site: c.Site, query: c.query(sites, kinds), clock: clock.System{}, write: l.followText(), stands: l.stands()}
	if l.JSON {
		f.write = func(d report.Document) error { return report.WriteLines(l.Stdout, d) }
	}
	return f.run(ctx, at)
}

// followText writes events for a person.
func (l *look) followText() func(report.Document) error {
	s := report.Stream{Style: l.style, Columns: []report.StreamColumn{{Key: "at", Width: 15}, {Key: "kind", Width: 9}, {Key: "version", Width: 7},
		{Key: "bytes", Width: 8}, {Key: "significance", Width: 6}, {Key: "url"}}}
	return func(d report.Document) error { return s.Write(l.Stdout, d) }
}

// follower reads on in the event log and writes what it finds.
type follower struct {
	library library
	site    string // "": all
	query   models.ChangesQuery
	clock   clock.Clock
	write   func(report.Document) error
	stands  func() bool // the database is still the one that is written to

	told   string    // the last cursor that was written
	toldAt time.Time // when
}

// stands tells of a SQLite database whether it still has its name. A checkpoint that is restored takes that, and whoever has the old
// one open would wait for ever for what is written to the new one.
func (l *look) stands() func() bool {
	if l.force.config.Store != "sqlite" {
		return func() bool { return true }
	}
	name := filepath.Join(l.force.config.Data, databaseFile)
	opened, err := os.Stat(name)
	return func() bool {
		there, failed := os.Stat(name)
		return err == nil && failed == nil && os.SameFile(opened, there)
	}
}

// run goes on from a cursor until ctx ends, which is no error.
func (f *follower) run(ctx context.Context, at models.FeedCursor) error {
	for {
		if !f.stands() {
			return cursorLost(models.ErrCursorLost)
		}
		d, next, err := f.library.changesOf(ctx, f.site, at, &f.query)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err != nil {
			return nil
		}
		if err := f.tell(d); err != nil {
			return err
		}
		if at = next; len(d.Rows) == f.query.Limit {
			continue
		}
		if f.clock.SleepUntil(ctx, f.clock.Now().Add(f.clock.Real(followEvery))) != nil {
			return nil
		}
	}
}

// tell writes what was found. The cursor goes out behind the events that it is behind; and now and then without any, since one that
// never moves on is lost when what is after it is pruned.
func (f *follower) tell(d report.Document) error {
	now := f.clock.Now()
	if len(d.Rows) == 0 && f.told != "" && (d.Cursor == f.told || now.Before(f.toldAt.Add(f.clock.Real(cursorEvery)))) {
		return nil
	}
	f.told, f.toldAt = d.Cursor, now
	return f.write(d)
}
