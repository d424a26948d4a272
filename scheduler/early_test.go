package scheduler_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

const day = 24 * time.Hour

// A list that is not due and is the next page of its host keeps no other page of it from being visited where the budget has a visit to
// spare, also where the host must be left alone so long that it is leased for one page at a time.
func TestAListThatIsNotDueHoldsNoPageBack(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{0, 10 * time.Second} {
		got := visitedEarly(t, delay, map[string]time.Duration{"http://a.test/sitemap.xml": 6 * time.Hour, "http://a.test/p": 10 * day})
		if len(got) == 0 || slices.Contains(got, "http://a.test/sitemap.xml") {
			t.Errorf("with a delay of %v, %v are visited before they are due, want the page alone", delay, got)
		}
	}
}

// Nor does it bring its host the visits that pages of other hosts would get, which are due before its own.
func TestAListThatIsNotDueBringsItsHostNoVisits(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]string{"no list": "", "a list due before": "http://b.test/sitemap.xml", "a list due later": "http://b.test/feed"} {
		due := map[string]time.Duration{"http://a.test/sitemap.xml": 6 * time.Hour, "http://a.test/p": 10 * day, "http://a.test/q": 11 * day,
			"http://b.test/p": 2 * day, "http://b.test/q": 3 * day}
		switch {
		case strings.HasSuffix(others, ".xml"):
			due[others] = 5*time.Hour + time.Minute
		case others != "":
			due[others] = 7 * time.Hour
		}
		want := []string{"http://b.test/p", "http://b.test/q", "http://a.test/p", "http://a.test/q"}
		if got := visitedEarly(t, 0, due); len(got) < 4 || !slices.Equal(got[:4], want) {
			t.Errorf("beside a host with %s visits come in the order %v, want %v first", name, got, want)
		}
	}
}

// route is a visitor that finds nothing new and takes notes.
type route []string

func (r *route) Visit(_ context.Context, turn models.Turn) models.Outcome {
	*r = append(*r, turn.Page.URL)
	return models.Outcome{Kind: models.NotModified, At: turn.Now, Sent: 1, Status: 304}
}

// visitedEarly is which of some pages are visited, by when they are due after a visit to all, in three hours of a budget that has
// visits to spare, from two hours after it on. Those whose names are of lists are lists.
func visitedEarly(t *testing.T, delay time.Duration, due map[string]time.Duration) []string {
	t.Helper()
	c := config.Default()
	c.Defaults.Policy, c.Defaults.Delay, c.Cycle = "adaptive", delay, "1h"
	c.Budget.Requests = config.Rate{PerDay: 100}
	c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://a.test/", Settings: c.Defaults}}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := simulate.NewMemory(simulate.MemoryOptions{})
	wait(t, store, start, delay, due)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	clk := endClock{clock.NewVirtual(start.Add(2 * time.Hour)), start.Add(5 * time.Hour), stop}
	var seen route
	works(ctx, t, &c, store, &seen, clk)
	return seen
}

// wait puts pages into the store that were all visited then, and wait for their due times.
func wait(t *testing.T, store *simulate.Memory, then time.Time, delay time.Duration, due map[string]time.Duration) {
	t.Helper()
	for url := range due {
		host := strings.Split(url, "/")[2]
		p := scheduler.NewPage(url, host, 1, 0, 4)
		p.DueAt = models.At(then)
		if _, err := store.AddPages(t.Context(), then, []models.Discovery{{Page: p, Host: host}}, 0); err != nil {
			t.Fatal(err)
		}
	}
	leases, err := store.Claim(t.Context(), models.ClaimRequest{Now: then, Lease: time.Hour, Buckets: allBuckets(), Hosts: 10, Pages: len(due)})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases {
		var results []models.Result
		for i, p := range l.Pages {
			r := models.Result{Lease: models.LeaseRef{Bucket: l.Host.Bucket, HostID: l.Host.ID, Token: l.Host.LeaseToken}, Host: l.Host,
				Page: p.Page, Release: i == len(l.Pages)-1, Visit: models.Visit{Number: 1, At: models.At(then)}}
			r.Host.Ahead, r.Host.Delay = true, delay
			r.Page.State, r.Page.Visits, r.Page.DueAt, r.Page.Rule = models.StateLive, 1, models.At(then.Add(due[p.URL])), models.RulePolicy
			r.Page.Stats = models.ChangeStats{Records: 1, FirstAt: models.At(then), VisitedAt: models.At(then)}
			if strings.HasSuffix(p.URL, "sitemap.xml") || strings.HasSuffix(p.URL, "feed") {
				r.Page.Rule, r.Page.Entries = models.RuleList, 1
			}
			results = append(results, r)
		}
		if verdicts, err := store.Commit(t.Context(), then, results); err != nil || slices.ContainsFunc(verdicts, func(err error) bool { return err != nil }) {
			t.Fatalf("Commit = %v, %v", verdicts, err)
		}
	}
}
