package scheduler_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// A list that is not due and is the next page of its host keeps no other page of it from being visited where the budget has a visit to
// spare, also where the host must be left alone so long that it is leased for one page at a time.
func TestAListThatIsNotDueHoldsNoPageBack(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{0, 10 * time.Second} {
		c := config.Default()
		c.Defaults.Policy, c.Defaults.Delay, c.Cycle = "adaptive", delay, "1h"
		c.Budget.Requests = config.Rate{PerDay: 100}
		c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://h.test/", Settings: c.Defaults}}
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		store := simulate.NewMemory(simulate.MemoryOptions{})
		list, page := waiting(t, store, start, delay)
		planner, err := scheduler.NewPlanner(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		clk := endClock{clock.NewVirtual(start.Add(2 * time.Hour)), start.Add(5 * time.Hour), stop}
		w := &observer{clk: clk, days: map[int]int{}, last: map[int64]time.Time{}, least: 1e18, start: start}
		if err := scheduler.NewWorker(scheduler.Config{Store: store, Visitor: w, Archive: simulate.Nowhere{}, Clock: clk,
			Log: slog.New(slog.DiscardHandler), Name: "w", Lease: time.Hour}, planner).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if seen := w.last[page]; seen.IsZero() || !w.last[list].IsZero() {
			t.Errorf("with a delay of %v, of a list due in hours and a page due in days the list is visited at %v, the page at %v: want the page alone",
				delay, w.last[list], seen)
		}
	}
}

// waiting puts a host into the store with two pages that were visited then: a list that is due in six hours, and a page that is in ten
// days and may be visited before.
func waiting(t *testing.T, store *simulate.Memory, then time.Time, delay time.Duration) (list, page int64) {
	t.Helper()
	var found []models.Discovery
	for _, url := range []string{"http://h.test/sitemap.xml", "http://h.test/p"} {
		p := scheduler.NewPage(url, "h.test", 1, 0, 4)
		p.DueAt = models.At(then)
		found = append(found, models.Discovery{Page: p, Host: "h.test"})
	}
	if _, err := store.AddPages(t.Context(), then, found, 0); err != nil {
		t.Fatal(err)
	}
	list, page = found[0].Page.ID, found[1].Page.ID
	leases, err := store.Claim(t.Context(), models.ClaimRequest{Now: then, Lease: time.Hour, Buckets: []int16{found[0].Page.Bucket}, Hosts: 1, Pages: 2})
	if err != nil || len(leases) != 1 || len(leases[0].Pages) != 2 {
		t.Fatalf("Claim = %v, %v, want the host with both pages", leases, err)
	}
	h := leases[0].Host
	var results []models.Result
	for i, p := range leases[0].Pages {
		r := models.Result{Lease: models.LeaseRef{Bucket: h.Bucket, HostID: h.ID, Token: h.LeaseToken}, Host: h, Page: p.Page, Release: i == 1}
		r.Host.Ahead, r.Host.Delay = true, delay
		r.Page.DueAt, r.Page.Rule, r.Page.State = models.At(then.AddDate(0, 0, 10)), models.RulePolicy, models.StateLive
		if p.ID == list {
			r.Page.DueAt, r.Page.Rule, r.Page.Entries = models.At(then.Add(6*time.Hour)), models.RuleList, 1
		}
		r.Page.Stats = models.ChangeStats{Records: 1, FirstAt: models.At(then), VisitedAt: models.At(then)}
		r.Page.Visits = 1
		r.Visit.Number, r.Visit.At = 1, models.At(then)
		results = append(results, r)
	}
	verdicts, err := store.Commit(t.Context(), then, results)
	if err != nil || verdicts[0] != nil || verdicts[1] != nil {
		t.Fatalf("Commit = %v, %v", verdicts, err)
	}
	return list, page
}
