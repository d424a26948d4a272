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

// counted is a counting of all pages by site and state. How many pages there are and how many fail, the database always knows
// (Store.PageCounts); when they are due and how often they are visited, only a look at all of them tells.
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

// manyPages is from how many pages on a command does not look at all of them for what somebody else counted before.
const manyPages = 200_000

// siteStates is the pages by site and state. Where there are many and somebody counted them before, only how many there are
// and how many fail is of now; the time of the counting is returned then, and else the zero time.
func siteStates(ctx context.Context, store *models.Store, now time.Time) ([]models.SiteState, time.Time, error) {
	counts, err := store.PageCounts(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	total := int64(0)
	for _, c := range counts {
		total += c.Pages
	}
	last, _, err := lastCounted(ctx, store, now)
	if err != nil {
		return nil, time.Time{}, err
	}
	if total < manyPages || last.At == 0 {
		states, err := store.SiteStates(ctx, models.At(now), nil)
		return states, time.Time{}, err
	}
	return withCounts(last.States, counts), last.At.Time(), nil
}

// withCounts is a counting with how many pages there are, how many fail and how many are requisites as it is now.
func withCounts(states, counts []models.SiteState) []models.SiteState {
	type key struct {
		site  int32
		state models.PageState
	}
	before := make(map[key]models.SiteState, len(states))
	for _, s := range states {
		before[key{s.SiteID, s.State}] = s
	}
	out := make([]models.SiteState, len(counts))
	for i, c := range counts {
		out[i] = before[key{c.SiteID, c.State}]
		out[i].SiteID, out[i].State, out[i].Pages, out[i].Failing, out[i].Requisites = c.SiteID, c.State, c.Pages, c.Failing, c.Requisites
	}
	return out
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
