package scheduler

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/policy"
)

func TestPagesMeetWhenTheyAreWorthTheirRobots(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		members []member
		want    float64
	}{
		"nobody":                      {nil, 0},
		"a page alone":                {[]member{{pays: 10, alone: 14}}, 14},
		"two alike share it":          {[]member{{pays: 10, alone: 14}, {pays: 10, alone: 14}}, 12},
		"four alike":                  {[]member{{pays: 10, alone: 14}, {pays: 10, alone: 14}, {pays: 10, alone: 14}, {pays: 10, alone: 14}}, 11},
		"who comes too late is alone": {[]member{{pays: 10, alone: 14}, {pays: 20, alone: 28}}, 14},
		"who is never worth it":       {[]member{{pays: 10, alone: 14}, {pays: math.Inf(1), alone: math.Inf(1)}}, 14},
		"worth it by now":             {[]member{{pays: 0, alone: 4, over: 0.6}, {pays: 0, alone: 9, over: 0.5}}, 0},
		"one begun, one to come":      {[]member{{pays: 0, alone: 4, over: 0.5}, {pays: 1, alone: 3}}, 1.6},
	} {
		g := gathering{members: test.members}
		if got := g.meets(); math.Abs(got-test.want) > 0.002 {
			t.Errorf("%s: they meet in %.3f days, want %.3f", name, got, test.want)
		}
	}
}

// The more pages a host has, the sooner it is asked, but never before a page is worth a visit.
func TestCompanyOnlyBringsVisitsForward(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var g gathering
		first, before := math.Inf(1), math.Inf(1)
		for range rapid.IntRange(1, 20).Draw(t, "pages") {
			x := member{pays: rapid.Float64Range(0, 100).Draw(t, "pays")}
			x.alone = x.pays + rapid.Float64Range(0, 100).Draw(t, "more")
			if x.pays == 0 {
				x.over = rapid.Float64Range(0, 0.9).Draw(t, "over")
			}
			g.members, first = append(g.members, x), min(first, x.pays)
			meets := g.meets()
			if meets > before+0.002 || meets < first {
				t.Fatalf("%d pages meet in %v days, one fewer in %v; the first is worth a visit in %v", len(g.members), meets, before, first)
			}
			before = meets
		}
	})
}

func TestRobotsCountOnlyWhereVisitsAreFew(t *testing.T) {
	t.Parallel()
	now, valid := noon, []models.Robots{{ExpiresAt: models.At(noon.Add(time.Hour))}}
	old := []models.Robots{{ExpiresAt: models.At(noon)}}
	for name, test := range map[string]struct {
		rows  []models.Robots
		pages int32
		even  time.Duration
		cost  float64
		ask   bool
	}{
		"one page, every six days":  {old, 1, 144 * time.Hour, 1 - 1./36, true},
		"three visits a day":        {valid, 3, 24 * time.Hour, 0.5, false},
		"six visits a day":          {old, 6, 24 * time.Hour, 0, true},
		"many pages, seldom asked":  {old, 1001, 5000 * 24 * time.Hour, 0, true},
		"no budget of requests":     {old, 1, 0, 0, true},
		"a host that is new":        {nil, 1, 144 * time.Hour, 0, false},
		"robots.txt cannot be had":  {[]models.Robots{{Class: models.ServerError}}, 1, 144 * time.Hour, 1 - 1./36, false},
		"one of two is still valid": {append(old[:1:1], valid...), 3, 24 * time.Hour, 0.5, false},
	} {
		got := robotsShareOf(test.rows, test.pages, test.even)
		if ask := robotsToAsk(test.rows, now); math.Abs(got.cost-test.cost) > 1e-9 || ask != test.ask {
			t.Errorf("%s: robots.txt counts for %.3f, must be asked for %v; want %.3f, %v", name, got.cost, ask, test.cost, test.ask)
		}
	}
}

// A page that waits for others is due when they meet, also one that came before its time, and costs nothing.
func TestWhoGathersIsDueThen(t *testing.T) {
	t.Parallel()
	planner, meets := testPlanner(t, testConfig()), noon.Add(60*time.Hour)
	for name, due := range map[string]time.Time{"due": noon.Add(-time.Hour), "early": noon.Add(time.Hour)} {
		page := models.Page{Bucket: 7, ID: 2, HostID: 1, FRMax: 1, Rule: models.RulePolicy, DueAt: models.At(due), Visits: 3}
		out := models.Outcome{Kind: models.Deferred, At: noon, Until: meets, Gathers: true}
		got := planner.Plan(testLease(page), page, &out, noon).Page
		if got.DueAt != models.At(meets) || got.Rule != models.RulePolicy || got.Visits != page.Visits {
			t.Errorf("%s: due at %v by rule %v after %d visits, want %v, policy, %d", name, got.DueAt.Time(), got.Rule, got.Visits, meets, page.Visits)
		}
	}
}

// Two sites may have pages on one host: when those of one gather, which its budget asks for, says nothing of the other's.
func TestPagesOfAnotherSiteDoNotWaitForAGathering(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Defaults.Policy = policy.AdaptiveName
	p, err := NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	turn := &hostTurn{worker: &Worker{mind: NewMind(nil)}, meets: map[int32]time.Time{1: noon.Add(100 * time.Hour)},
		lease: models.Lease{Host: models.Host{Pages: 2}, Robots: []models.Robots{{ExpiresAt: models.At(noon)}}}}
	for site, waits := range map[int32]bool{1: true, 2: false} {
		page := models.Page{ID: int64(site), SiteID: site, State: models.StateLive, DueAt: models.At(noon), Rule: models.RulePolicy,
			Stats: models.ChangeStats{Records: 5, FirstAt: models.At(noon.AddDate(0, -1, 0)), VisitedAt: models.At(noon.AddDate(0, 0, -5))}}
		if _, held := turn.gathers(t.Context(), p, &page, noon); held != waits {
			t.Errorf("a page of site %d waits: %v, want %v", site, held, waits)
		}
	}
}

// The pages of a lease wait for the same savings: the budget's note is asked once for all. Nor are early visits put off for longer than a day at a
// time: a budget that is for each page may be a larger one by then.
func TestSavingsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Defaults.Policy, c.Budget.Requests = policy.AdaptiveName, config.Rate{PerDay: 0.05}
	p, err := NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	store := new(notes)
	w := NewWorker(Config{Store: store, Clock: clock.NewVirtual(noon)}, p)
	spend(t, w.purses.all, 4)
	turn := &hostTurn{worker: w, lease: models.Lease{Host: models.Host{Pages: 9}, Robots: []models.Robots{{ExpiresAt: models.At(noon)}}}}
	wait := func(id int64, due time.Time) {
		page := models.Page{ID: id, SiteID: 1, State: models.StateLive, DueAt: models.At(due), Rule: models.RulePolicy,
			Stats: models.ChangeStats{Records: 5, FirstAt: models.At(noon.AddDate(0, -1, 0)), VisitedAt: models.At(noon.AddDate(0, 0, -5))}}
		if _, held := turn.gathers(t.Context(), w.Planner(), &page, noon); !held {
			t.Errorf("page %d, due %v from now, does not wait", id, due.Sub(noon))
		}
	}
	wait(1, noon)
	asked := store.merges
	wait(2, noon)
	if store.merges != asked {
		t.Errorf("the note was asked %d times more for the second page", store.merges-asked)
	}
	wait(3, noon.Add(time.Hour))
	if saved := w.early.saved(); saved.After(noon.Add(24 * time.Hour)) {
		t.Errorf("no early visits for %v", saved.Sub(noon))
	}
}
