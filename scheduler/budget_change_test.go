package scheduler_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// turning is a clock that calls once at a time, and ends the simulation at another.
type turning struct {
	endClock
	at   time.Time
	call func()
}

func (c *turning) SleepUntil(ctx context.Context, t time.Time) error {
	if c.call != nil && t.After(c.at) {
		call := c.call
		c.call = nil
		if err := c.endClock.SleepUntil(ctx, c.at); err != nil {
			return err
		}
		call()
		return nil
	}
	return c.endClock.SleepUntil(ctx, t)
}

// changedBudget runs a worker over 300 pages of a site with a budget of its own, which is another one from the tenth day on.
func changedBudget(t *testing.T, name string, first, then config.Budget) *observer {
	t.Helper()
	const day = 24 * time.Hour
	planner := func(b config.Budget) *scheduler.Planner {
		c := config.Default()
		c.Defaults.Policy, c.Defaults.Vary = name, 0
		c.Budget = config.Budget{}
		c.Defaults.FRMax = 60
		c.Cycle = "24h"
		c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://h.test/", Settings: c.Defaults}}
		c.Sites[0].Settings.Budget = b
		p, err := scheduler.NewPlanner(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := simulate.NewMemory(simulate.MemoryOptions{})
	for i := range 300 {
		adds(t, store, start, 1, pageOf(i))
	}
	ctx, ends := ending(t, start, 40)
	clk := &turning{endClock: ends, at: start.Add(10 * day)}
	w := &observer{clk: clk, days: map[int]int{}, last: map[int64]time.Time{}, least: 1e18, start: start}
	worker := scheduler.NewWorker(scheduler.Config{Store: store, Visitor: w, Archive: simulate.Nowhere{}, Clock: clk,
		Log: slog.New(slog.DiscardHandler), Name: "w", Lease: time.Hour}, planner(first))
	clk.call = func() { worker.SetPlanner(planner(then)); worker.Wake() }
	if err := worker.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return w
}

func perDay(n float64) config.Budget { return config.Budget{Requests: config.Rate{PerDay: n}} }

// TestBudgetOfASiteThatIsCut: what waits in the line of a site's budget when that is cut is visited at the new pace.
func TestBudgetOfASiteThatIsCut(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	for _, name := range []string{"adaptive", "classic"} {
		w := changedBudget(t, name, perDay(100), perDay(5))
		after := 0
		for d := 10; d < 20; d++ {
			after += w.days[d]
		}
		if after > 60 || after < 45 {
			t.Errorf("%s: %d visits in the ten days after the budget was cut to 5 a day", name, after)
		}
	}
}

// TestBudgetOfASiteThatIsRaised: what waits in the line of a site's budget does not wait for the old one when there is more.
func TestBudgetOfASiteThatIsRaised(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	for _, then := range []config.Budget{perDay(100), {}} {
		w := changedBudget(t, "adaptive", perDay(3), then)
		if w.days[10] < 90 {
			t.Errorf("%d visits on the day on which the budget was raised from 3 to %v a day, want those of the pages that waited",
				w.days[10], then.Requests.PerDay)
		}
	}
}
