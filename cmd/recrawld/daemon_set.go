package main

import (
	"context"
	"encoding/json"
	"fmt"
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
	by       time.Duration // by how much it was set forward in all, negative: back
	ahead    time.Duration // by how much it had been set forward before, since the worker began, and not back again
	looked   time.Duration // when it was looked at last, by the machine's monotonic clock
	since    time.Duration // when that was before it was noticed to be set: it was not yet
	mine     bool          // this worker sees to what others wrote
	spaced   bool          // hosts are spaced anew, and the budgets are not told yet
}

// move takes note that the clock, which shows now, moved by so much otherwise than time passed.
func (s *settling) move(by time.Duration, now time.Time) {
	was := now.Add(-by)
	if s.beats == 0 || s.spaced {
		s.from, s.to, s.ahead, s.by = was, was, max(s.ahead+s.by, 0), 0
		s.mine, s.spaced = false, false
	}
	s.beats, s.from, s.to = settleBeats, earlier(s.from, earlier(was, now)), later(s.to, later(was, now))
	s.by += by
}

// forward is by how much the clock was set forward.
func (s *settling) forward() time.Duration { return max(s.by, 0) }

// due is within how long from now what is due was due before: what is since the clock was set forward was not. Where the clock was set
// back by more than a day nothing is visited before all is brought back (holdBehind).
func (s *settling) due() time.Duration {
	due := max(-s.by-s.ahead, 0)
	if due > behind {
		return 0
	}
	return due
}

// longestAlone is the longest for which a host is left alone that did not ask for it: one whose name is not known.
const longestAlone = 7 * 24 * time.Hour

// settle sees to what went by a clock that moved just now, or in an earlier beat.
func (d *daemon) settle(ctx context.Context, moved time.Duration, now time.Time) error {
	s, before := &d.settling, d.settling.looked
	s.looked = d.reference.Machine().Monotonic
	switch {
	case moved != 0:
		if s.beats == 0 {
			s.since = before
		}
		moved = d.clock.Real(moved)
		d.tellMoved(moved)
		if moved.Abs() >= clock.FarOff {
			d.ages.leapt(moved, now)
		}
		s.move(moved, now)
	case s.beats > 1:
		s.beats--
	case s.beats == 1:
		if err := d.spaceAnew(ctx, now); err != nil {
			return err
		}
		s.beats = 0
		d.reference.Settle()
	}
	return nil
}

// spaceAnew leaves hosts alone for their delay.
func (d *daemon) spaceAnew(ctx context.Context, now time.Time) error {
	s := &d.settling
	if !s.spaced {
		again := models.Respacing{Now: now, From: s.from, To: s.to, Lease: d.clock.Real(d.start.Worker.Lease), Most: max(longestRetry(&d.force.Load().config), longestAlone)}
		if err := d.seesTo(ctx, now); err != nil {
			return err
		}
		if s.mine {
			again.Due, again.Rest = s.due(), s.forward()
		}
		spaced, err := d.store.Respace(ctx, again)
		if err != nil {
			return err
		}
		s.spaced = true
		d.log.Info("hosts are spaced anew", "hosts", spaced)
	}
	if err := d.worker.ClockMoved(ctx, s.by); err != nil {
		return err
	}
	s.spaced = false
	return nil
}

// noteSpaced is the name of the note that says which worker saw last to what others wrote before the clock was set, and when.
const noteSpaced = "spaced"

type spacedBy struct {
	Worker string
	At     models.Instant
}

// slack is how far apart two workers may take the time to be that go by one clock.
const slack = 2 * time.Second

// seesTo finds out whether this worker is to add to what others wrote before the clock was set: of several the one that comes first to it,
// which is one for whom nobody has since it looked before it noticed. Others visit by the clock as it is meanwhile, and what they
// write then is not to be touched. A moment later than now is of before.
func (d *daemon) seesTo(ctx context.Context, now time.Time) error {
	s := &d.settling
	if s.mine = s.mine || d.alone(); s.mine {
		return nil
	}
	since := now.Add(-d.clock.Real(s.looked - s.since + slack))
	body, err := json.Marshal(spacedBy{d.start.Worker.Name, models.At(now)})
	if err != nil {
		return fmt.Errorf("note that hosts are spaced anew: %w", err)
	}
	mine := false
	err = d.store.Merge(ctx, noteSpaced, func(old []byte) []byte {
		var last spacedBy // what cannot be read is of nobody
		mine = json.Unmarshal(old, &last) != nil || last.At.Time().Before(since) || last.At.Time().After(now.Add(d.clock.Real(slack))) ||
			last.Worker == d.start.Worker.Name
		if !mine {
			return nil
		}
		return body
	})
	s.mine = mine && err == nil
	return err
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

// agesBy is the moment that ages are counted by, and whether anything may be removed for its age.
func (d *daemon) agesBy(now time.Time) (by time.Time, sure bool) {
	return d.ages.now(now), d.holdFarOff() == "" && !d.inDoubt()
}

// newestWritten is the newest moment that is in the database, as far as this worker knows.
func (d *daemon) newestWritten() models.Instant { return models.Instant(d.newest.Load()) }

// wrote takes note of a moment that is about to be written.
func (d *daemon) wrote(at models.Instant) {
	if at > d.newestWritten() { // beats alone write it
		d.newest.Store(int64(at))
	}
}
