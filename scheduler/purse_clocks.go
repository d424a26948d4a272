package scheduler

import "time"

// How far, in real time, a budget's note may lie ahead of a worker's clock. A worker that waited for the note while others
// wrote it is behind them, and clocks differ a little. Beyond clockAhead they differ by more: then it counts who keeps
// writing. Beyond clockBroken nobody does: a worker that is so far behind others does not visit.
const (
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
func (c *clocks) current(n note, now time.Time, ahead time.Duration) note {
	switch {
	case !n.at.After(now.Add(ahead)):
		c.ahead = time.Time{}
	case n.at.Equal(c.own):
		n.at = now
	case !n.at.Equal(c.ahead):
		c.ahead, c.since = n.at, now
	case now.Sub(c.since) >= ahead:
		n.at = now
	}
	return n
}

// wrote takes note of a note that is about to be written.
func (c *clocks) wrote(n note, now time.Time) {
	if n.at.Equal(now) {
		c.own = now
	}
}
