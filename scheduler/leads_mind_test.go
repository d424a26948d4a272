package scheduler

import (
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// Two workers visit a host by turns, a page a lease: what each visit leads to is learned after what is known of the host is written, and is not lost.
func TestWorkersByTurnsLearnWhatPagesLeadTo(t *testing.T) {
	t.Parallel()
	store := new(oneHost)
	minds := []*Mind{NewMind(store), NewMind(store)}
	c := testConfig()
	c.Sites[0].Settings.Policy = "adaptive"
	p, s := livePage(), c.Sites[0].Settings
	h := &models.Host{Bucket: p.Bucket, ID: p.HostID, Name: "h", Pages: 1600}
	money := newPurses(new(notes), clock.NewVirtual(noon))
	for turn := range 40 {
		m := minds[turn%2]
		h.LeaseToken++
		if err := m.open(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		before := p
		p.Stats.Records++
		p.Stats.VisitedAt = models.At(before.Stats.VisitedAt.Time().Add(24 * time.Hour))
		m.observed(question{page: &before, settings: &s, now: p.Stats.VisitedAt.Time(), cycle: 6 * time.Hour, ceiling: 1000 * time.Hour}, true, false)
		if body := m.save(h, noon); body != nil {
			h.Learned++
			store.body, store.learned = body, h.Learned
		}
		m.leave(h)
		f := &finished{planner: testPlanner(t, c).with(m, money), before: before}
		f.result.Page, f.result.Discovered = p, []models.Discovery{{New: true}, {New: true, Page: models.Page{Importance: 3}}}
		f.planner.led(f)
	}
	fresh := NewMind(store)
	h.LeaseToken++
	if err := fresh.open(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if got, _ := fresh.leads(&p); got < 2.8 || got > 4.2 {
		t.Errorf("two new pages a day, one of importance 3, are known as worth %v", got)
	}
	f := &finished{planner: testPlanner(t, c).with(fresh, money), before: p}
	f.result.Page = p
	f.result.Page.State = models.StateGone
	f.planner.led(f)
	if got, _ := fresh.leads(&p); got != 0 {
		t.Errorf("a page that is gone leads to %v a day", got)
	}
}

// A page waits for what it leads to only where it waits for its worth: what fails, or is promised to stay, keeps its time, also in a window.
func TestWalkLeavesWhatWaitsForSomethingElse(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		edit  func(*models.Page)
		moved bool
	}{
		"by its worth": {func(*models.Page) {}, true},
		"failing":      {func(p *models.Page) { p.Rule, p.Failures, p.Class = models.RuleWindow, 3, models.Refused }, false},
		"promised":     {func(p *models.Page) { p.Rule, p.FreshUntil = models.RuleWindow, models.At(noon.Add(20*time.Hour)) }, false},
	} {
		c := testConfig()
		c.Sites[0].Settings.Policy = "adaptive"
		c.Sites[0].Settings.Windows = []config.Window{{To: 23 * time.Hour, Zone: time.UTC, Days: [7]bool{true, true, true, true, true, true, true}}}
		m := NewMind(nil)
		m.price(allSites).learn(0.5, 0)
		p := livePage()
		p.Stats.VisitedAt, p.DueAt, p.Rule = models.At(noon.Add(-10*24*time.Hour)), models.At(noon.Add(12*time.Hour)), models.RulePolicy
		test.edit(&p)
		m.crowdOf(&p).Led(p.ID, changerate.Finds{Since: 1, Pages: 5, Worth: 5})
		w := &walk{mind: m, planner: testPlanner(t, c).with(m, newPurses(new(notes), clock.NewVirtual(noon))), crowd: m.crowdOf(&p), now: noon, payer: allSites}
		if due, moved := w.leads(&p); moved != test.moved {
			t.Errorf("%s: moved %v to %v", what, moved, due.DueAt)
		}
	}
}
