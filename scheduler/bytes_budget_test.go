package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
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

// volumes are pages of all sizes, of which large ones change as often as small ones.
type volumes struct {
	clk     clock.Clock
	start   time.Time
	changes map[string][]time.Duration
	sizes   map[string]int64
	seen    map[string]time.Duration
	stale   time.Duration
	bytes   int64
	visits  int
}

func (v *volumes) Visit(_ context.Context, turn models.Turn) models.Outcome {
	p, now := &turn.Page.Page, v.clk.Now()
	at := now.Sub(v.start)
	out := models.Outcome{Kind: models.SameBytes, At: now, Sent: 1, Status: 200, WireBytes: v.sizes[p.URL],
		Digest: models.DigestOf(fmt.Appendf(nil, "%s in version %d", p.URL, countUntil(v.changes[p.URL], at)))}
	switch {
	case p.Stats.Records == 0:
		out.Kind = models.First
	case out.Digest != p.Digest:
		out.Kind = models.Changed
	}
	v.see(p.URL, at)
	v.bytes += out.WireBytes
	v.visits++
	return out
}

// see adds for how long a page was stale until a moment, when it is seen.
func (v *volumes) see(url string, at time.Duration) {
	seen, changes := v.seen[url], v.changes[url]
	if next := countUntil(changes, seen); next < len(changes) {
		v.stale += max(0, at-changes[next])
	}
	v.seen[url] = at
}

// TestBudgetOfBytesIsSpentBySize: of pages that differ in size by a factor of some hundred, small ones are visited more often, and all together are fresher: stale for
// 0.28 of the time. As long as each visit counted alike it was 0.41.
func TestBudgetOfBytesIsSpentBySize(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	const pages, days, day = 150, 300, 24 * time.Hour
	v := &volumes{start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), changes: make(map[string][]time.Duration), sizes: make(map[string]int64),
		seen: make(map[string]time.Duration)}
	rng := rand.New(rand.NewPCG(1, 2))
	var found []models.Discovery
	total := int64(0)
	for i := range pages {
		p := scheduler.NewPage(fmt.Sprintf("http://h.test/d%d/p%d", i%5, i), "h.test", 1, 0, 4)
		p.DueAt = models.At(v.start)
		found = append(found, models.Discovery{Page: p, Host: "h.test"})
		v.sizes[p.URL] = int64(10_000 * math.Exp(1.5*rng.NormFloat64()))
		total += v.sizes[p.URL]
		rate := 0.05 * math.Exp(rng.NormFloat64())
		for at := rng.ExpFloat64() / rate; at < days; at += rng.ExpFloat64() / rate {
			v.changes[p.URL] = append(v.changes[p.URL], time.Duration(at*float64(day)))
		}
	}
	c := config.Default()
	c.Defaults.Policy, c.Cycle, c.Budget = "adaptive", "24h", config.Budget{Bytes: total / 20}
	c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://h.test/", Settings: c.Defaults}}
	planner, err := scheduler.NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	store := simulate.NewMemory(simulate.MemoryOptions{})
	if _, err := store.AddPages(t.Context(), v.start, found, 1e6); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	clk := &endClock{clock.NewVirtual(v.start), v.start.Add(days * day), stop}
	v.clk = clk
	if err := scheduler.NewWorker(scheduler.Config{Store: store, Visitor: v, Archive: simulate.Nowhere{}, Clock: clk,
		Log: slog.New(slog.DiscardHandler), Name: "w", Lease: time.Hour}, planner).Run(ctx); err != nil {
		t.Fatal(err)
	}
	for url := range v.sizes {
		v.see(url, days*day)
	}
	stale, spent := float64(v.stale)/float64(pages*days*day), float64(v.bytes)/float64(c.Budget.Bytes*days)
	t.Logf("stale for %.3f of the time, %d visits, %.3f of the budget", stale, v.visits, spent)
	if stale > 0.33 || spent < 0.97 || spent > 1.05 {
		t.Errorf("stale for %.3f of the time with %.3f of the budget", stale, spent)
	}
}
