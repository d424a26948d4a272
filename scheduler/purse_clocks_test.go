package scheduler

import (
	"math"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
)

// TestClocksApartKeepTheBudget: two workers whose clocks are hours apart share the budget as if they were not. Each of them
// took the note of the other for one of a broken clock, or for hours to be paid for, and filled it up.
func TestClocksApartKeepTheBudget(t *testing.T) {
	t.Parallel()
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

// TestClockSetBackDoesNotStopTheBudget: where a worker's own clock was hours ahead and is set right, and where another's was
// that is gone, the budget goes on, at once or after an hour, and without a gift.
func TestClockSetBackDoesNotStopTheBudget(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		own  bool
		idle time.Duration
	}{"own": {own: true}, "another's": {idle: time.Hour}} {
		store, a := new(notes), &allowance{requests: 2400, bytes: math.Inf(1)}
		wrong := &settable{Virtual: clock.NewVirtual(noon.Add(5 * time.Hour))}
		p := newPurse(store, wrong, a)
		spend(t, p, handful)
		wrong.Virtual = clock.NewVirtual(noon)
		if !test.own {
			p = newPurse(store, wrong, a)
		}
		got := 0
		for range 120 {
			paid, err := p.take(t.Context(), 100)
			if err != nil {
				t.Fatal(err)
			}
			got += paid.requests
			wait(t, wrong.Virtual, time.Minute)
		}
		if want := int((2*time.Hour - test.idle).Hours() * 100); got < want-5 || got > want+1 {
			t.Errorf("%s: %d requests in two hours, want %d", name, got, want)
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
