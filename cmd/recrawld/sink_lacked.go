package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"recrawld/models"
	"recrawld/report"
	"recrawld/sink"
)

// lackedBy is when the database lacked events last that a sink had been given, and whether it is still to be made anew for that; zero: it
// never did.
func lackedBy(ctx context.Context, store *models.Store, name string) (at time.Time, anew bool, err error) {
	row, err := store.Meta(ctx, sink.LackedKey(name))
	if err != nil {
		return at, false, err
	}
	lacked, err := sink.LackedIn(row)
	if err == nil && lacked.At > 0 {
		at = lacked.At.Time()
	}
	return at, lacked.Anew, err
}

// lackedFor is how long it is told that the database lacked events; after that only with --json.
const lackedFor = 30 * 24 * time.Hour

// writeLacked says when the database lacked events that a sink had been given, and what comes of that.
func writeLacked(out io.Writer, s sinkState, now time.Time) error {
	if s.LackedAt.IsZero() || !s.Anew && now.Sub(s.LackedAt) > lackedFor {
		return nil
	}
	then := s.Name + " was made anew with what there is"
	switch {
	case tellsPeriods(s.Name):
		then = "what there is in their place comes with the next period"
	case s.Anew:
		then = s.Name + " is made anew with what there is"
	}
	_, err := fmt.Fprintf(out, "\n%s ago the database lacked events that %s had been given: another server had taken its place, or an older state\n"+
		"of it was back. Nothing is left out: %s.\n", report.Span(now.Sub(s.LackedAt)), s.Name, then)
	return err
}
