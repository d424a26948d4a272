package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// observer answers for pages that change every 1 to 11 days, and takes notes.
type observer struct {
	clk    clock.Clock
	visits int
	days   map[int]int
	last   map[int64]time.Time
	least  time.Duration
	most   time.Duration
	unseen time.Duration // that changes were not seen by
	passed time.Duration // between visits
	start  time.Time
}

func (o *observer) Visit(_ context.Context, turn models.Turn) models.Outcome {
	p, now := &turn.Page.Page, o.clk.Now()
	o.visits++
	o.days[int(now.Sub(o.start).Hours()/24)]++
	if last, ok := o.last[p.ID]; ok {
		o.least, o.most = min(o.least, now.Sub(last)), max(o.most, now.Sub(last))
	}
	o.last[p.ID] = now
	pace := time.Duration(uint64(p.ID)%11+1) * 24 * time.Hour
	if p.Stats.Records > 0 {
		seen := p.Stats.VisitedAt.Time()
		o.passed += now.Sub(seen)
		o.unseen += max(0, now.Sub(seen.Truncate(pace).Add(pace)))
	}
	out := models.Outcome{Kind: models.NotModified, At: now, Sent: 1, Status: 304}
	switch {
	case p.Stats.Records == 0:
		out.Kind = models.First
	case now.Truncate(pace).After(p.Stats.VisitedAt.Time()):
		out.Kind = models.Changed
	}
	return out
}

// stale is the share of the time in which a page had changed since its last visit.
func (o *observer) stale() float64 { return float64(o.unseen) / float64(o.passed) }

// ledger is a store that counts what is moved.
type ledger struct {
	*simulate.Memory
	putOff, moved, commits int
}

func (c *ledger) Commit(ctx context.Context, now time.Time, r []models.Result) ([]error, error) {
	for i := range r {
		if r[i].Page.Rule == models.RuleBudget {
			c.putOff++
		}
	}
	c.commits += len(r)
	return c.Memory.Commit(ctx, now, r)
}

func (c *ledger) Reschedule(ctx context.Context, d []models.Due) error {
	c.moved += len(d)
	return c.Memory.Reschedule(ctx, d)
}

// simulated runs a worker over the pages of one site with the policy adaptive for so many days.
func simulated(t *testing.T, pages, days int, change func(*config.Config)) (*observer, *ledger) {
	t.Helper()
	c := config.Default()
	c.Defaults.Policy, c.Defaults.Vary = "adaptive", 0
	c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://h.test/", Settings: c.Defaults}}
	change(&c)
	store := &ledger{Memory: simulate.NewMemory(simulate.MemoryOptions{})}
	var w *observer
	overPages(t, &c, store, pages, days, func(clk clock.Clock) scheduler.Visitor {
		w = &observer{clk: clk, days: map[int]int{}, last: map[int64]time.Time{}, least: 1e18, start: clk.Now()}
		return w
	})
	return w, store
}

// overPages runs a worker over so many pages of one host for so many days.
func overPages(t *testing.T, c *config.Config, store *ledger, pages, days int, visitor func(clock.Clock) scheduler.Visitor) {
	t.Helper()
	start, urls := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), make([]string, pages)
	for i := range urls {
		urls[i] = pageOf(i)
	}
	adds(t, store, start, 1, urls...)
	ctx, clk := ending(t, start, days)
	works(ctx, t, c, store, visitor(clk), clk)
}

// pageOf is the URL of one of those pages.
func pageOf(i int) string { return fmt.Sprintf("http://h.test/d%d/p%d", i%5, i) }

// TestEarlyVisitsKeepTheCycle: with budget to spare no page is visited twice within a cycle, but for the part of a millisecond
// by which times are cut where they are stored, and all are once in nearly each.
func TestEarlyVisitsKeepTheCycle(t *testing.T) {
	t.Parallel()
	w, _ := simulated(t, 3, 20, func(c *config.Config) {
		c.Cycle = "6h"
		c.Budget.Requests = config.Rate{PerDay: 200}
	})
	if w.least < 6*time.Hour-time.Millisecond || w.visits < 120 {
		t.Errorf("%d visits; two to one page are %v apart, want at least a cycle of 6h and some 240 visits", w.visits, w.least)
	}
}

// TestBudgetOfASite compares a site's own budget with the same one of all sites: most of it is spent, and pages
// wait not much longer.
func TestBudgetOfASite(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	const days = 30
	for _, test := range []struct {
		pages  int
		perDay float64
	}{{100, 100}, {300, 20}} {
		t.Run(fmt.Sprintf("%v requests a day for %d pages", test.perDay, test.pages), func(t *testing.T) {
			t.Parallel()
			rate := config.Rate{PerDay: test.perDay}
			all, _ := simulated(t, test.pages, days, func(c *config.Config) { c.Budget.Requests = rate })
			own, store := simulated(t, test.pages, days, func(c *config.Config) { c.Sites[0].Settings.Budget.Requests = rate })
			t.Logf("of all: %d visits, longest %v, stale %.3f; own: %d visits, longest %v, stale %.3f, %d put off, %d moved",
				all.visits, all.most, all.stale(), own.visits, own.most, own.stale(), store.putOff, store.moved)
			if perDay := float64(own.visits) / days; perDay < 0.9*float64(all.visits)/days || perDay > test.perDay*1.01 {
				t.Errorf("of %v requests a day %.1f are made; under the budget of all sites %.1f", test.perDay, perDay, float64(all.visits)/days)
			}
			if own.stale() > 1.2*all.stale() {
				t.Errorf("a share of %.4f of the changes' time is not seen, under the budget of all sites %.4f", own.stale(), all.stale())
			}
			if store.putOff > 2*own.visits {
				t.Errorf("%d visits, but %d times a page was put off", own.visits, store.putOff)
			}
			if len(own.last) < test.pages || own.most > 60*24*time.Hour {
				t.Errorf("%d of %d pages were visited, the longest wait was %v", len(own.last), test.pages, own.most)
			}
		})
	}
}

// TestBudgetWithinWindows: outside its windows a site's pages are not visited, and nobody tries over and over.
func TestBudgetWithinWindows(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	window, err := config.ParseWindow("22:00-02:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	w, store := simulated(t, 100, 120, func(c *config.Config) {
		c.Sites[0].Settings.Windows = []config.Window{window}
		c.Budget.Requests = config.Rate{PerDay: 100}
	})
	late := 0
	for d := 60; d < 120; d++ {
		late += w.days[d]
	}
	t.Logf("%d visits, %d in the last 60 days, %d commits, longest %v", w.visits, late, store.commits, w.most)
	if perDay := float64(late) / 60; perDay < 90 || perDay > 101 {
		t.Errorf("%.1f visits a day, want nearly 100: what comes in while the window is closed is kept for it", perDay)
	}
	if store.commits > 4*w.visits {
		t.Errorf("%d commits for %d visits", store.commits, w.visits)
	}
}

// TestBudgetOfAWeeklyWindow: what comes in while the windows are closed for days is spent as one opens, from the first week on, whichever budget pays: a window
// has what a week brings, and, of a site's own, a day's more at most, since places in its line come all the time.
func TestBudgetOfAWeeklyWindow(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	window, err := config.ParseWindow("Sun 02:00-10:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []bool{false, true} {
		for _, policy := range []string{"adaptive", "fixed"} {
			w, _ := simulated(t, 800, 42, func(c *config.Config) {
				s := &c.Sites[0].Settings
				s.Windows, s.Policy = []config.Window{window}, policy
				budget := &c.Budget
				if own {
					budget = &s.Budget
				}
				budget.Requests = config.Rate{PerDay: 100}
			})
			var weeks [7]int
			for d, n := range w.days {
				weeks[d/7] += n
			}
			sum := 0
			for week, n := range weeks[:6] {
				if most := 701 + 140*btoi(own); n > most || week == 0 && n > 350 {
					t.Errorf("own %v, %s: %d visits in week %d, want at most %d", own, policy, n, week, most)
				}
				if week > 1 {
					sum += n
				}
			}
			if mean := sum / 4; mean < 670 || mean > 705 {
				t.Errorf("own %v, %s: %d visits a week, want nearly 700: %v", own, policy, mean, weeks)
			}
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestNewPagesAreReadAtOnce: a budget for each page known does not hold up the first visits to new pages, and holds the
// others to its measure.
func TestNewPagesAreReadAtOnce(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*config.Config){
		"the default": func(*config.Config) {},
		"of the site": func(c *config.Config) { c.Sites[0].Settings.Budget.Requests = config.Rate{PerDay: 0.2, PerPage: true} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := simulated(t, 50, 30, change)
			if w.days[0] < 50 {
				t.Errorf("%d visits on the first day, want all 50 pages read", w.days[0])
			}
			if w.visits < 50+250 || w.visits > 50+310 {
				t.Errorf("%d visits in 30 days, want the first 50 and some 300", w.visits)
			}
		})
	}
}
