package scheduler

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/solo"
)

// TestClocksApartKeepTheBudget: two workers whose clocks are hours apart share the budget as if they were not. Each of them
// took the note of the other for one of a broken clock, or for hours to be paid for, and filled it up.
func TestClocksApartKeepTheBudget(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	for _, apart := range []time.Duration{30 * time.Minute, 2 * time.Hour, 23 * time.Hour} {
		for _, perDay := range []float64{1, 24, 1e6} {
			store, a := new(notes), &allowance{requests: perDay, bytes: math.Inf(1)}
			behind, ahead := clock.NewVirtual(noon), clock.NewVirtual(noon.Add(apart))
			one, other := newPurse(store, behind, a), newPurse(store, ahead, a)
			got := 0
			for range 10 * 24 * 60 {
				for _, p := range []*purse{one, other} {
					paid, err := p.take(t.Context(), 1e6)
					if err != nil {
						t.Fatal(err)
					}
					got += paid.requests
				}
				wait(t, behind, time.Minute)
				wait(t, ahead, time.Minute)
			}
			// The least is there at the beginning, and what can be kept by then where the clock ahead is met first.
			met := note{room: leastRoom + apart/roomShare}
			if want := 10*perDay + least(perDay) + met.most(perDay); float64(got) > want*1.001 || float64(got) < 0.9*want-handful {
				t.Errorf("%s apart, at %g a day: %d requests in ten days, want %.0f", apart, perDay, got, want)
			}
		}
	}
}

// TestClockSetBackDoesNotStopTheBudget: where a worker's own clock was ahead and is set right, and where another's was
// that is gone, the budget goes on, at once or after an hour, and without a gift.
func TestClockSetBackDoesNotStopTheBudget(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ahead time.Duration
		other bool
		idle  time.Duration
	}{"seconds": {ahead: 10 * time.Second}, "minutes": {ahead: 50 * time.Minute}, "hours": {ahead: 5 * time.Hour},
		"another's": {ahead: 5 * time.Hour, other: true, idle: time.Hour}} {
		store, a := new(notes), &allowance{requests: 2400, bytes: math.Inf(1)}
		wrong := &settable{Virtual: clock.NewVirtual(noon.Add(test.ahead))}
		p := newPurse(store, wrong, a)
		spend(t, p, handful)
		wrong.Virtual = clock.NewVirtual(noon)
		if test.other {
			p = newPurse(store, wrong, a)
		}
		if got, want := taken(t, p, wrong), int((2*time.Hour-test.idle).Hours()*100); got < want-5 || got > want+1 {
			t.Errorf("%s: %d requests in two hours, want %d", name, got, want)
		}
	}
}

// Those that fall back in the line of a small budget do not wait for as long as the clock was set back.
func TestLineAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	clk := &settable{Virtual: clock.NewVirtual(noon.Add(5 * time.Hour))}
	p := newPurse(new(notes), clk, &allowance{requests: 24, bytes: math.Inf(1)})
	for range 24 + 1 {
		p.paced(lineSpan)
	}
	clk.Virtual = clock.NewVirtual(noon)
	if err := p.moved(t.Context(), -5*time.Hour); err != nil {
		t.Fatal(err)
	}
	if at := p.paced(lineSpan); !at.Equal(noon.Add(time.Hour)) {
		t.Errorf("the first that falls back has its place at %v, want an hour after %v", at, noon)
	}
}

// taken is how much a purse pays in two hours to somebody who asks for all he can get.
func taken(t *testing.T, p *purse, clk *settable) (got int) {
	t.Helper()
	for range 120 {
		paid, err := p.take(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		got += paid.requests
		wait(t, clk.Virtual, time.Minute)
	}
	return got
}

// TestClockSetForwardIsNoGift, nor when it is set right again: of two workers one sees to it.
func TestClockSetForwardIsNoGift(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{10 * time.Second, time.Hour, 20 * 365 * 24 * time.Hour} {
		store, a := new(notes), &allowance{requests: 2400, bytes: math.Inf(1)}
		clk := &settable{Virtual: clock.NewVirtual(noon)}
		other, p := newPurse(store, clk, a), newPurse(store, clk, a)
		spend(t, other, 1)
		wait(t, clk.Virtual, time.Millisecond)
		spend(t, p, handful-1)
		clk.Virtual = clock.NewVirtual(clk.Now().Add(by))
		for _, one := range []*purse{other, p, other} {
			if err := one.moved(t.Context(), by); err != nil {
				t.Fatal(err)
			}
		}
		if got := taken(t, p, clk); got < 195 || got > 201 {
			t.Errorf("after the clock was set forward by %v: %d requests in two hours, want 200", by, got)
		}
		if by > clockBroken {
			continue // nothing is visited until it is brought back
		}
		clk.Virtual = clock.NewVirtual(noon.Add(2 * time.Hour))
		if got := taken(t, p, clk); got < 195 || got > 201 {
			t.Errorf("after it was set back by %v: %d requests in two hours, want 200", by, got)
		}
	}
}

// refusing is notes whose next commit fails, after what was to be written was worked out.
type refusing struct {
	*notes
	next bool
}

func (r *refusing) Merge(ctx context.Context, name string, merge func([]byte) []byte) error {
	if !r.next {
		return r.notes.Merge(ctx, name, merge)
	}
	r.next = false
	r.mu.Lock()
	defer r.mu.Unlock()
	merge(r.notes.notes[name])
	return errRefused
}

var errRefused = errors.New("refused")

// TestFault_061_WhatIsNotWrittenIsNoGift: where the database fails in the moment of it, it is done with the next beat, also where what was taken
// before could not be written.
func TestFault_061_WhatIsNotWrittenIsNoGift(t *testing.T) {
	t.Parallel()
	for _, takes := range []bool{false, true} {
		store, a := &refusing{notes: new(notes)}, &allowance{requests: 2400, bytes: math.Inf(1)}
		clk := &settable{Virtual: clock.NewVirtual(noon)}
		p := newPurse(store.notes, clk, a)
		p.store = store
		spend(t, p, handful)
		if takes {
			wait(t, clk.Virtual, time.Minute)
			store.next = true
			if _, err := p.take(t.Context(), 100); !errors.Is(err, errRefused) {
				t.Fatalf("take = %v, want %v", err, errRefused)
			}
		}
		clk.Virtual = clock.NewVirtual(clk.Now().Add(time.Hour))
		for _, refuses := range []bool{true, false} {
			store.next = refuses
			if err := p.moved(t.Context(), time.Hour); (err != nil) != refuses {
				t.Fatalf("moved = %v", err)
			}
		}
		if got := taken(t, p, clk); got < 195 || got > 202 {
			t.Errorf("%d requests in two hours after the clock was set forward by one, want 200", got)
		}
	}
}

// TestBudgetThatChangesHourly: a small budget that is raised counts from then on, not for the time before, in which nobody asked;
// so one that changes every hour comes to its mean.
func TestBudgetThatChangesHourly(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(noon)
	p := newPurses(new(notes), clk)
	got := 0
	for hour := range 24 * 30 {
		c := testConfig()
		c.Budget = config.Budget{Requests: config.Rate{PerDay: []float64{20, 180}[hour%2]}}
		p.follow(c)
		for range 60 {
			paid, err := p.all.take(t.Context(), 100)
			if err != nil {
				t.Fatal(err)
			}
			got += paid.requests
			wait(t, clk, time.Minute)
		}
	}
	if got > 3000+handful || got < 2800 {
		t.Errorf("%d requests in 30 days at 20 and 180 a day by turns, want some 3000", got)
	}
}

// TestRestartIsNoGift: what is left of a budget does not grow by a new start.
func TestRestartIsNoGift(t *testing.T) {
	t.Parallel()
	clk, store, c := clock.NewVirtual(noon), new(notes), testConfig()
	c.Budget = config.Budget{Requests: config.Rate{PerDay: 24}}
	for start, want := range []int{handful, 1, 1, 1} {
		p := newPurses(store, clk)
		p.follow(c)
		if paid, err := p.all.take(t.Context(), 100); err != nil || paid.requests != want {
			t.Errorf("start %d, an hour after the one before: %d requests, %v, want %d", start, paid.requests, err, want)
		}
		wait(t, clk, time.Hour+time.Second)
	}
}

// settable is a clock that can be set.
type settable struct{ *clock.Virtual }

// The numbers of pages are counted again after the clock was set: a count seemed to take as long as it was set forward, and would be good for
// a hundred times that.
func TestPagesAreCountedAgainAfterTheClockWasSet(t *testing.T) {
	t.Parallel()
	clk := &settable{Virtual: clock.NewVirtual(noon)}
	p := &purses{all: newPurse(new(notes), clk, &allowance{requests: 24, bytes: math.Inf(1)}), counted: noon, resting: recountShare * 50 * time.Minute}
	if err := p.moved(t.Context(), 50*time.Minute); err != nil {
		t.Fatal(err)
	}
	if !p.counted.IsZero() {
		t.Errorf("pages counted while the clock was set are not counted again for %v", p.resting)
	}
}
