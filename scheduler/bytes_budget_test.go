package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// few are pages of which a tenth changes every twenty days, and the others never. Each visit receives as many bytes.
type few struct {
	clk    clock.Clock
	visits [2]int // to those that never change, and to those that do
}

func (f *few) Visit(_ context.Context, turn models.Turn) models.Outcome {
	p, now := &turn.Page.Page, f.clk.Now()
	out := models.Outcome{Kind: models.SameBytes, At: now, Sent: 1, Status: 200, WireBytes: 10_000}
	changes := p.ID % 10 / 9
	f.visits[changes]++
	switch pace := 20 * 24 * time.Hour; {
	case p.Stats.Records == 0:
		out.Kind = models.First
	case changes == 1 && now.Truncate(pace).After(p.Stats.VisitedAt.Time()):
		out.Kind = models.Changed
	}
	return out
}

// TestBudgetOfBytesIsSpentWherePagesChange: a budget of bytes alone that pays for a visit to each page every month is not spent in turn because fr_max
// is as short: those that change have more of it. Before it was known for how many visits it pays they had a tenth, as they are.
func TestBudgetOfBytesIsSpentWherePagesChange(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := config.Default()
	c.Defaults.Policy, c.Defaults.FRMax, c.Cycle = "adaptive", 20, "24h"
	c.Budget = config.Budget{Bytes: 100_000}
	c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://h.test/", Settings: c.Defaults}}
	planner, err := scheduler.NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	store := simulate.NewMemory(simulate.MemoryOptions{})
	var found []models.Discovery
	for i := range 300 {
		p := scheduler.NewPage(fmt.Sprintf("http://h.test/d%d/p%d", i%5, i), "h.test", 1, 0, 4)
		p.DueAt = models.At(start)
		found = append(found, models.Discovery{Page: p, Host: "h.test"})
	}
	if _, err := store.AddPages(t.Context(), start, found, 1e6); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	clk := &endClock{clock.NewVirtual(start), start.AddDate(1, 0, 0), stop}
	pages := &few{clk: clk}
	worker := scheduler.NewWorker(scheduler.Config{Store: store, Visitor: pages, Archive: simulate.Nowhere{}, Clock: clk,
		Log: slog.New(slog.DiscardHandler), Name: "w", Lease: time.Hour}, planner)
	if err := worker.Run(ctx); err != nil {
		t.Fatal(err)
	}
	all := pages.visits[0] + pages.visits[1]
	if all < 3300 || all > 3900 {
		t.Errorf("%d visits in a year at what ten a day receive", all)
	}
	if share := float64(pages.visits[1]) / float64(all); share < 0.3 {
		t.Errorf("%.2f of the visits were to the tenth of the pages that change", share)
	}
	t.Log(pages.visits)
}
