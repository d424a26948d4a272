package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/simulate"
)

// historySubjects are the recorded visits of the daemon as two traces, between which the truth lies.
func historySubjects(ctx context.Context, g *globals) ([]simulate.Subject, error) {
	var recorded []simulate.Recorded
	err := g.with(ctx, func(l *look) (err error) {
		recorded, err = readHistory(ctx, l.store)
		return err
	})
	if err != nil {
		return nil, err
	}
	var subjects []simulate.Subject
	for _, end := range []struct {
		name  string
		bound simulate.Bound
	}{{"history, optimistic", simulate.Latest}, {"history, pessimistic", simulate.Earliest}} {
		t, err := simulate.FromHistory(end.name, recorded, end.bound)
		if err == nil {
			err = t.Tells()
		}
		if err != nil {
			return nil, notFoundf("%w", err)
		}
		subjects = append(subjects, simulate.Subject{Trace: t})
	}
	return subjects, nil
}

// readHistory reads all visits of all pages.
func readHistory(ctx context.Context, store *models.Store) ([]simulate.Recorded, error) {
	var recorded []simulate.Recorded
	for p, err := range store.Summaries(ctx, 0) {
		if err != nil {
			return nil, err
		}
		if p.Records < 2 {
			continue
		}
		u, err := canon.Parse(p.URL)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		recorded = append(recorded, simulate.Recorded{URL: p.URL, Host: u.HostName()})
	}
	for i := range recorded {
		r := &recorded[i]
		visits, err := store.History(ctx, models.BucketOf(r.Host), models.PageID(r.URL), 0, math.MaxInt32)
		if err != nil {
			return nil, err
		}
		slices.Reverse(visits)
		r.Visits = visits
	}
	return recorded, nil
}
