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
	for i := range 2 {
		adds(t, store, start, 1, fmt.Sprintf("http://a.test/%d", i), fmt.Sprintf("http://b.test/%d", i))
	}
	for i := range 8 {
		adds(t, store, start, 2, fmt.Sprintf("http://z.test/%d", i))
	}
	ctx, clk := ending(t, start, 500)
	v := &asker{observer: observer{clk: clk, days: map[int]int{}, last: map[int64]time.Time{}, least: 1e18, start: start}, site: map[int64]int32{}}
	works(ctx, t, &c, store, v, clk)
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

// reader is an asker whose answers have lengths, and that counts what it asks for.
type reader struct {
	asker
	robots int
	bytes  int64
}

func (r *reader) Visit(ctx context.Context, turn models.Turn) models.Outcome {
	out := r.asker.Visit(ctx, turn)
	out.WireBytes = 2000
	if out.Kind == models.RobotsFetched {
		r.robots++
		out.WireBytes = 9000
	}
	r.bytes += out.Received()
	return out
}

// TestASmallBudgetOfASiteIsNotSpentOnRobotsAlone: where a day brings a site less than a robots.txt costs each of these has its visit: a page that asked for it
// is visited at once, on credit, and not when it is too old again. Each page has its turn, and the budget is kept to.
func TestASmallBudgetOfASiteIsNotSpentOnRobotsAlone(t *testing.T) {
	t.Parallel()
	const days, pages = 300, 5
	for _, budget := range []config.Budget{{Requests: config.Rate{PerDay: 0.3}}, {Requests: config.Rate{PerDay: 1}}, {Bytes: 4000}} {
		for _, policy := range []string{"adaptive", "fixed", "classic"} {
			c := config.Default()
			c.Cycle, c.Defaults.Vary = "24h", 0
			settings := c.Defaults
			settings.Policy, settings.Budget = policy, budget
			c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://h.test/", Settings: settings}}
			var v *reader
			overPages(t, &c, &ledger{Memory: simulate.NewMemory(simulate.MemoryOptions{})}, pages, days, func(clk clock.Clock) scheduler.Visitor {
				v = &reader{asker: asker{observer: observer{clk: clk, days: map[int]int{}, last: map[int64]time.Time{}, least: 1e18, start: clk.Now()}, site: map[int64]int32{}}}
				return v
			})
			visits, asked, most := v.visits, float64(v.visits+v.robots), budget.Requests.PerDay*days+10
			turn := pages * 2 / budget.Requests.PerDay // days, where each visit has a robots.txt
			if budget.Bytes > 0 {
				asked, most, turn = float64(v.bytes), float64(budget.Bytes)*days+60_000, pages*11_000/float64(budget.Bytes)
			}
			for _, last := range v.last {
				v.longest = max(v.longest, v.clk.Now().Sub(last))
			}
			if asked > most || visits < v.robots || len(v.last) != pages || v.longest.Hours()/24 > 2*turn {
				t.Errorf("%s, %+v: %d robots.txt and %d visits to %d pages, one waited for %.0f days, %.0f spent; want no fewer visits than robots.txt, a turn in %.0f days, at most %.0f spent",
					policy, budget, v.robots, visits, len(v.last), v.longest.Hours()/24, asked, turn, most)
			}
		}
	}
}
