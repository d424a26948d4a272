// Package clock tells the time and waits for it. It is the only package that touches timers: everything else takes
// `now` as an argument, so the same code runs on the machine's clock, on one that runs N times as fast (a rehearsal)
// and on a virtual one (simulation, tests).
package clock

import (
	"context"
	"time"
)

// Clock tells the time and sleeps by it. Implementations are safe for concurrent use.
type Clock interface {
	// Now is the present moment in UTC.
	Now() time.Time

	// SleepUntil returns nil once Now is at or after t, or the context's error if that comes first. It returns nil too when it has
	// slept for as long as there was to t when it began, though the clock was set back meanwhile.
	SleepUntil(ctx context.Context, t time.Time) error

	// Real is how much of this clock's time passes while d of the machine's time passes. Whatever waits for the
	// world and not for the schedule (network time-outs, leases, heartbeats) is measured in it, so that a clock
	// running N times as fast does not make the network N times as slow.
	Real(d time.Duration) time.Duration
}

// Anchor ties a fast clock to the machine's: at RealAt the clock showed At, and since then it has run Speed times as
// fast. Processes that share an anchor share the clock; the zero Anchor is the machine's own clock.
type Anchor struct {
	RealAt time.Time
	At     time.Time
	Speed  float64 // clock seconds per real second, > 0
}

// System is the machine's clock, or the one of another machine that it goes by, run Speed times as fast from its anchor. The zero
// value is the machine's clock itself.
type System struct {
	anchor    Anchor
	reference *Reference // nil: the machine's own
}

// NewSystem returns the clock of an anchor. An anchor whose Speed is 0 gives the machine's own clock.
func NewSystem(a Anchor) System { return System{anchor: a} }

// Following returns the clock that goes as a reference does.
func Following(r *Reference) System { return System{reference: r} }

// Anchored is this clock run from an anchor; one whose Speed is 0 leaves it as it is.
func (s System) Anchored(a Anchor) System { return System{anchor: a, reference: s.reference} }

// Now implements Clock.
func (s System) Now() time.Time {
	now := s.machine().UTC()
	if s.anchor.Speed == 0 {
		return now
	}
	return s.anchor.At.Add(scale(now.Sub(s.anchor.RealAt), s.anchor.Speed)).UTC()
}

// machine is what the machine's clock shows, or the reference that is followed in its place.
func (s System) machine() time.Time {
	if s.reference != nil {
		return s.reference.now()
	}
	return time.Now()
}

// longestNap is how long a timer runs at most: it stands still while the machine sleeps, and the clock may be set forward.
const longestNap = time.Minute

// SleepUntil implements Clock.
func (s System) SleepUntil(ctx context.Context, t time.Time) error {
	began, most := time.Now(), s.realUntil(t)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		wait := s.realUntil(t)
		if wait <= 0 || wait > set && time.Since(began) >= most {
			return nil
		}
		timer := time.NewTimer(min(max(wait, time.Microsecond), longestNap))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// realUntil is how much of the machine's time there is until the clock shows t.
func (s System) realUntil(t time.Time) time.Duration {
	wait := t.Sub(s.Now())
	if s.anchor.Speed == 0 {
		return wait
	}
	return scale(wait, 1/s.anchor.Speed)
}

// AfterFunc calls f in a goroutine of its own once d of the machine's time has passed, whatever the speed of the clock.
// It costs nothing before. The returned function prevents that, unless f has begun.
func AfterFunc(d time.Duration, f func()) (stop func()) {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// Real implements Clock.
func (s System) Real(d time.Duration) time.Duration {
	if s.anchor.Speed == 0 {
		return d
	}
	return scale(d, s.anchor.Speed)
}

// scale multiplies and saturates: a product past the range of time.Duration (292 years) is its largest value.
func scale(d time.Duration, by float64) time.Duration {
	const limit = float64(1<<63 - 1)
	product := float64(d) * by
	switch {
	case product >= limit:
		return 1<<63 - 1
	case product <= -limit:
		return -1 << 63
	}
	return time.Duration(product)
}
