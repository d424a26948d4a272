package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
)

// claims counts the hosts that were leased and the pages that came with them or behind them.
type claims struct {
	*Memory
	hosts, pages, further int
}

func (c *claims) Claim(ctx context.Context, r models.ClaimRequest) ([]models.Lease, error) {
	leases, err := c.Memory.Claim(ctx, r)
	for _, l := range leases {
		c.hosts++
		c.pages += len(l.Pages)
	}
	return leases, err
}

func (c *claims) Further(ctx context.Context, now time.Time, limit int, hosts []models.Handed) ([][]models.LeasedPage, error) {
	pages, err := c.Memory.Further(ctx, now, limit, hosts)
	for _, of := range pages {
		c.further += len(of)
	}
	return pages, err
}

// A budget's four unspent requests buy four visits of one lease, one after the other in the order of due times; more pages than
// that are not looked at but for those that come with the last that pays.
func TestLeaseGoesOnAsFarAsTheBudgetPays(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store, world := &claims{Memory: NewMemory(MemoryOptions{Forget: true, ReadyBuckets: 1, Reuse: true})}, NewWorld()
	var found []models.Discovery
	for p := range 40 {
		d := models.Discovery{Host: "h.example", Page: models.Page{SiteID: 1, URL: fmt.Sprintf("https://h.example/%d", p), Rule: models.RuleStart}}
		d.Page.DueAt = models.At(start.Add(-time.Duration(p) * time.Minute))
		found = append(found, d)
		world.Add(d.Page.URL, nil)
	}
	if _, err := store.AddPages(t.Context(), start, found, 0); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Defaults.Policy, c.Defaults.Delay = "classic", 0
	c.Budget.Requests.PerDay = 4
	planner, err := scheduler.NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	visited := &inOrder{Visitor: world, left: 5, end: end}
	w := scheduler.NewWorker(scheduler.Config{Store: store, Visitor: visited, Archive: Nowhere{}, Clock: clock.NewVirtual(start),
		Log: slog.New(slog.DiscardHandler), Name: "test", Lease: time.Hour}, planner)
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if store.hosts != 2 || store.pages != 4 || store.further != 8 {
		t.Errorf("five visits took %d leases with %d pages and %d further ones, want 2 with 4 and 8", store.hosts, store.pages, store.further)
	}
	for i, url := range visited.urls {
		if want := fmt.Sprintf("https://h.example/%d", 39-i); url != want {
			t.Errorf("visit %d is to %s, want %s", i, url, want)
		}
	}
}

// inOrder notes the pages visited, and ends the simulation after so many.
type inOrder struct {
	scheduler.Visitor
	left int
	end  context.CancelFunc
	urls []string
}

func (v *inOrder) Visit(ctx context.Context, t models.Turn) models.Outcome {
	v.urls = append(v.urls, t.Page.URL)
	if v.left--; v.left == 0 {
		v.end()
	}
	return v.Visitor.Visit(ctx, t)
}
