package main

import (
	"sync"
	"time"
)

// What a clock that is years ahead removes for its age is gone. So for a day after it was set forward by an hour or more (clock.FarOff),
// or after a start so long after the last sign of life that it may have been set meanwhile, ages are counted by the clock as it would be
// without that: a machine that stands still every night for an hour removes an hour later, and one whose clock shows another year nothing.
const (
	ageless = 24 * time.Hour
	away    = 7 * 24 * time.Hour
)

// ages tells by what moment ages are counted. It is safe for concurrent use.
type ages struct {
	mu    sync.Mutex
	leaps []leap // guarded by mu; of the last day, the oldest first
}

// leap is when a clock was set, as it shows that since, and by how much.
type leap struct {
	at time.Time
	by time.Duration
}

// leapt is told that the clock, which shows now, was set forward by so much, or back where that is negative.
func (a *ages) leapt(by time.Duration, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.leaps[:0]
	for _, l := range a.leaps {
		if l.at = l.at.Add(by); now.Sub(l.at) < ageless {
			kept = append(kept, l)
		}
	}
	a.leaps = append(kept, leap{now, by})
}

// now is the moment that ages are counted by: the earliest that a clock would show now that was not set any more since some moment of the
// last day.
func (a *ages) now(now time.Time) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	earliest, sum := now, time.Duration(0)
	for i := len(a.leaps) - 1; i >= 0 && now.Sub(a.leaps[i].at) < ageless; i-- {
		sum += a.leaps[i].by
		earliest = earlier(earliest, now.Add(-sum))
	}
	return earliest
}
