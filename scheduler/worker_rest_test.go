package scheduler_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/models"
)

// restless has one host that several visits at a time are made to, a quarter of a second apart. The one numbered so is answered
// by what f makes of its outcome. The moments of all visits are returned.
func restless(t *testing.T, number int, f func(*models.Outcome)) (begun []time.Time) {
	t.Helper()
	s := newStage(t, 1, 60, time.Now())
	s.config.Sites[0].Settings.Delay, s.config.Sites[0].Settings.Concurrency = 250*time.Millisecond, 8
	s.config.Sites[0].Settings.DelayFactor = 0
	var mu sync.Mutex
	quick := takes(10 * time.Millisecond)
	s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
		mu.Lock()
		begun = append(begun, turn.Now)
		n := len(begun)
		mu.Unlock()
		out := quick(ctx, turn)
		out.Delay = s.config.Sites[0].Settings.Delay
		if n == number {
			f(&out)
		}
		return out
	}
	s.run(2 * time.Minute)
	return begun
}

// A host that asks for rest is left alone from then on: visits that wait for their slot are not made either.
func TestRestCountsForVisitsThatWaitForTheirSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const number, rest = 6, 20 * time.Second
		begun := restless(t, number, func(out *models.Outcome) {
			*out = models.Outcome{Kind: models.Failed, Class: models.TooManyRequests, Status: 429, Sent: 1, At: out.At, Took: out.Took,
				Delay: out.Delay, RetryAfter: out.At.Add(rest)}
		})
		if len(begun) < 2*number {
			t.Fatalf("%d visits in all, want the host asked again after its rest", len(begun))
		}
		if gap := begun[number].Sub(begun[number-1]); gap < rest {
			t.Errorf("the host was asked %v after it wanted to be left alone for %v", gap, rest)
		}
	})
}

// What lengthens the delay does so for visits that wait for their slot.
func TestLongerDelayCountsForVisitsThatWaitForTheirSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const number = 6
		begun := restless(t, number, func(out *models.Outcome) { // overloaded, and says so to a probe
			out.Kind, out.Status, out.Body = models.Probed, 503, nil
		})
		want := 500 * time.Millisecond // twice the delay that a 503 found too short; each good answer takes some of it back
		for i := number; i < number+4; i++ {
			if gap := begun[i].Sub(begun[i-1]); gap < want {
				t.Errorf("visit %d began %v after the one before, want %v or more", i+1, gap, want)
			}
			want -= 60 * time.Millisecond
		}
	})
}
