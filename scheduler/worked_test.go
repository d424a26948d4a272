package scheduler_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// endClock ends a simulation at a time.
type endClock struct {
	*clock.Virtual
	end  time.Time
	stop context.CancelFunc
}

func (c endClock) SleepUntil(ctx context.Context, t time.Time) error {
	if t.After(c.end) {
		c.stop()
		return context.Canceled
	}
	return c.Virtual.SleepUntil(ctx, t)
}

// ending is a clock that ends so many days after a start, and the context that ends with it.
func ending(t *testing.T, start time.Time, days int) (context.Context, endClock) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	return ctx, endClock{clock.NewVirtual(start), start.AddDate(0, 0, days), stop}
}

// adds puts pages of a site into a store that are due at a moment.
func adds(t *testing.T, store scheduler.Store, at time.Time, site int32, urls ...string) {
	t.Helper()
	found := make([]models.Discovery, len(urls))
	for i, url := range urls {
		host := strings.Split(url, "/")[2]
		found[i] = models.Discovery{Page: scheduler.NewPage(url, host, site, 0, 4), Host: host}
		found[i].Page.DueAt = models.At(at)
	}
	if _, err := store.AddPages(t.Context(), at, found, 0); err != nil {
		t.Fatal(err)
	}
}

// works has a worker without fetchers visit what a store has until the context ends.
func works(ctx context.Context, t *testing.T, c *config.Config, store scheduler.Store, visitor scheduler.Visitor, clk clock.Clock) {
	t.Helper()
	planner, err := scheduler.NewPlanner(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := scheduler.NewWorker(scheduler.Config{Store: store, Visitor: visitor, Archive: simulate.Nowhere{}, Clock: clk,
		Log: slog.New(slog.DiscardHandler), Name: "w", Lease: time.Hour}, planner).Run(ctx); err != nil {
		t.Fatal(err)
	}
}
