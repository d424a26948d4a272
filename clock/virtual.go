package clock

import (
	"context"
	"sync"
	"time"
)

// Virtual is a clock that stands still until somebody sleeps on it: SleepUntil moves it forward and returns at once.
// One worker loop on a Virtual clock is a simulator. With several sleepers it never runs backward: the latest wins.
type Virtual struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

// NewVirtual returns a clock that shows start.
func NewVirtual(start time.Time) *Virtual { return &Virtual{now: start.UTC()} }

// Now implements Clock.
func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// SleepUntil implements Clock.
func (v *Virtual) SleepUntil(ctx context.Context, t time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if t.After(v.now) {
		v.now = t.UTC()
	}
	return nil
}

// Real implements Clock: waiting for the world takes no virtual time beyond what it says.
func (v *Virtual) Real(d time.Duration) time.Duration { return d }
