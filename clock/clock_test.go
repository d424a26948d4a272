package clock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestVirtualMovesOnlyWhenSomebodySleeps(t *testing.T) {
	t.Parallel()
	v := NewVirtual(start)
	if err := v.SleepUntil(t.Context(), start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got, want := v.Now(), start.Add(time.Hour); !got.Equal(want) {
		t.Errorf("Now after a sleep of an hour = %v, want %v", got, want)
	}
	if err := v.SleepUntil(t.Context(), start); err != nil || !v.Now().Equal(start.Add(time.Hour)) {
		t.Errorf("a sleep into the past = %v and moved the clock to %v", err, v.Now())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.SleepUntil(ended, start.Add(2*time.Hour)); !errors.Is(err, context.Canceled) || v.Now().After(start.Add(time.Hour)) {
		t.Errorf("a sleep without a live context = %v and moved the clock to %v", err, v.Now())
	}
}

func TestSystemSleeps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := (System{}).SleepUntil(t.Context(), began.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != time.Hour {
			t.Errorf("slept %v, want an hour", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := (System{}).SleepUntil(ctx, time.Now().Add(time.Hour)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a sleep past its context = %v, want its error", err)
		}
	})
}

// A clock that runs a thousand times as fast shows a thousand hours after one, sleeps a thousandth, and two clocks of
// one anchor agree whenever they began.
func TestFastClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		anchor := Anchor{RealAt: time.Now(), At: start, Speed: 1000}
		fast := NewSystem(anchor)
		began := time.Now()
		if err := fast.SleepUntil(t.Context(), start.Add(1000*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != time.Hour {
			t.Errorf("1000 hours at 1000 times the speed took %v, want 1h", took)
		}
		if late := NewSystem(anchor); !late.Now().Equal(fast.Now()) || !fast.Now().Equal(start.Add(1000*time.Hour)) {
			t.Errorf("two clocks of one anchor show %v and %v, want %v", fast.Now(), late.Now(), start.Add(1000*time.Hour))
		}
		if got := fast.Real(time.Second); got != 1000*time.Second {
			t.Errorf("Real(1s) = %v, want 1000s", got)
		}
	})
}

func TestScaleSaturates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "d"))
		by := rapid.Float64Range(0, 1e12).Draw(t, "by")
		got := scale(d, by)
		if (d > 0 && got < 0) || (d < 0 && got > 0) {
			t.Fatalf("scale(%d, %v) = %d: it overflowed", d, by, got)
		}
	})
}
