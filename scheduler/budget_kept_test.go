package scheduler_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/models"
	"recrawld/simulate"
)

// spender answers for pages whose hosts have a robots.txt, with all kinds of mishaps, and counts its requests.
type spender struct {
	clk  clock.Clock
	sent int
	turn uint32
}

func (s *spender) Visit(_ context.Context, turn models.Turn) models.Outcome {
	out := s.answer(turn)
	s.sent += out.Sent
	return out
}

func (s *spender) answer(turn models.Turn) models.Outcome {
	now := s.clk.Now()
	s.turn++
	h := fnv.New32a()
	fmt.Fprint(h, turn.Page.ID, s.turn)
	lot := h.Sum32() % 100
	switch {
	case lot < 10:
		return models.Outcome{Kind: models.Interrupted, At: now}
	case lot < 20:
		return models.Outcome{Kind: models.Deferred, At: now, HostWaits: true, Until: now.Add(10 * time.Minute)}
	}
	if len(turn.Robots) == 0 || !turn.Robots[0].ExpiresAt.Time().After(now) {
		return models.Outcome{Kind: models.RobotsFetched, Status: 404, At: now, Sent: 1, Robots: &models.Robots{Bucket: turn.Host.Bucket,
			HostID: turn.Host.ID, Origin: "http://" + turn.Host.Name, Status: 404, FetchedAt: models.At(now), GoodAt: models.At(now),
			ExpiresAt: models.At(now.Add(24 * time.Hour))}}
	}
	switch {
	case lot < 30:
		return models.Outcome{Kind: models.Failed, Class: models.ServerError, Status: 500, At: now, Sent: 1}
	case lot < 40:
		return models.Outcome{Kind: models.Missing, Status: 404, At: now, Sent: 1}
	case turn.Page.Stats.Records == 0:
		return models.Outcome{Kind: models.First, Status: 200, At: now, Sent: 1}
	case lot < 60:
		return models.Outcome{Kind: models.Changed, Status: 200, At: now, Sent: 1}
	}
	return models.Outcome{Kind: models.NotModified, Status: 304, At: now, Sent: 1}
}

// TestNoMishapMovesTheBudget: whatever becomes of visits, as many requests are made as the budget allows, be it that of all or of
// a site, under any policy, and time goes on. What robots.txt costs those who wait in a line is paid by those behind them.
func TestNoMishapMovesTheBudget(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	const days, perDay = 60, 40
	rate := config.Rate{PerDay: perDay}
	for name, change := range map[string]func(*config.Config){
		"of all":          func(c *config.Config) { c.Budget.Requests = rate },
		"of a site":       func(c *config.Config) { c.Sites[0].Settings.Budget.Requests = rate },
		"of both":         func(c *config.Config) { c.Budget.Requests, c.Sites[0].Settings.Budget.Requests = rate, rate },
		"of all, classic": func(c *config.Config) { c.Budget.Requests, c.Sites[0].Settings.Policy = rate, "classic" },
		"of site, classic": func(c *config.Config) {
			c.Sites[0].Settings.Budget.Requests, c.Sites[0].Settings.Policy = rate, "classic"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := spent(t, days, change)
			t.Logf("%d requests", sent)
			if sent > days*perDay*105/100 || sent < days*perDay*8/10 {
				t.Errorf("%d requests in %d days at %d a day", sent, days, perDay)
			}
		})
	}
}

// spent is how many requests a worker makes for the pages of one site in so many days.
func spent(t *testing.T, days int, change func(*config.Config)) int {
	t.Helper()
	c := config.Default()
	c.Defaults.Policy, c.Defaults.Vary = "adaptive", 0
	c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://h0.test/", Settings: c.Defaults}}
	change(&c)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := simulate.NewMemory(simulate.MemoryOptions{})
	for h := range 20 {
		for i := range 25 {
			adds(t, store, start, 1, fmt.Sprintf("http://h%d.test/d%d/p%d", h, i%5, i))
		}
	}
	ctx, clk := ending(t, start, days)
	visitor := &spender{clk: clk}
	works(ctx, t, &c, store, visitor, clk)
	return visitor.sent
}
