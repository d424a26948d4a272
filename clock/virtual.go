package clock

import (
	"context"
	"sync/atomic"
	"time"
)

// Virtual is a clock that stands still until somebody sleeps on it: SleepUntil moves it forward and returns at once.
// One worker loop on a Virtual clock is a simulator. With several sleepers it never runs backward: the latest wins.
type Virtual struct {
	now atomic.Pointer[time.Time] // it is read far more often than moved
}

// NewVirtual returns a clock that shows start.
func NewVirtual(start time.Time) *Virtual {
	v, start := new(Virtual), start.UTC()
	v.now.Store(&start)
	return v
}

// Now implements Clock.
func (v *Virtual) Now() time.Time { return *v.now.Load() }

// SleepUntil implements Clock.
func (v *Virtual) SleepUntil(ctx context.Context, t time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for was := v.now.Load(); t.After(*was); was = v.now.Load() {
		if now := t.UTC(); v.now.CompareAndSwap(was, &now) {
			break
		}
	}
	return nil
}

// Real implements Clock: waiting for the world takes no virtual time beyond what it says.
func (v *Virtual) Real(d time.Duration) time.Duration { return d }
