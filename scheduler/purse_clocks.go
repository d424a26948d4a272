package scheduler

import (
	"context"
	"time"
)

// How far, in real time, a budget's note may lie ahead of a worker's clock. A worker that waited for the note while others
// wrote it is behind them, and clocks differ a little. Beyond clockAhead they differ by more: then it counts who keeps
// writing. Beyond clockBroken nobody does: a worker that is so far behind others does not visit. One that this worker wrote itself
// is not ahead of its clock by clockSet unless that was set back.
const (
	clockSet    = time.Second
	clockAhead  = time.Hour
	clockBroken = 24 * time.Hour
)

// clocks is what a purse knows of the clock that its note is written by.
type clocks struct {
	own   time.Time // guarded by mu; of the note as this worker wrote it last by its own clock
	ahead time.Time // guarded by mu; of a note that somebody else wrote by a clock that is ahead, as seen last
	since time.Time // guarded by mu; since when it is the same
}

// current is a note that the budget may be added to from now on. One that somebody keeps writing by a clock that is hours
// ahead stays as it is: the budget comes in by that clock, for all. Where it was our own that was ahead and was set right, or
// nobody has written by the other one for as long, the note is taken for one of now, with what was left in it.
func (c *clocks) current(n note, now time.Time, real func(time.Duration) time.Duration) note {
	ahead := real(clockAhead)
	switch {
	case n.at.Equal(c.own) && n.at.After(now.Add(real(clockSet))):
		c.ahead, n.at = time.Time{}, now
	case !n.at.After(now.Add(ahead)):
		c.ahead = time.Time{}
	case !n.at.Equal(c.ahead):
		c.ahead, c.since = n.at, now
	case now.Sub(c.since) >= ahead:
		n.at = now
	}
	return n
}

// wrote takes note of a note that was written.
func (c *clocks) wrote(n note, now time.Time) {
	if n.at.Equal(now) || c.own.After(now) {
		c.own = now
	}
}

// moved is told that the clock was set, forward where by is positive: nothing came in for that. Of several workers the one whose note it
// is sees to it. The line begins anew.
func (p *purse) moved(ctx context.Context, by time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.laid = time.Time{}
	was := p.own
	if by <= 0 || was.IsZero() {
		return nil
	}
	own := was
	err := p.store.Merge(ctx, p.note, func(old []byte) []byte {
		n := decodeNote(old, p.clock.Now(), p.clock.Real(clockBroken))
		if own = was; !n.at.Equal(was) {
			return nil
		}
		n.at = was.Add(by)
		own = n.at
		return n.encode()
	})
	if err == nil {
		p.own = own
	}
	return err
}

// moved is told that the clock was set: how long the pages were counted for is not known, so they are counted again.
func (p *purses) moved(ctx context.Context, by time.Duration) error {
	p.mu.Lock()
	p.counted = time.Time{}
	p.mu.Unlock()
	for _, one := range p.each() {
		if err := one.moved(ctx, by); err != nil {
			return err
		}
	}
	return nil
}
