package models

import (
	"context"
	"fmt"
)

// Dump is every row of a database, each table in the order of its key.
type Dump struct {
	Sites    []Site
	Hosts    []Host
	Robots   []Robots
	Pages    []Page
	Visits   []Visit
	Versions []Version
	Contents []Content
	Links    []Link
	Events   []Event
	Daily    []Daily

	Knowledge []Knowledge
	Memories  []Memory
	Notes     []Note
	Filings   []Filing
}

// Dump reads the whole database: for tests, and to compare small databases by eye.
func (s *Store) Dump(ctx context.Context) (Dump, error) {
	var d Dump
	var contents []contentRow
	var filings []filingRow
	var links []linksRow
	for _, read := range []func() error{
		dumpOf(ctx, s, siteTable, &d.Sites), dumpOf(ctx, s, hostTable, &d.Hosts), dumpOf(ctx, s, robotsTable, &d.Robots),
		dumpOf(ctx, s, pageTable, &d.Pages), dumpOf(ctx, s, visitTable, &d.Visits), dumpOf(ctx, s, versionTable, &d.Versions),
		dumpOf(ctx, s, contentTable, &contents), dumpOf(ctx, s, linksTable, &links), dumpOf(ctx, s, eventTable, &d.Events),
		dumpOf(ctx, s, dailyTable, &d.Daily), dumpOf(ctx, s, knowledgeTable, &d.Knowledge),
		dumpOf(ctx, s, memoryTable, &d.Memories), dumpOf(ctx, s, noteTable, &d.Notes),
		dumpOf(ctx, s, filingTable, &filings),
	} {
		if err := read(); err != nil {
			return d, fmt.Errorf("dump database: %w", err)
		}
	}
	for _, c := range contents {
		d.Contents = append(d.Contents, c.Content)
	}
	for _, f := range filings {
		d.Filings = append(d.Filings, f.Filing)
	}
	for i := range links {
		children, err := links[i].keys()
		if err != nil {
			return d, fmt.Errorf("dump database: %w", err)
		}
		for _, child := range children {
			d.Links = append(d.Links, Link{links[i].bucket, links[i].parent, child.bucket, child.id})
		}
	}
	return d, nil
}

func dumpOf[T any](ctx context.Context, s *Store, tb table[T], into *[]T) func() error {
	return func() (err error) {
		*into, err = tb.scan(s.rows(ctx, "SELECT "+tb.prefixed("")+" FROM "+tb.name+" ORDER BY "+tb.keyList()))
		return err
	}
}
