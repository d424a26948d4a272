package scheduler

import (
	"log/slog"
	"math"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// paidFor is a planner that knows how many pages its budgets pay for.
func paidFor(t *testing.T, c *config.Config, bySite map[int32]int64) *Planner {
	t.Helper()
	p, err := testPlanner(t, c).Counted(t.Context(), new(notes), bySite)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The ceiling is fr_max, but under the policy adaptive as far as a third of the budget pays for it; and a page that waits for longer than fr_max is
// not called when other settings change.
func TestCeiling(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	c := testConfig()
	c.Cycle = "6h"
	s := &c.Sites[0].Settings
	for _, test := range []struct {
		policy string
		pages  int64
		want   time.Duration
	}{
		{"adaptive", 0, 30 * day}, {"adaptive", 900, 30 * day}, {"adaptive", 1200, 36 * day}, {"adaptive", 5000, 150 * day}, {"classic", 5000, 30 * day},
		{"adaptive", 200_000, 6000 * day},
	} {
		s.Policy, s.FRMax, c.Budget.Requests.PerDay = test.policy, 120, 100
		p := paidFor(t, c, map[int32]int64{c.Sites[0].ID: test.pages - test.pages/3, 77: test.pages / 3})
		page := models.Page{SiteID: c.Sites[0].ID}
		if got := time.Duration(p.Ceiling(page.SiteID, noon)) * 6 * time.Hour; got != test.want {
			t.Errorf("%s, %d pages at 100/day: %v, want %v", test.policy, test.pages, got, test.want)
		}
		if q := p.question(&page, s, noon); q.ceiling != test.want || q.top != int(test.want/(6*time.Hour)) {
			t.Errorf("%s, %d pages at 100/day: the policy is asked with %v, %d cycles", test.policy, test.pages, q.ceiling, q.top)
		}
	}
	s.Policy = "adaptive"
	page := models.Page{SiteID: c.Sites[0].ID, State: models.StateLive, Rule: models.RulePolicy, Wanted: 100 * day, FRMax: 400, DueAt: models.At(noon.Add(90 * day))}
	page.Stats = models.ChangeStats{Records: 5, VisitedAt: models.At(noon.Add(-10 * day)), FirstAt: 1}
	if d, moved := paidFor(t, c, map[int32]int64{c.Sites[0].ID: 5000}).Reschedule(&page, noon); moved {
		t.Errorf("a page that may wait for 100 days is moved to %v", d.DueAt)
	}
	if _, moved := paidFor(t, c, map[int32]int64{c.Sites[0].ID: 50}).Reschedule(&page, noon); !moved {
		t.Error("one that may not is left")
	}
}

// What is put off for another reason than its worth waits for fr_max at most, however small the budget: no later look at its worth would bring it back.
func TestWhatHasNoWorthWaitsForFRMax(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Policy, c.Budget.Requests.PerDay = "adaptive", 100
	p := paidFor(t, c, map[int32]int64{c.Sites[0].ID: 50_000})
	for what, out := range map[string]models.Outcome{
		"excluded": {Kind: models.Excluded, Detail: "robots.txt", At: noon},
		"refused":  {Kind: models.Failed, Class: models.Refused, At: noon},
		"gone":     {Kind: models.Gone, Status: 410, At: noon},
	} {
		page := livePage()
		page.Failures, page.FRMax = 30, 4000
		if due := p.Plan(testLease(page), page, &out, noon).Page.DueAt.Time(); due.After(noon.Add(p.calendar.Interval(noon, c.Sites[0].Settings.FRMax))) {
			t.Errorf("%s: due in %v", what, due.Sub(noon))
		}
	}
}

// A skipped turn of a parent may come as late as the ceiling in force, and a decision is for as long.
func TestTheBudgetSetsTheCeiling(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Policy, c.Budget.Requests.PerDay = "adaptive", 100
	p := paidFor(t, c, map[int32]int64{c.Sites[0].ID: 50_000})
	page := livePage()
	page.FRMax, page.Wanted, page.Skips = 4000, 1000*24*time.Hour, 0
	if due := p.Plan(testLease(page), page, &models.Outcome{Kind: models.Skipped, At: noon}, noon).Page.DueAt.Time(); due.Before(noon.Add(100 * 24 * time.Hour)) {
		t.Errorf("a skipped parent of an interval of 1000 days is due in %v", due.Sub(noon))
	}
}

// Pages that a guard holds back are looked at every fr_max at least, lest it ends before they are.
func TestGuardedPagesWaitForFRMax(t *testing.T) {
	t.Parallel()
	h := newLossHost(t, 60, func(s *config.Settings) { s.Policy = "adaptive" }, nil)
	for i := range h.pages {
		h.pages[i].FRMax = 600
	}
	h.visits(40, 60, same)
	held := 0
	for range 4 {
		h.visits(0, 40, notFound)
		h.now = h.now.Add(30 * 24 * time.Hour)
	}
	for i := range h.pages[:40] {
		if h.pages[i].Rule != models.RuleGuarded {
			continue
		}
		if held++; h.pages[i].DueAt.Time().After(h.now) {
			t.Errorf("page %d is looked at again in %v", i, h.pages[i].DueAt.Time().Sub(h.now))
		}
	}
	if held == 0 {
		t.Error("no page is held back")
	}
}

// A budget of bytes pays for as many visits as it has their bytes, of late, as its note says: the worker that received them and whoever reads that later agree.
func TestBudgetsOfBytesSetTheCeiling(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Policy, c.Budget = "adaptive", config.Budget{Bytes: 1e6}
	store, clk, site := new(notes), clock.NewVirtual(noon), c.Sites[0].ID
	w := NewWorker(Config{Store: counted{store}, Visitor: answers{}, Clock: clk, Log: slog.New(slog.DiscardHandler), Lease: time.Hour}, testPlanner(t, c))
	w.purses.terms.Store(newTerms(budgetsOf(c), map[string]int64{allSites: 10_000}))
	if got := w.purses.term(site).even; got != 0 {
		t.Errorf("before any visit all pages have one every %v", got)
	}
	for i := range 40 { // ten pages read whole, then as many that have not changed
		bytes := int64(100_000)
		if i >= 10 {
			bytes = 400
		}
		w.purses.all.settle(0, bytes)
		w.purses.all.sees(&models.Page{}, &models.Outcome{Kind: models.Changed, Sent: 1, WireBytes: bytes})
		if _, err := w.purses.all.take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if err := clk.SleepUntil(t.Context(), clk.Now().Add(4*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := w.purses.term(site).even.Hours(), 24*10_000*(10*100_000+30*400)/40/1e6; math.Abs(got-want) > 1 {
		t.Errorf("a worker visits all pages alike every %v h, want %v", got, want)
	}
	p, err := testPlanner(t, c).Counted(t.Context(), store, map[int32]int64{site: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.purses.term(site).even, w.purses.term(site).even; got != want {
		t.Errorf("whoever reads that takes it for %v, the worker for %v", got, want)
	}
	if got, want := p.Even(0), p.Even(site); got != want || got == 0 {
		t.Errorf("the budget of all sites visits all pages alike every %v, %v for a site of it", got, want)
	}
}
