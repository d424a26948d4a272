package scheduler

import (
	"context"
	"log/slog"
	"math"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// answers is a visitor with one answer.
type answers models.Outcome

func (a answers) Visit(context.Context, models.Turn) models.Outcome { return models.Outcome(a) }

// budgeted is a worker without fetchers for a site with a budget of its own, of one request a day.
func budgeted(t *testing.T, clk clock.Clock, out models.Outcome) *Worker {
	t.Helper()
	c := testConfig()
	c.Sites[0].Settings.Budget = config.Budget{Requests: config.Rate{PerDay: 1}, Bytes: 1e6}
	w := NewWorker(Config{Store: counted{new(notes)}, Visitor: answers(out), Clock: clk, Log: slog.New(slog.DiscardHandler),
		Lease: time.Hour}, testPlanner(t, c))
	w.purses.own(1).usual.Store(&usual{bytes: 100})
	return w
}

func turnOf(w *Worker, page models.Page, until time.Time) *hostTurn {
	l := testLease(page)
	l.Until, l.Pages = until, []models.LeasedPage{{Page: page}}
	return newHostTurn(w, *l, new(pile), nil)
}

// TestAPlaceInLineIsPaidForOnce: what a visit asks in the place of a page that its site's budget paid for in advance is paid
// for beside that, and where it asks nothing nothing is given back: the page keeps its place.
func TestAPlaceInLineIsPaidForOnce(t *testing.T) {
	t.Parallel()
	robots := &models.Robots{Origin: "http://one.test", Status: 404, ExpiresAt: models.At(noon.Add(time.Hour))}
	for name, test := range map[string]struct {
		out       models.Outcome
		held, owe float64 // of requests; bytes to be paid
	}{
		"robots.txt":        {models.Outcome{Kind: models.RobotsFetched, At: noon, Sent: 1, WireBytes: 30, Robots: robots}, -1, 30},
		"a probe":           {models.Outcome{Kind: models.Probed, At: noon, Sent: 1, WireBytes: 30}, -1, 30},
		"interrupted":       {models.Outcome{Kind: models.Interrupted, At: noon}, 0, 0},
		"its host waits":    {models.Outcome{Kind: models.Deferred, At: noon, HostWaits: true, Until: noon.Add(time.Minute)}, 0, 0},
		"visited":           {models.Outcome{Kind: models.NotModified, At: noon, Sent: 1, Status: 304, WireBytes: 30}, 0, 30 - 100},
		"found to be out":   {models.Outcome{Kind: models.Excluded, At: noon}, 1, -100},
		"visited and moved": {models.Outcome{Kind: models.Moved, At: noon, Sent: 2, RedirectTo: "http://two.test/", WireBytes: 40}, -1, 40 - 100},
	} {
		w := budgeted(t, clock.NewVirtual(noon), test.out)
		page := livePage()
		page.Rule = models.RuleBudget
		turn := turnOf(w, page, noon.Add(time.Hour))
		if !turn.visitNext(t.Context()) {
			t.Fatalf("%s: no visit", name)
		}
		if own := w.purses.own(1); own.held != test.held || math.Abs(own.bytes-test.owe) > 10 {
			t.Errorf("%s: %v requests are held and %v bytes owed, want %v and %v", name, own.held, own.bytes, test.held, test.owe)
		}
	}
}

// TestWhatWasNotPaidIsNotGivenBack: a page whose lease ends before its site's budget was asked costs that nothing and brings it
// nothing.
func TestWhatWasNotPaidIsNotGivenBack(t *testing.T) {
	t.Parallel()
	w := budgeted(t, clock.NewVirtual(noon), models.Outcome{})
	turnOf(w, livePage(), noon).visitNext(t.Context()) // the lease is over
	w.giveBack(t.Context(), *func() *models.Lease {
		l := testLease(livePage())
		l.Until, l.Pages = noon.Add(time.Hour), []models.LeasedPage{{Page: livePage()}}
		return l
	}(), new(pile))
	if held := w.purses.own(1).held; held != 0 {
		t.Errorf("two pages that were not visited leave %v requests, want 0", held)
	}
}

// TestBytesArePaidForOnce: who finds its place in line served at once pays for its bytes as they come.
func TestBytesArePaidForOnce(t *testing.T) {
	t.Parallel()
	w := budgeted(t, clock.NewVirtual(noon), models.Outcome{Kind: models.NotModified, At: noon, Sent: 1, WireBytes: 100})
	own := w.purses.own(1)
	spend(t, own, handful)
	if paid, err := own.take(t.Context(), 1); err != nil || paid.requests != 0 {
		t.Fatalf("take = %+v, %v, want none", paid, err)
	}
	own.settle(-1, 0) // somebody else's visit was not made after all
	if err := own.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !turnOf(w, livePage(), noon.Add(time.Hour)).visitNext(t.Context()) {
		t.Fatal("no visit")
	}
	if own.bytes != 0 || own.held != 0 {
		t.Errorf("after a visit of 100 bytes, for which 100 were paid in advance, %v are owed and %v requests held", own.bytes, own.held)
	}
}

// TestTheShareOfListsOutlivesABudgetOfBytes: a budget of bytes alone leaves the share of what lists tell of as it is.
func TestTheShareOfListsOutlivesABudgetOfBytes(t *testing.T) {
	t.Parallel()
	clk, a := clock.NewVirtual(noon), allowance{math.Inf(1), 1e6}
	p := newPurse(new(notes), clk, &a)
	for range 3 {
		if !p.first() {
			t.Fatal("what a list told of has to wait under a budget without a bound on requests")
		}
	}
	a = allowance{24, math.Inf(1)}
	served := 0
	for range 100 {
		if p.first() {
			served++
		}
	}
	if served > 5 {
		t.Errorf("%d visits at once at 24 a day, want at most what six hours bring", served)
	}
	a = allowance{math.Inf(1), 1000}
	p.usual.Store(&usual{bytes: 100})
	p.told = leaky{}
	for served = 0; served < 100 && p.first(); {
		served++
	}
	if served > 5 {
		t.Errorf("%d visits of 100 bytes at once at 1000 bytes a day, want at most what six hours bring", served)
	}
}

// TestNobodyHoldsAHostThatAsksForRest: also not for the page whose turn robots.txt had.
func TestNobodyHoldsAHostThatAsksForRest(t *testing.T) {
	t.Parallel()
	out := models.Outcome{Kind: models.RobotsFetched, At: noon, Sent: 1, RetryAfter: noon.Add(10 * time.Minute),
		Robots: &models.Robots{Origin: "http://one.test", Status: 503}}
	w := budgeted(t, clock.NewVirtual(noon), out)
	c := testConfig()
	c.Budget.Requests.PerDay = 1000
	w.SetPlanner(testPlanner(t, c))
	turn := turnOf(w, livePage(), noon.Add(time.Hour))
	if !turn.visitNext(t.Context()) {
		t.Fatal("no visit")
	}
	if turn.visitNext(t.Context()) {
		t.Errorf("a host that asked for rest is held until %v", w.Clock.Now())
	}
}
