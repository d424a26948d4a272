package main

import (
	"fmt"
	"time"

	"recrawld/clock"
)

// beatEvery is how often a worker says in the database that it lives, in real time; alive is for how long after that
// others believe it.
const (
	beatEvery = 2 * time.Second
	alive     = 10 * time.Second
)

// behind is how far the machine's clock may be behind the newest moment in the database before nothing is claimed:
// a machine without a clock of its own boots in the past, and what it learned then would be wrong for good.
const behind = 24 * time.Hour

// clockChoice is what the daemon's clock is chosen by.
type clockChoice struct {
	now    time.Time    // the machine's
	speed  float64      // asked for; 0: the machine's own pace
	kept   clock.Anchor // of the last run on this database; zero: none, or the machine's own
	newest time.Time    // the newest beat of a worker, by the daemon's clock; zero: there never was one
	others bool         // another worker is alive
}

// choose returns the anchor of the clock. Workers of one database share one clock; a rehearsal that begins anew goes on
// where the last one ended, and a plain run never follows a rehearsal that ran ahead of the world.
func (c clockChoice) choose() (clock.Anchor, error) {
	switch {
	case c.others && c.kept.Speed != c.speed:
		return clock.Anchor{}, usagef("other workers of this database run with %s; this one must too", speedFlag(c.kept.Speed))
	case c.speed == 0 && c.kept.Speed != 0 && c.newest.After(c.now):
		return clock.Anchor{}, usagef("this data was used for a rehearsal (%s) that has reached %s, %s ahead of the clock: "+
			"go on with --speed, or use another --data", speedFlag(c.kept.Speed), c.newest.Format(time.DateTime),
			c.newest.Sub(c.now).Round(time.Second))
	case c.speed == 0:
		return clock.Anchor{}, nil
	case c.others, c.speed == c.kept.Speed && c.now.Sub(c.kept.RealAt).Abs() < alive:
		return c.kept, nil // others are about to begin who have not beaten yet
	}
	// Without the monotonic reading, which other processes do not share.
	return clock.Anchor{RealAt: c.now.Round(0), At: c.resume().Round(0), Speed: c.speed}, nil
}

// resume is where a rehearsal begins: now, or after the last moment that the one before can have written.
func (c clockChoice) resume() time.Time {
	if c.newest.IsZero() {
		return c.now
	}
	unseen := clock.NewSystem(clock.Anchor{Speed: max(c.kept.Speed, 1)}).Real(beatEvery + time.Second)
	if end := c.newest.Add(unseen); end.After(c.now) {
		return end
	}
	return c.now
}

// holdBehind tells why nothing may be claimed while the clock is far behind what the database has seen, "" otherwise.
func holdBehind(now, newest time.Time) string {
	if newest.Sub(now) <= behind {
		return ""
	}
	return fmt.Sprintf("the clock shows %s, but something was written at %s: set the clock; or, where it is right now and was ahead "+
		"then, stop all workers and run recrawld db rewind", now.Format(time.DateTime), newest.Format(time.DateTime))
}

func speedFlag(speed float64) string {
	if speed == 0 {
		return "no --speed"
	}
	return fmt.Sprintf("--speed %g", speed)
}
