package scheduler

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawld/clock"
	"recrawld/config"
)

// notes is the part of a store that purses need.
type notes struct {
	Store
	mu    sync.Mutex
	notes map[string][]byte

	merges int // guarded by mu
}

func (n *notes) Merge(_ context.Context, name string, merge func([]byte) []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.merges++
	if n.notes == nil {
		n.notes = make(map[string][]byte)
	}
	if body := merge(n.notes[name]); body != nil {
		n.notes[name] = body
	}
	return nil
}

func (n *notes) Note(_ context.Context, name string) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.notes[name], nil
}

func newPurse(n *notes, clk clock.Clock, a *allowance) *purse {
	return &purse{note: "budget/all", store: n, clock: clk, rate: func() allowance { return *a }}
}

// spend takes so many requests out of a purse that has them.
func spend(t *testing.T, p *purse, requests int) {
	t.Helper()
	if paid, err := p.take(t.Context(), requests); err != nil || paid.requests != requests {
		t.Fatalf("take(%d) = %+v, %v", requests, paid, err)
	}
}

// TestPursesKeepTheBudget: whatever several workers ask for, whenever, together they get no more than the budget of the
// time that passed and what can be kept, and one that always asks gets all of it.
func TestPursesKeepTheBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		clk, store := clock.NewVirtual(start), new(notes)
		a := &allowance{requests: rapid.Float64Range(0.5, 1e6).Draw(t, "perDay"), bytes: math.Inf(1)}
		workers := []*purse{newPurse(store, clk, a), newPurse(store, clk, a), newPurse(store, clk, a)}
		got, greedy, next := 0, rapid.Bool().Draw(t, "greedy"), start
		for range rapid.IntRange(1, 100).Draw(t, "rounds") {
			wait := time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "wait"))
			if greedy { // whoever asks later than when there is more lets go of what cannot be kept
				wait = min(wait, next.Sub(clk.Now()))
			}
			if err := clk.SleepUntil(t.Context(), clk.Now().Add(wait)); err != nil {
				t.Fatal(err)
			}
			w := workers[rapid.IntRange(0, 2).Draw(t, "worker")]
			want := rapid.IntRange(1, 50).Draw(t, "want")
			if greedy {
				want = 1e6
			}
			paid, err := w.take(t.Context(), want)
			if err != nil || paid.requests > want || paid.requests < 0 {
				t.Fatalf("take(%d) = %+v, %v", want, paid, err)
			}
			got, next = got+paid.requests, paid.next
			passed := clk.Now().Sub(start).Hours() / 24 * a.requests
			if float64(got) > passed+least(a.requests)+1e-6 { // what comes in makes room, none is given
				t.Fatalf("%d visits after %s at %g a day, at most %g", got, clk.Now().Sub(start), a.requests, passed+least(a.requests))
			}
			if greedy && float64(got) < math.Floor(passed)-1 {
				t.Fatalf("%d visits after %s at %g a day, at least %g", got, clk.Now().Sub(start), a.requests, passed)
			}
		}
	})
}

func TestPurseSaysWhenThereIsMore(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	clk := clock.NewVirtual(start)
	p := newPurse(new(notes), clk, &allowance{requests: 24, bytes: math.Inf(1)})
	spend(t, p, handful-1)
	for i := range 5 {
		paid, err := p.take(t.Context(), 3)
		if err != nil || paid.requests != 1 || paid.full.After(clk.Now()) {
			t.Fatalf("take %d = %+v, %v, want one visit, and that visits may be made early", i, paid, err)
		}
		paid, err = p.take(t.Context(), 1)
		if err != nil || paid.requests != 0 {
			t.Fatalf("second take %d = %+v, %v, want none", i, paid, err)
		}
		if wait := paid.next.Sub(clk.Now()); wait < time.Hour-time.Second || wait > time.Hour+time.Second {
			t.Fatalf("the next visit in %s, want an hour", wait)
		}
		if err := clk.SleepUntil(t.Context(), paid.next); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPursePaysForBytesAfterwards: what was received is paid before there is another visit.
func TestPursePaysForBytesAfterwards(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	p := newPurse(new(notes), clk, &allowance{requests: math.Inf(1), bytes: 24e6})
	if paid, err := p.take(t.Context(), 10); err != nil || paid.requests != 10 {
		t.Fatalf("take = %+v, %v, want 10", paid, err)
	}
	p.settle(0, 2e6)
	if paid, _ := p.take(t.Context(), 1); paid.requests != 0 || paid.next.Sub(clk.Now()) < 110*time.Minute {
		t.Fatalf("take with two hours of bytes to pay = %+v, want none for two hours", paid)
	}
	if err := clk.SleepUntil(t.Context(), clk.Now().Add(3*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if paid, err := p.take(t.Context(), 10); err != nil || paid.requests != 10 {
		t.Fatalf("take when the bytes are paid = %+v, %v, want 10", paid, err)
	}
}

// TestSettlePaysBack: a visit that asked nothing costs nothing, one that asked for robots.txt too costs two.
func TestSettlePaysBack(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	p := newPurse(new(notes), clk, &allowance{requests: 1, bytes: math.Inf(1)})
	spend(t, p, handful-1)
	for range 3 {
		if paid, _ := p.take(t.Context(), 1); paid.requests != 1 {
			t.Fatalf("take = %+v, want the visit that was paid back", paid)
		}
		p.settle(-1, 0)
	}
	if paid, _ := p.take(t.Context(), 1); paid.requests != 1 {
		t.Fatal("the visit was not paid back")
	}
	p.settle(1, 0)
	if err := clk.SleepUntil(t.Context(), clk.Now().Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if paid, _ := p.take(t.Context(), 1); paid.requests != 0 {
		t.Fatalf("take after a day = %+v, want none: two requests were made", paid)
	}
}

func TestNoteOfAnotherKind(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, body := range map[string][]byte{"none": nil, "short": {1, 2}, "ahead": note{at: now.AddDate(1, 0, 0)}.encode(),
		"nan": note{requests: math.NaN(), at: now}.encode()} {
		n := decodeNote(body, now, time.Hour).fill(allow(config.Budget{Requests: config.Rate{PerDay: 24}}, 0), now)
		if n.requests != handful || !math.IsInf(n.bytes, 1) || !n.at.Equal(now) {
			t.Errorf("%s: read as %+v, want a full one", name, n)
		}
	}
}

// fast is a clock that runs a thousand times as fast as the machine's.
type fast struct{ *clock.Virtual }

func (f fast) Real(d time.Duration) time.Duration { return 1000 * d }

// TestWhoIsBehindGetsNoNewBudget: on a fast clock a worker that waited for the note finds it written hours ahead of when it
// asked. That is no reason to fill it up.
func TestWhoIsBehindGetsNoNewBudget(t *testing.T) {
	t.Parallel()
	store, a := new(notes), allowance{requests: 24, bytes: math.Inf(1)}
	spend(t, newPurse(store, fast{clock.NewVirtual(noon.Add(3 * time.Hour))}, &a), handful)
	behind := newPurse(store, fast{clock.NewVirtual(noon)}, &a)
	if paid, err := behind.take(t.Context(), 1); err != nil || paid.requests != 0 {
		t.Errorf("three hours behind, or 11 s of real time, take = %+v, %v, want none", paid, err)
	}
}

// TestPauseCostsASmallBudgetNothing: of a small budget a handful of requests outlasts a pause, a host that takes its time, or
// a closed window, and no more than that.
func TestPauseCostsASmallBudgetNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pause time.Duration
		want  int
	}{{time.Hour, 1}, {3 * time.Hour, 3}, {4 * time.Hour, 4}, {48 * time.Hour, 4}} {
		clk := clock.NewVirtual(noon)
		p := newPurse(new(notes), clk, &allowance{requests: 24, bytes: math.Inf(1)})
		spend(t, p, handful)
		wait(t, clk, test.pause+time.Second)
		if paid, err := p.take(t.Context(), 100); err != nil || paid.requests != test.want {
			t.Errorf("after a pause of %s at 24 a day %d requests are paid for, %v, want %d", test.pause, paid.requests, err, test.want)
		}
	}
}

// What the loop holds while it looks for the next visit is unspent: a page whose turn has come does not wait for it for days.
func TestWhatIsLentIsSavedUp(t *testing.T) {
	t.Parallel()
	a := &allowance{requests: 0.6, bytes: math.Inf(1)}
	p := newPurse(new(notes), clock.NewVirtual(noon), a)
	spend(t, p, 1) // for the lease of the page
	paid, err := p.lend(t.Context(), 3)
	if err != nil || paid.requests != 3 {
		t.Fatalf("lend = %+v, %v", paid, err)
	}
	if until, err := p.bearsRobots(t.Context(), false); err != nil || until.After(noon) {
		t.Errorf("a page waits for %v, %v; want not at all", until.Sub(noon), err)
	}
	p.giveBack(paid, 1)
	if until, err := p.bearsRobots(t.Context(), false); err != nil || !until.After(noon) {
		t.Errorf("with another visit under way a page waits for %v, %v; want until that is saved up", until.Sub(noon), err)
	}
}
