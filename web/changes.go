package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"recrawld/report"
)

const (
	mostWait   = time.Minute // that somebody waits for a change
	lookEvery  = time.Second // meanwhile
	mostWaiter = 64          // at a time: the connections are for others, too
)

// changes answers /v1/changes.
type changes struct {
	library Library
	clock   Clock
	waiting *semaphore.Weighted // of as many as wait at a time
}

func newChanges(o Options, stopping context.Context) http.Handler {
	c := changes{library: o.Library, clock: o.Clock, waiting: semaphore.NewWeighted(mostWaiter)}
	return answerer{options: o, stopping: stopping, time: mostWait, ask: c.ask}
}

func (c changes) ask(ctx context.Context, r *http.Request) (func(http.ResponseWriter) error, error) {
	q, wait, err := readChanges(r.URL.RawQuery)
	if err != nil {
		return nil, Refusal{http.StatusBadRequest, err}
	}
	d, err := c.library.Changes(ctx, q)
	if err == nil && len(d.Rows) == 0 && wait > 0 {
		d, err = c.wait(ctx, q, d, c.clock.Now().Add(wait))
	}
	return func(w http.ResponseWriter) error { return report.WriteJSON(w, d) }, err
}

// wait looks on from an answer without rows until there are some. Where the time is over, the asker is gone or the server ends, that is
// the answer: the asker goes on from its cursor.
func (c changes) wait(ctx context.Context, q ChangesQuery, none report.Document, until time.Time) (report.Document, error) {
	if !c.waiting.TryAcquire(1) {
		return none, Refusal{http.StatusServiceUnavailable, errors.New("too many wait already: ask again in a while, or without wait")}
	}
	defer c.waiting.Release(1)
	for {
		now := c.clock.Now()
		if left := until.Sub(now); left <= 0 || c.clock.SleepUntil(ctx, now.Add(min(left, lookEvery))) != nil {
			return none, nil
		}
		q.After = none.Cursor
		d, err := c.library.Changes(ctx, q)
		switch {
		case ctx.Err() != nil:
			return none, nil
		case err != nil || len(d.Rows) > 0:
			return d, err
		}
		none = d
	}
}
