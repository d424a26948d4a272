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

// asker answers for pages that change every 1 to 11 days on hosts whose robots.txt it must ask for first.
type asker struct {
	observer
	longest time.Duration // between visits to a page of site 1
	site    map[int64]int32
}

func (a *asker) Visit(ctx context.Context, turn models.Turn) models.Outcome {
	if now := a.clk.Now(); len(turn.Robots) == 0 || !turn.Robots[0].ExpiresAt.Time().After(now) {
		row := models.Robots{Bucket: turn.Host.Bucket, HostID: turn.Host.ID, Origin: "http://" + turn.Host.Name, Status: 404,
			FetchedAt: models.At(now), GoodAt: models.At(now), ExpiresAt: models.At(now.Add(day))}
		return models.Outcome{Kind: models.RobotsFetched, Status: 404, At: now, Sent: 1, Robots: &row}
	}
	p := &turn.Page.Page
	if last, seen := a.last[p.ID]; seen && p.SiteID == 1 {
		a.longest = max(a.longest, a.clk.Now().Sub(last))
	}
	a.site[p.ID] = p.SiteID
	return a.observer.Visit(ctx, turn)
}

// What is visited as the budget comes in does not keep pages waiting for what is saved up.
func TestOthersDoNotSpendForEverWhatIsSavedUp(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	c := config.Default()
	c.Cycle, c.Budget.Requests = "24h", config.Rate{PerDay: 1}
	c.Defaults.Vary = 0
	saves, spends := c.Defaults, c.Defaults
	saves.Policy, spends.Policy, spends.FR = "adaptive", "fixed", 1
	c.Sites = []config.Site{{ID: 1, Name: "saves", URL: "http://a.test/", Settings: saves}, {ID: 2, Name: "spends", URL: "http://z.test/", Settings: spends}}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := simulate.NewMemory(simulate.MemoryOptions{})
	var found []models.Discovery
	add := func(site int32, host string, pages int) {
		for i := range pages {
			p := scheduler.NewPage(fmt.Sprintf("http://%s/%d", host, i), host, site, 0, 4)
			p.DueAt = models.At(start)
			found = append(found, models.Discovery{Page: p, Host: host})
		}
	}
	add(1, "a.test", 2)
	add(1, "b.test", 2)
	add(2, "z.test", 8)
	if _, err := store.AddPages(t.Context(), start, found, 1e6); err != nil {
		t.Fatal(err)
	}
	planner, err := scheduler.NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	clk := endClock{clock.NewVirtual(start), start.Add(500 * day), stop}
	v := &asker{observer: observer{clk: clk, days: map[int]int{}, last: map[int64]time.Time{}, least: 1e18, start: start}, site: map[int64]int32{}}
	if err := scheduler.NewWorker(scheduler.Config{Store: store, Visitor: v, Archive: simulate.Nowhere{}, Clock: clk,
		Log: slog.New(slog.DiscardHandler), Name: "w", Lease: time.Hour}, planner).Run(ctx); err != nil {
		t.Fatal(err)
	}
	ceiling := time.Duration(saves.FRMax) * day
	for id, last := range v.last {
		if site := v.site[id]; site == 1 {
			v.longest = max(v.longest, clk.end.Sub(last))
		}
	}
	if v.longest > ceiling+10*day {
		t.Errorf("a page waited for %.0f days for what others spent, want no more than the %d of fr_max", v.longest.Hours()/24, saves.FRMax)
	}
}
