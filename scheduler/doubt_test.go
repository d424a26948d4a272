package scheduler_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler"
)

// Where the time is in doubt no visit begins, not of a lease that is held either, and no page is blamed for it.
func TestNoVisitBeginsWhileTheTimeIsInDoubt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const from, to = 20 * time.Second, 50 * time.Second
		s := newStage(t, 20, 30, time.Now())
		s.config.Defaults.Delay, s.config.Sites[0].Settings.Delay = 500*time.Millisecond, 500*time.Millisecond // so that a lease is held for many visits
		var doubt atomic.Bool
		began, before, during, after := time.Now(), 0, 0, 0
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			s.mu.Lock()
			switch since := turn.Now.Sub(began); {
			case since < from:
				before++
			case since < to:
				during++
			default:
				after++
			}
			s.mu.Unlock()
			return takes(100*time.Millisecond)(ctx, turn)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		clock.AfterFunc(from, func() { doubt.Store(true) })
		clock.AfterFunc(to, func() { doubt.Store(false) })
		w := s.worker("one", clock.System{}, func(c *scheduler.Config) {
			c.InDoubt = doubt.Load
			c.Hold = func() string {
				if doubt.Load() {
					return "in doubt"
				}
				return ""
			}
		})
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if before == 0 || during > 0 || before+after != 20*30 {
			t.Errorf("%d visits before the time was in doubt, %d meanwhile, %d afterwards, want some, none and the rest of 600", before, during, after)
		}
		for _, p := range s.dump().Pages {
			if p.Failures > 0 || s.visits[p.URL] != 1 {
				t.Errorf("%s failed %d times in %d visits, want none in 1", p.URL, p.Failures, s.visits[p.URL])
			}
		}
	})
}

// setBackAtBedtime is a clock that is set back by an hour once somebody has chosen until when to sleep.
type setBackAtBedtime struct {
	clock.System
	back atomic.Int64
}

func (c *setBackAtBedtime) Now() time.Time { return c.System.Now().Add(-time.Duration(c.back.Load())) }

func (c *setBackAtBedtime) SleepUntil(ctx context.Context, t time.Time) error {
	c.back.Store(int64(time.Hour))
	return c.System.SleepUntil(ctx, t.Add(time.Hour))
}

// Whoever went to sleep until a moment by a clock that was set back just then is woken when that is seen to.
func TestWorkerWakesAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 0, time.Now())
		s.visit = takes(100 * time.Millisecond)
		clk := new(setBackAtBedtime)
		w := s.worker("one", clk, func(*scheduler.Config) {})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		clock.AfterFunc(5*time.Second, func() {
			page := scheduler.NewPage("http://h0.test/0", "h0.test", 1, 0, 4)
			page.DueAt = models.At(clk.Now())
			if _, err := s.store.AddPages(ctx, clk.Now(), []models.Discovery{{Page: page, Host: "h0.test"}}, 1e6); err != nil {
				t.Error(err)
			}
			if err := w.ClockMoved(ctx, -time.Hour); err != nil {
				t.Error(err)
			}
		})
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if s.visits["http://h0.test/0"] == 0 {
			t.Error("within a minute after the clock was set back by an hour a page that was due was not visited")
		}
	})
}
