package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// greeter answers for hosts whose robots.txt it must ask for first, and notes when the last page was visited.
type greeter struct {
	mu     sync.Mutex
	visits int       // guarded by mu
	last   time.Time // guarded by mu
}

func (g *greeter) Visit(_ context.Context, turn models.Turn) models.Outcome {
	if len(turn.Robots) == 0 {
		row := models.Robots{Bucket: turn.Host.Bucket, HostID: turn.Host.ID, Origin: "http://" + turn.Host.Name, Status: 404,
			FetchedAt: models.At(turn.Now), GoodAt: models.At(turn.Now), ExpiresAt: models.At(turn.Now.Add(day))}
		return models.Outcome{Kind: models.RobotsFetched, Status: 404, At: turn.Now, Sent: 1, Robots: &row}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.visits, g.last = g.visits+1, turn.Now
	return models.Outcome{Kind: models.First, Status: 200, At: turn.Now, Sent: 1, Digest: models.DigestOf([]byte(turn.Page.URL))}
}

// TestCreditHoldsNoFetcherThatOthersWant: where hundreds of sites have budgets of their own with something left in them, no fetcher waits beside a host for
// the delay between its robots.txt and its page while other hosts are ready: these, and sites without a budget, would wait for minutes.
func TestCreditHoldsNoFetcherThatOthersWant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const sites = 200
		c, clk := config.Default(), clock.System{}
		c.Cycle, c.Defaults.Vary = "24h", 0
		start := clk.Now()
		var found []models.Discovery
		for id := int32(1); id <= sites; id++ {
			s, host := c.Defaults, fmt.Sprintf("h%d.test", id)
			s.Budget.Requests.PerDay = 1000
			c.Sites = append(c.Sites, config.Site{ID: id, Name: host, URL: "http://" + host + "/", Settings: s})
			p := scheduler.NewPage("http://"+host+"/", host, id, 0, 4)
			p.DueAt = models.At(start)
			found = append(found, models.Discovery{Page: p, Host: host})
		}
		store := simulate.NewMemory(simulate.MemoryOptions{})
		if _, err := store.AddPages(t.Context(), start, found, 1e6); err != nil {
			t.Fatal(err)
		}
		planner, err := scheduler.NewPlanner(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		v := new(greeter)
		if err := scheduler.NewWorker(scheduler.Config{Store: store, Visitor: v, Archive: simulate.Nowhere{}, Clock: clk, Log: slog.New(slog.DiscardHandler),
			Name: "w", Lease: 5 * time.Minute, Fetchers: 8, Memory: 1 << 20}, planner).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if took := v.last.Sub(start); v.visits != sites || took > time.Minute {
			t.Errorf("%d of %d pages were visited, the last after %v, want all within a minute: each host asks for 10 s between two requests", v.visits, sites, took)
		}
	})
}
