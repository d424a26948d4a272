package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/scheduler/changerate"
	"recrawld/simulate"
)

// What a person is told of a page that shares a robots.txt with others of its host.
func TestSharedRobotsInWords(t *testing.T) {
	t.Parallel()
	page := models.Page{DueAt: models.At(filledNow.Add(2 * day))}
	page.Stats.VisitedAt = models.At(filledNow.Add(-2 * day))
	r := ruling{page: page, now: filledNow}
	for want, e := range map[string]scheduler.Explanation{
		"; its host must be asked for robots.txt first, so it waits until it and other pages there are worth that request too, or a small budget has some visits saved up": {
			Robots: 0.9, AheadOf: 36 * time.Hour, DueAt: filledNow.Add(12 * time.Hour)},
		"; it is visited early, with other pages of its host, while robots.txt is valid": {
			Robots: 0.9, AheadOf: -4 * day, ValidTo: page.DueAt.Time().Add(time.Hour)},
		"": {Robots: 0.9, ValidTo: page.DueAt.Time().Add(time.Hour)},
	} {
		if got := r.boundWords(&e); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
}

// What a person is told of an adaptive decision: one sentence, and only the numbers that say something here.
func TestAdaptiveInWords(t *testing.T) {
	t.Parallel()
	visited := filledNow.Add(-2 * day)
	tests := map[string]struct {
		change func(*ruling, *scheduler.Explanation)
		want   string
	}{
		"plain": {func(*ruling, *scheduler.Explanation) {},
			"adaptive: 3 changes in 23 visits, about 1 per 7.7 d (3–25), 31 % of that by its neighbours; a visit gains 1.2 h of freshness now, " +
				"and when due the 5.1 h that the budget of 0.2/page/day asks for"},
		"news": {func(_ *ruling, e *scheduler.Explanation) { e.News = 2.34 },
			"31 % of that by its neighbours, which since its last visit changed 2.3 times as much as usual; a visit"},
		"important": {func(_ *ruling, e *scheduler.Explanation) { e.Importance = 4 }, "asks for, all times its importance of 4"},
		"more than asked for": {func(_ *ruling, e *scheduler.Explanation) { e.WorthThen *= 2 },
			"1.2 h of freshness now, 10 h when due; it must gain the 5.1 h that"},
		"its site pays": {func(_ *ruling, e *scheduler.Explanation) {
			e.OwnSite, e.Budget = true, config.Budget{Requests: config.Rate{PerDay: 200}, Bytes: 1 << 30}
		}, "the 5.1 h that its site's budget of 200/day and 1GiB/day asks for"},
		"shortest": {func(_ *ruling, e *scheduler.Explanation) { e.Bound = scheduler.AtLeast },
			"; no page is visited twice within a cycle (6 h)"},
		"longest": {func(_ *ruling, e *scheduler.Explanation) { e.Bound = scheduler.AtMost },
			"; no page waits longer than fr_max allows (30 d)"},
		"longest under a small budget": {func(r *ruling, e *scheduler.Explanation) { e.Bound, r.top = scheduler.AtMost, 600 },
			"; no page waits longer than the budget takes to visit all pages three times (150 d)"},
		"overdue": {func(r *ruling, e *scheduler.Explanation) {
			r.page.DueAt, e.WorthThen = models.At(filledNow.Add(-time.Hour)), e.Worth
		}, "gains 1.2 h of freshness now; it must gain the 5.1 h that the budget of 0.2/page/day asks for; its turn has come, and pages worth more go first"},
		"large": {func(_ *ruling, e *scheduler.Explanation) { e.Budget, e.Cost = config.Budget{Bytes: 1e9}, 3.2 },
			"and when due the 5.1 h that the budget of 1GB/day asks for what takes 3.2 times the bytes of its usual visits"},
		"sooner by now": {func(_ *ruling, e *scheduler.Explanation) {
			e.AheadOf, e.DueAt = 36*time.Hour, filledNow.Add(36*time.Hour)
		},
			"; by what was learned since, it could come 36 h sooner"},
		"later by now": {func(_ *ruling, e *scheduler.Explanation) { e.AheadOf = -4 * day },
			"; by what was learned since, it can wait 4 d longer"},
		"window": {func(r *ruling, _ *scheduler.Explanation) {
			window, err := config.ParseWindow("22:00-06:00 Europe/Berlin")
			if err != nil {
				t.Error(err)
			}
			r.page.Rule, r.settings.Windows = models.RuleWindow, []config.Window{window}
		}, "moved into a time window of its site (22:00-06:00 Europe/Berlin); adaptive: 3 changes"},
		"put off": {func(r *ruling, _ *scheduler.Explanation) { r.page.Rule = models.RuleBudget },
			"put off when its turn came, since the budget gains more elsewhere; adaptive: 3 changes in 23 visits"},
		"site spent": {func(r *ruling, e *scheduler.Explanation) {
			r.page.Rule, e.OwnSite, e.Worth = models.RuleBudget, true, 2*e.Price
		}, "put off: its site's budget of 0.2/page/day is spent for now, and its pages wait in line"},
		"classic and spent": {func(r *ruling, _ *scheduler.Explanation) {
			r.page.Rule, r.explained, r.settings.Policy = models.RuleBudget, nil, "classic"
			r.settings.Budget.Requests.PerDay = 50
		}, "put off: its site's budget of 50/day is spent"},
		"new": {func(_ *ruling, e *scheduler.Explanation) { e.Bound = scheduler.NothingSeen },
			"adaptive: nothing to go by yet, so it stays at 2 cycles (12 h)"},
	}
	for name, test := range tests {
		e := scheduler.Explanation{Changes: 3, Visits: 23, Rate: changerate.Rate{PerDay: 0.13, Low: 0.04, High: 0.33}, Prior: 0.31, News: 1.05,
			Importance: 1, Price: 306 * time.Minute, Worth: 72 * time.Minute, WorthThen: 306 * time.Minute, Adaptive: true,
			Budget: config.DefaultBudget(), DueAt: filledNow.Add(3 * day)}
		r := ruled(t, 3, func(r *ruling) {
			r.settings.Policy, r.settings.Vary, r.explained = "adaptive", 0.15, &e
			r.page.Stats.VisitedAt, r.page.DueAt = models.At(visited), models.At(filledNow.Add(3*day))
		})
		test.change(&r, &e)
		if got := r.sentence(); !strings.Contains(got, test.want) {
			t.Errorf("%s:\n got %q\nwant %q in it", name, got, test.want)
		}
	}
}

// lastWalk is a clock on which nobody sleeps past its end: then the work is over.
type lastWalk struct {
	*clock.Virtual
	end  time.Time
	stop context.CancelFunc
}

// SleepUntil implements clock.Clock.
func (c lastWalk) SleepUntil(ctx context.Context, t time.Time) error {
	if t.After(c.end) {
		c.stop()
		return context.Canceled
	}
	return c.Virtual.SleepUntil(ctx, t)
}

// moods is a site of pages of which each changes at its own pace.
type moods struct{ clock clock.Clock }

// Visit implements scheduler.Visitor.
func (m moods) Visit(_ context.Context, turn models.Turn) models.Outcome {
	p := &turn.Page.Page
	out := models.Outcome{Kind: models.NotModified, At: m.clock.Now(), Sent: 1, Status: 304}
	pace := time.Duration(p.ID&7+1) * 4 * day
	switch {
	case p.Stats.Records == 0:
		out.Kind, out.Status = models.First, 200
	case out.At.Truncate(pace).After(p.Stats.VisitedAt.Time()):
		out.Kind, out.Status = models.Changed, 200
	}
	return out
}

// pagesOfMoods is how many there are.
const pagesOfMoods = 24

const adaptiveConfig = `agent: {contact: me@example.net}
cycle: 6h
budget: 0.5/page/day
sites:
  - url: https://docs.example.org/
    name: docs
    policy: adaptive
`

// adaptiveData makes a data directory after 40 days of a worker with the policy adaptive, and returns its path.
func adaptiveData(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "recrawld.yaml"), []byte(adaptiveConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &globals{ConfigPath: filepath.Join(dir, "recrawld.yaml"), Data: dir}
	c, origins, err := g.loadConfig()
	if err != nil {
		t.Fatal(err)
	}
	store, err := g.openStoreForWriting(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	f := &filler{t: t, store: store}
	begin := filledNow.Add(-40 * day)
	rows, err := store.SyncSites(t.Context(), begin, []models.Site{{Name: "docs", URL: "https://docs.example.org/"}})
	f.must(err)
	force, err := putTogether(c, origins, rows)
	f.must(err)
	for i := range pagesOfMoods {
		page := scheduler.NewPage(fmt.Sprintf("https://docs.example.org/%d", i), "docs.example.org", rows[0].ID, 1, 4)
		page.DueAt = models.At(begin)
		_, err = store.AddPages(t.Context(), begin, []models.Discovery{{Page: page, Host: "docs.example.org"}}, 0)
		f.must(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	clk := lastWalk{clock.NewVirtual(begin), filledNow, stop}
	f.must(scheduler.NewWorker(scheduler.Config{Store: store, Visitor: moods{clk}, Archive: simulate.Nowhere{}, Clock: clk,
		Log: slog.New(slog.DiscardHandler), Name: "w", Lease: time.Hour}, force.planner).Run(ctx))
	f.stand()
	return dir
}

// What commands say of the policy adaptive after forty days of a worker over a database.
func TestReadingCommandsOfAdaptive(t *testing.T) {
	if testing.Short() {
		t.Skip("one worker in virtual time: the race detector makes its database ten times as slow and finds nothing")
	}
	t.Parallel()
	dir := adaptiveData(t)
	t.Run("why explains the decision", func(t *testing.T) { whyExplainsTheDecision(t, dir) })
	t.Run("status shows the budget", func(t *testing.T) { statusShowsTheBudget(t, dir) })
}

// The due time that is explained is near the one that was decided: of the page visited last nothing was learned since, but
// the price moved on when the pages were compared after its visit.
func whyExplainsTheDecision(t *testing.T, dir string) {
	t.Helper()
	near, newest, miss := 0, time.Time{}, 0.0
	for i := range pagesOfMoods {
		answer, complaint, code := desk(t, dir, "why", fmt.Sprintf("https://docs.example.org/%d", i), "--json")
		var got struct {
			Page     shownPage
			Because  string
			Adaptive *shownAdaptive
		}
		if err := json.Unmarshal([]byte(answer), &got); err != nil || code != exitDone || got.Adaptive == nil {
			t.Fatalf("exit code %d, %s, %v: %s", code, complaint, err, answer)
		}
		a := got.Adaptive
		interval := got.Page.DueAt.Sub(*got.Page.VisitedAt)
		off := a.DueAt.Sub(*got.Page.DueAt).Abs().Hours() / interval.Hours()
		if off < 0.25 {
			near++
		}
		if got.Page.VisitedAt.After(newest) {
			newest, miss = *got.Page.VisitedAt, off
		}
		if a.Visits != int(got.Page.Records)-1 || a.Changes != int(got.Page.Changes) || !(a.Price > 0) || a.Budget != "0.5/page/day" || a.Even != 2*86400 {
			t.Errorf("page %d: %+v does not agree with %+v", i, a, got.Page)
		}
	}
	if near < pagesOfMoods*3/4 || miss > 0.4 {
		t.Errorf("the due times of %d of %d pages are explained to within a quarter of the interval, want most; that of the page "+
			"visited last to within %.3f of it, want 0.4", near, pagesOfMoods, miss)
	}
}

// Status says what the budget is, what it paid for today and what it asks for.
func statusShowsTheBudget(t *testing.T, dir string) {
	t.Helper()
	answer, complaint, code := desk(t, dir, "status", "--json")
	var got status
	if err := json.Unmarshal([]byte(answer), &got); err != nil || code != exitDone {
		t.Fatalf("exit code %d, %s, %v: %s", code, complaint, err, answer)
	}
	if len(got.Budgets) != 1 {
		t.Fatalf("budgets = %+v, want one", got.Budgets)
	}
	b := got.Budgets[0]
	const kept = 18 // hours of a budget that are kept, so that a day may have so much more than it brings
	if b.Budget != "0.5/page/day" || b.PerDay != pagesOfMoods/2 || b.Used == 0 || b.Used > int64(b.PerDay*(24+kept)/24) || !(b.Price > 0) || b.Even != 2*86400 {
		t.Errorf("budget = %+v", b)
	}
	used := fmt.Sprintf("%d of 12 requests used today", b.Used)
	if more := b.Used - int64(b.PerDay); more > 0 {
		used = fmt.Sprintf("%d requests used today, %d more than a day brings", b.Used, more)
	}
	answer, _, _ = desk(t, dir, "status")
	if want := "budget  0.5/page/day, " + used + ", a page every 2 d on average; a visit must gain "; !strings.Contains(answer, want) {
		t.Errorf("status shows\n%swant %q in it", answer, want)
	}
	answer, _, _ = desk(t, dir, "report", "calibration")
	if !strings.Contains(answer, "Brier score 0.") {
		t.Errorf("report calibration shows\n%s", answer)
	}
}
