package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"recrawld/models"
)

// noteCounted is the name of the note with the last counting of all pages, where that takes long.
const noteCounted = "counted"

// counted is a counting of all pages by site and state.
type counted struct {
	At     models.Instant // by the daemon's clock
	Real   models.Instant // by the machine's
	Took   time.Duration  // real time
	States []models.SiteState
}

// rest is how long nobody counts again.
func (c *counted) rest() time.Duration { return countRest * c.Took }

// A counting that takes longer than slowCount, in real time, is shared: one worker counts again only after countRest times as
// long, and commands take what it counted last, unless that is older than staleCount and twice the rest.
const (
	slowCount  = 500 * time.Millisecond
	countRest  = 50
	staleCount = time.Hour
)

// keepCounted keeps a counting for others.
func keepCounted(ctx context.Context, store *models.Store, c counted) error {
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("keep the counted pages: %w", err)
	}
	return store.Merge(ctx, noteCounted, func([]byte) []byte { return body })
}

// lastCounted is the counting that was kept last; false: there is none, or it is too old by the machine's clock.
func lastCounted(ctx context.Context, store *models.Store, now time.Time) (counted, bool, error) {
	var c counted
	body, err := store.Note(ctx, noteCounted)
	if err != nil || len(body) == 0 {
		return c, false, err
	}
	if json.Unmarshal(body, &c) != nil { // of another release: it is counted anew
		return c, false, nil
	}
	return c, now.Sub(c.Real.Time()).Abs() < max(staleCount, 2*c.rest()), nil
}
