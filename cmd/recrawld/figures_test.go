package main

import (
	"context"
	"testing"
	"time"

	"recrawld/clock"
)

// A part of a large task during which the clock was set by years is not rested behind for years.
func TestRestBehindAPartDuringWhichTheClockWasSet(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, by := range []time.Duration{time.Second, 20 * 365 * 24 * time.Hour, -time.Hour} {
		u := unhurried{began: clock.System{}.Now().Add(-by)}
		_ = u.rest(ctx) // it is over
		if least := min(restShare*max(by, 0), restShare*figuresEvery); u.rested < least || u.rested > least+time.Minute {
			t.Errorf("behind a part that took %v by a clock that was set it rests for %v, want %v", by, u.rested, least)
		}
	}
}
