package main

import (
	"context"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// A clock that all go by may be set while they work: the machine's own with SQLite, that of the database's server, or that of another
// server after a failover. In the moment of it delays and leases would all be over, or last for as long as it was set back. So
// from when it is noticed no visit begins; what is under way or waits to be written comes to its end; then each host that was
// asked of late is left alone for its delay, counted from now, and the worker goes on.

// settleBeats is after how many beats that is: another worker notices up to one later than this one, and what it learned before is written.
const settleBeats = 2

// settling is what a worker knows of a clock that was set. Beats alone use it.
type settling struct {
	beats    int           // until hosts are spaced anew; 0: nothing was set
	from, to time.Time     // the earliest and the latest that the clock showed since
	ahead    time.Duration // by how much it was set forward since the worker began, and not back again
	due      time.Duration // by how much it was set back beyond that
	gift     time.Duration // by how much it was set forward: no budget is due for that
}

// move takes note that the clock, which shows now, moved by so much otherwise than time passed.
func (s *settling) move(by time.Duration, now time.Time) {
	was := now.Add(-by)
	if s.beats == 0 {
		s.from, s.to, s.due, s.gift = was, was, 0, 0
	}
	s.beats, s.from, s.to = settleBeats, earlier(s.from, earlier(was, now)), later(s.to, later(was, now))
	s.gift = max(s.gift+by, 0)
	s.ahead += by
	if s.ahead < 0 {
		s.ahead, s.due = 0, s.due-s.ahead
	}
}

// settle sees to what went by a clock that moved just now, or in an earlier beat.
func (d *daemon) settle(ctx context.Context, moved time.Duration, now time.Time) error {
	s := &d.settling
	switch {
	case moved != 0:
		moved = d.clock.Real(moved)
		d.tellMoved(moved)
		if moved.Abs() >= clock.FarOff {
			d.setAt.Store(int64(models.At(now)))
		}
		s.move(moved, now)
		return nil
	case s.beats == 0:
		return nil
	case s.beats > 1:
		s.beats--
		return nil
	}
	if s.gift > 0 {
		if err := d.worker.ClockMoved(ctx, s.gift); err != nil {
			return err
		}
		s.gift = 0
	}
	spaced, err := d.store.Respace(ctx, models.Respacing{Now: now, From: s.from, To: s.to, Lease: d.clock.Real(d.start.Worker.Lease), Due: min(s.due, behind)})
	if err != nil {
		return err
	}
	s.beats = 0
	d.reference.Settle()
	d.log.Info("hosts are spaced anew", "hosts", spaced)
	return nil
}

// tellMoved says that the clock was set, and what that means.
func (d *daemon) tellMoved(by time.Duration) {
	by = by.Round(time.Millisecond)
	switch {
	case by > 0:
		d.log.Warn("a clock was set forward", "clock", d.whoseClock(), "by", by)
	case by > -clock.Off:
		d.log.Warn("a clock was set back", "clock", d.whoseClock(), "by", -by)
	default:
		d.log.Warn("a clock was set back: what was to be due is so that much later; recrawld db rewind brings back what was written after now",
			"clock", d.whoseClock(), "by", -by)
	}
}

// For how long nothing is removed for its age after the clock was set by an hour or more (clock.FarOff), or after a start so long
// after the last sign of life that the clock may have been set meanwhile: what a clock that is years ahead removes is gone.
const (
	ageless = 24 * time.Hour
	away    = 7 * 24 * time.Hour
)

// unsureOfAges tells whether nothing may be removed for its age.
func (d *daemon) unsureOfAges(now time.Time) bool {
	return d.holdFarOff() != "" || d.inDoubt() || now.Sub(models.Instant(d.setAt.Load()).Time()) < ageless
}

// newestWritten is the newest moment that is in the database, as far as this worker knows.
func (d *daemon) newestWritten() models.Instant { return models.Instant(d.newest.Load()) }

// wrote takes note of a moment that is about to be written.
func (d *daemon) wrote(at models.Instant) {
	if at > d.newestWritten() { // beats alone write it
		d.newest.Store(int64(at))
	}
}
