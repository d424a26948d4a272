package scheduler

import (
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// A start page, or where it leads, is visited once a day at least under the policy adaptive, as far as a tenth of the budget pays for that.
func TestStartPages(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	c := testConfig()
	c.Sites[0].Settings.Policy = "adaptive"
	start := NewPage(c.Sites[0].URL, "one.test", 1, 0, 4)
	start.State, start.Stats.Records = models.StateLive, 2
	for what, test := range map[string]struct {
		change func(*models.Page)
		is     bool
	}{
		"the start page":      {func(*models.Page) {}, true},
		"where it leads":      {func(p *models.Page) { p.Chain, p.ID = []int64{5, p.ID}, 7 }, true},
		"another page":        {func(p *models.Page) { p.ID = 7 }, false},
		"where another leads": {func(p *models.Page) { p.Chain, p.ID = []int64{5}, 7 }, false},
		"one that moved":      {func(p *models.Page) { p.State = models.StateMoved }, false},
		"of another policy":   {func(p *models.Page) { p.SiteID = 2 }, false},
	} {
		page := start
		test.change(&page)
		if every, is := testPlanner(t, c).leadEvery(&page, noon); is != test.is || is && every != day {
			t.Errorf("%s: every %v, %v; want %v", what, every, is, test.is)
		}
	}
	c.Sites[0].Settings.Level = 0
	if every, is := testPlanner(t, c).leadEvery(&start, noon); is {
		t.Errorf("the start page of a site that follows no links is visited every %v for what it leads to", every)
	}
	c.Sites[0].Settings.Level = 1
	for perDay, want := range map[float64]time.Duration{1000: day, 2: 5 * day} {
		money := newPurses(new(notes), clock.NewVirtual(noon))
		c.Budget.Requests.PerDay = perDay
		money.terms.Store(newTerms(budgetsOf(c), map[string]int64{allSites: 300}))
		every, _ := testPlanner(t, c).with(NewMind(nil), money).startEvery(&start)
		if (every - want).Abs() > time.Minute {
			t.Errorf("with %v requests a day for one start page of 300 pages: every %v, want %v", perDay, every, want)
		}
	}
}
