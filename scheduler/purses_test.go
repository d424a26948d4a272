package scheduler

import (
	"context"
	"math"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/policy"
)

// counted is notes beside a thousand pages of site 1.
type counted struct{ *notes }

func (counted) PagesBySite(context.Context) (map[int32]int64, error) {
	return map[int32]int64{1: 1000}, nil
}

// TestBudgetPerPageOfASite: a budget per page of a single site is that of its pages, not of one page.
func TestBudgetPerPageOfASite(t *testing.T) {
	t.Parallel()
	c := config.Default()
	adaptive, classic := c.Defaults, c.Defaults
	adaptive.Policy = policy.AdaptiveName
	c.Sites = []config.Site{{ID: 1, Name: "a", Settings: adaptive}, {ID: 2, Name: "c", Settings: classic}}
	p := newPurses(counted{new(notes)}, clock.NewVirtual(noon))
	p.follow(&c)
	if err := p.count(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	if got := p.own(1).rate().requests; got != 200 {
		t.Errorf("a site of 1000 pages at the default of 0.2/page/day may ask %v times a day, want 200", got)
	}
	if got, want := p.term(1).even, 5*24*time.Hour; got != want {
		t.Errorf("its budget visits all pages alike every %v, want %v", got, want)
	}
	if got := p.term(1).account; got != models.SiteAccount(1) {
		t.Errorf("its price is that of %q, though its own budget pays", got)
	}
	if got := p.term(2).account; got != allSites {
		t.Errorf("the price of a site without a budget is that of %q", got)
	}
}

// TestNobodyHoards: a worker with nothing to do keeps no more of the budget than what can be kept anyway.
func TestNobodyHoards(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(noon)
	p := newPurse(new(notes), clk, &allowance{20, math.Inf(1)})
	for range 24 * 3 {
		paid, err := p.take(t.Context(), 64)
		if err != nil {
			t.Fatal(err)
		}
		p.settle(-paid.requests, 0) // no lease came of it, as in Worker.claim
		wait(t, clk, time.Hour)
	}
	paid, err := p.take(t.Context(), 64)
	if err != nil || paid.requests > handful {
		t.Errorf("after three idle days %d requests may be made at once, %v, want a handful", paid.requests, err)
	}
}

func wait(t *testing.T, clk *clock.Virtual, d time.Duration) {
	t.Helper()
	if err := clk.SleepUntil(t.Context(), clk.Now().Add(d)); err != nil {
		t.Fatal(err)
	}
}

// TestRaisedBudget: a raised budget is felt within a minute.
func TestRaisedBudget(t *testing.T) {
	t.Parallel()
	clk, a := clock.NewVirtual(noon), allowance{1, math.Inf(1)}
	p := newPurse(new(notes), clk, &a)
	spend(t, p, handful)
	a.requests = 86400
	wait(t, clk, time.Minute)
	paid, err := p.take(t.Context(), 1)
	if err != nil || paid.requests != 1 {
		t.Errorf("a minute after the budget was raised to one a second, %d requests are paid for, %v; next at %v",
			paid.requests, err, paid.next)
	}
}

// TestPlacesInLine: those who wait for a budget get places one visit apart, whichever worker they ask; the line is served
// at the pace of the budget in force, and whoever comes meanwhile comes behind it.
func TestPlacesInLine(t *testing.T) {
	t.Parallel()
	clk, store, a := clock.NewVirtual(noon), new(notes), allowance{24, math.Inf(1)}
	workers := []*purse{newPurse(store, clk, &a), newPurse(store, clk, &a)}
	spend(t, workers[0], handful)
	for i := range 1000 {
		got, err := workers[i%2].reserve(t.Context())
		if want := noon.Add(time.Duration(i+1) * time.Hour); err != nil || got.Sub(want).Abs() > time.Second {
			t.Fatalf("place %d in line is at %v, %v, want %v", i+1, got, err, want)
		}
	}
	wait(t, clk, 10*time.Hour)
	if paid, _ := workers[0].take(t.Context(), 1); paid.requests != 0 {
		t.Errorf("somebody who came later was served before those in line")
	}
	if _, err := workers[0].line(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.requests = 2400
	end, err := workers[0].line(t.Context())
	if wait := end.Sub(clk.Now()); err != nil || wait < 9*time.Hour || wait > 10*time.Hour {
		t.Errorf("at a hundred times the budget the line is served in %v, %v, want 9.9 h", wait, err)
	}
	workers[0].reserved(false)
	if again, err := workers[0].line(t.Context()); err != nil || !again.Before(end) {
		t.Errorf("a place given back leaves the line's end at %v, %v, want it before %v", again, err, end)
	}
}

// TestBytesAreAskedForInChunks: a budget of bytes alone does not take a transaction a visit.
func TestBytesAreAskedForInChunks(t *testing.T) {
	t.Parallel()
	clk, store := clock.NewVirtual(noon), &merges{notes: new(notes)}
	p := newPurse(store.notes, clk, &allowance{math.Inf(1), 1e12})
	p.store = store
	for range 160 {
		if paid, err := p.take(t.Context(), 1); err != nil || paid.requests != 1 {
			t.Fatalf("take = %+v, %v", paid, err)
		}
		p.settle(0, 1000)
	}
	if store.count > 20 {
		t.Errorf("%d transactions for 160 visits", store.count)
	}
}

type merges struct {
	*notes
	count int
}

func (m *merges) Merge(ctx context.Context, name string, merge func([]byte) []byte) error {
	m.count++
	return m.notes.Merge(ctx, name, merge)
}

// TestWishesCostWhatTheyAsk: a page that somebody asked for is paid by its site's budget if it asks anything.
func TestWishesCostWhatTheyAsk(t *testing.T) {
	t.Parallel()
	c := config.Default()
	settings := c.Defaults
	settings.Budget.Requests.PerDay = 1
	c.Sites = []config.Site{{ID: 1, Name: "a", Settings: settings}}
	plan, err := NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	store := counted{new(notes)}
	w := NewWorker(Config{Store: store, Clock: clock.NewVirtual(noon)}, plan)
	page := models.Page{SiteID: 1, Rule: models.RuleManual, DueAt: models.At(noon)}
	own := w.purses.own(1)
	if paid, err := own.take(t.Context(), 1); err != nil || paid.requests != 1 {
		t.Fatalf("take = %+v, %v", paid, err)
	}
	for _, out := range []models.Outcome{{Kind: models.Interrupted}, {Kind: models.NotModified, Sent: 1}} {
		if out, held := w.waits(t.Context(), w.Planner(), &page, false, noon); held {
			t.Fatalf("a wish waits: %+v", out)
		}
		w.purses.settle(&page, &out, true)
	}
	if own.held != -1 {
		t.Errorf("one request of two wishes leaves %v, want -1", own.held)
	}
}

// TestNothingIsOwedForATimeWithoutABudget: what was received before there was a bound is not paid for under it.
func TestNothingIsOwedForATimeWithoutABudget(t *testing.T) {
	t.Parallel()
	clk, a := clock.NewVirtual(noon), allowance{math.Inf(1), math.Inf(1)}
	p := newPurse(new(notes), clk, &a)
	for range 100 {
		if _, err := p.take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		p.settle(0, 1e9)
	}
	a = allowance{86400, 1e9}
	wait(t, clk, time.Minute)
	if paid, err := p.take(t.Context(), 1); err != nil || paid.requests != 1 {
		t.Errorf("a minute after a budget was set, %d requests are paid for, %v; next at %v, want 1", paid.requests, err, paid.next)
	}
}

// TestWhatIsLostKeepsToTheBudget: nobody asked for a page whose copy the archive has lost, so it waits for its site's budget, in the line
// also where the policy goes by worth; what a person asked for does not, be its copy lost or not.
func TestWhatIsLostKeepsToTheBudget(t *testing.T) {
	t.Parallel()
	c := config.Default()
	settings := c.Defaults
	settings.Policy, settings.Budget.Requests.PerDay = policy.AdaptiveName, 1
	c.Sites = []config.Site{{ID: 1, Name: "a", Settings: settings}}
	plan, err := NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewVirtual(noon)
	w := NewWorker(Config{Store: counted{new(notes)}, Clock: clk}, plan)
	for spent := false; !spent; {
		paid, err := w.purses.own(1).take(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		spent = paid.requests == 0
	}
	page := livePage()
	page.Lost, page.DueAt, page.Rule = true, models.At(noon), models.RuleManual
	if put, held := w.waits(t.Context(), w.Planner(), &page, false, noon); held {
		t.Errorf("what a person asked for waits: %+v", put)
	}
	page.Rule = models.RuleLost
	out := deferredOut(t, w, &page, noon)
	if page = w.Planner().Plan(testLease(page), page, &out, noon).Page; page.Rule != models.RuleBudget {
		t.Fatalf("what is lost is due by %v, want in the line of its site's budget", page.Rule)
	}
	wait(t, clk, page.DueAt.Time().Sub(noon))
	if put, held := w.waits(t.Context(), w.Planner(), &page, false, clk.Now()); held {
		t.Errorf("when its place has come: %+v, want a visit", put)
	}
}

// TestAClosedWindowKeepsWhatIsPaid: a page whose place in the line of its site's budget comes while the windows are closed need not pay again.
func TestAClosedWindowKeepsWhatIsPaid(t *testing.T) {
	t.Parallel()
	window, err := config.ParseWindow("22:00-04:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	settings := c.Defaults
	settings.Budget.Requests.PerDay, settings.Windows = 1, []config.Window{window}
	c.Sites = []config.Site{{ID: 1, Name: "a", Settings: settings}}
	w := NewWorker(Config{Store: counted{new(notes)}, Clock: clock.NewVirtual(noon)}, testPlanner(t, &c))
	page := livePage()
	page.DueAt, page.Rule = models.At(noon), models.RuleBudget
	out := deferredOut(t, w, &page, noon)
	if page = w.Planner().Plan(testLease(page), page, &out, noon).Page; page.Rule != models.RuleBudget || !Allowed(settings.Windows, page.DueAt.Time()) {
		t.Errorf("it is due at %v by %v, want in the window and paid for", page.DueAt.Time(), page.Rule)
	}
}

// TestCreditIsPaidForOnce: a page that gave its turn away is visited on credit, but where it waited in the line it has paid in advance.
func TestCreditIsPaidForOnce(t *testing.T) {
	t.Parallel()
	for rule, want := range map[models.Rule]float64{models.RulePolicy: -1, models.RuleBudget: 0} {
		w := budgeted(t, clock.NewVirtual(noon), models.Outcome{})
		page := livePage()
		page.Rule = rule
		if put, held := w.waits(t.Context(), w.Planner(), &page, true, noon); held {
			t.Fatalf("a page by %v waits: %+v", rule, put)
		}
		own := w.purses.own(1)
		if bytes := -own.size() * float64(btoi(rule == models.RuleBudget)); own.held != want || own.bytes != bytes {
			t.Errorf("a page by %v leaves %v requests and %v bytes to pay, want %v and %v", rule, own.held, own.bytes, want, bytes)
		}
	}
}

// deferredOut is the outcome of a page that must wait.
func deferredOut(t *testing.T, w *Worker, page *models.Page, now time.Time) models.Outcome {
	t.Helper()
	put, held := w.waits(t.Context(), w.Planner(), page, false, now)
	if !held {
		t.Fatalf("a page by %v does not wait", page.Rule)
	}
	return put.outcome(now)
}
