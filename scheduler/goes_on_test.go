package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// goesOn is a clock that goes on by a step whenever somebody looks at it, as that of a machine does.
type goesOn struct {
	endClock
	step time.Duration
}

func (c goesOn) Now() time.Time {
	now := c.Virtual.Now().Add(c.step)
	if c.Virtual.SleepUntil(context.Background(), now) != nil {
		panic("a clock without an end has ended")
	}
	return now
}

// TestTheClockGoesOnDuringADecision: what is decided on a clock that stands still during a visit, as in a simulation, is decided on one that goes
// on: whoever compares a moment read later than another one with that has both visits made, and none put off for ever.
func TestTheClockGoesOnDuringADecision(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	const days, hosts, pages = 300, 24, 2
	night, err := config.ParseWindow("22:00-04:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	nights := []config.Window{night}
	for name, change := range map[string]func(*config.Config, *config.Settings){
		"requests":      func(c *config.Config, _ *config.Settings) { c.Budget.Requests = config.Rate{PerDay: 6} },
		"few requests":  func(c *config.Config, _ *config.Settings) { c.Budget.Requests = config.Rate{PerDay: 2} },
		"many requests": func(c *config.Config, _ *config.Settings) { c.Budget.Requests = config.Rate{PerDay: 60} },
		"requests for each page": func(c *config.Config, _ *config.Settings) {
			c.Budget.Requests = config.Rate{PerDay: 0.1, PerPage: true}
		},
		"bytes":             func(c *config.Config, _ *config.Settings) { c.Budget.Bytes = 50_000 },
		"of the site":       func(_ *config.Config, s *config.Settings) { s.Budget.Requests = config.Rate{PerDay: 6} },
		"bytes of the site": func(_ *config.Config, s *config.Settings) { s.Budget.Bytes = 50_000 },
		"at night": func(c *config.Config, s *config.Settings) {
			c.Budget.Requests, s.Windows = config.Rate{PerDay: 6}, nights
		},
		"of the site at night": func(_ *config.Config, s *config.Settings) {
			s.Budget.Requests, s.Windows = config.Rate{PerDay: 6}, nights
		},
		"no budget": func(*config.Config, *config.Settings) {},
	} {
		for _, policy := range []string{"adaptive", "classic"} {
			t.Run(name+", "+policy, func(t *testing.T) {
				t.Parallel()
				visits := func(goes bool) (n, results int, stale float64) {
					c := config.Default()
					c.Cycle = "24h"
					settings := c.Defaults
					settings.Policy = policy
					change(&c, &settings)
					c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://h0.test/", Settings: settings}}
					v, store := overHosts(t, &c, hosts, pages, days, goes)
					return v.visits, store.commits, v.stale()
				}
				stands, few, wasStale := visits(false)
				goes, many, isStale := visits(true)
				as := t.Logf
				if float64(goes) < 0.95*float64(stands) || float64(goes) > 1.05*float64(stands) || isStale > wasStale+0.02 || float64(many) > 1.2*float64(few) {
					as = t.Errorf
				}
				as("%d visits, %d turns, stale for %.3f; on a clock that goes on %d, %d, %.3f", stands, few, wasStale, goes, many, isStale)
			})
		}
	}
}

// overHosts runs a worker over so many hosts of so many pages, whose robots.txt it asks for, for so many days.
func overHosts(t *testing.T, c *config.Config, hosts, pages, days int, goes bool) (v *reader, store *ledger) {
	t.Helper()
	w := world{hosts: hosts, pages: pages, days: days}
	if goes {
		w.step = time.Microsecond
	}
	store = overWorld(t, c, w, func(r *reader) scheduler.Visitor { v = r; return r })
	return v, store
}

// world is so many hosts of so many pages, for so many days, on a clock that goes on by a step whenever somebody looks at it; 0: it stands still
// during a visit.
type world struct {
	hosts, pages, days int
	step               time.Duration
}

// overWorld runs a worker over a world, with a visitor made of a reader of it.
func overWorld(t *testing.T, c *config.Config, of world, visitor func(*reader) scheduler.Visitor) *ledger {
	t.Helper()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := &ledger{Memory: simulate.NewMemory(simulate.MemoryOptions{})}
	for h := range of.hosts {
		for i := range of.pages {
			adds(t, store, start, 1, fmt.Sprintf("http://h%d.test/%d", h, i))
		}
	}
	ctx, ends := ending(t, start, of.days)
	clk := clock.Clock(ends)
	if of.step > 0 {
		clk = goesOn{ends, of.step}
	}
	v := &reader{asker: asker{observer: observer{clk: ends, days: map[int]int{}, last: map[int64]time.Time{}, least: 1e18, start: start}, site: map[int64]int32{}}}
	works(ctx, t, c, store, visitor(v), clk)
	return store
}
