package sink

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"recrawld/clock"
)

// setbacks is how often a receiver failed, and when it is tried again. It implements reviver.
type setbacks struct {
	clock  clock.Clock
	failed int    // in a row
	later  *Later // what was said when it failed last; nil: it takes events
}

// Revive implements reviver.
func (s *setbacks) Revive() { s.failed, s.later = 0, nil }

// Failing implements reviver.
func (s *setbacks) Failing() bool { return s.later != nil }

// waits is what was said when it failed last, until it is to be tried again; nil: it is to be tried.
func (s *setbacks) waits() error {
	if s.later != nil && !s.later.due(s.clock.Now()) {
		return s.later
	}
	return nil
}

// failedBy says when to try again: when the receiver says so, or ever later where retry is 0.
func (s *setbacks) failedBy(ctx context.Context, err error, retry time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err() // it is not the receiver's fault
	}
	now := s.clock.Now()
	s.failed++
	s.later = &Later{From: now, At: now.Add(s.clock.Real(cmp.Or(retry, gap(s.failed)))), Why: err}
	return s.later
}

// parkedBy says that it is not tried again.
func (s *setbacks) parkedBy(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.failed++
	s.later = &Later{From: s.clock.Now(), Why: err}
	return s.later
}

// gap is how long to wait after so many failures: between a half and all of a time that doubles with each.
func gap(failed int) time.Duration {
	most := hookGapMax
	if failed < 13 { // the next would be more than that
		most = min(hookGapMin<<(failed-1), hookGapMax)
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return most/2 + time.Duration(binary.BigEndian.Uint64(b[:])%uint64(most/2))
}
