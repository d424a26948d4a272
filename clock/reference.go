package clock

import (
	"sync/atomic"
	"time"
)

// How far two machines' clocks may be apart. NTP keeps any two within a fraction of a second, so from Off on one of them is not
// set by it. What is learned of pages, their windows and their dates bear that; from FarOff on they do not.
const (
	Off    = time.Minute
	FarOff = time.Hour
)

// unsure is the longest uncertainty with which a comparison is worth anything at all.
const unsure = 500 * time.Millisecond

// set is by how much a machine's clock and its monotonic one must have moved differently for it to have been set.
const set = 100 * time.Millisecond

// Reading is what a machine's two clocks show at a moment: the one that may be set, and the monotonic one, which may stand still
// while the machine sleeps and begins anywhere.
type Reading struct {
	Shown     time.Time
	Monotonic time.Duration
}

// Reference is the clock of another machine, by which several go that must agree on the time: what that one shows is known by
// comparing it with this machine's now and then (Compare). In between it goes on as this machine's does, and never slower than
// its monotonic clock: should the machine's be set back, a lease does not last longer for that. Before the first comparison it
// is this machine's clock. It is safe for concurrent use; Compare by one at a time.
type Reference struct {
	machine func() Reading
	last    atomic.Pointer[comparison]
}

// comparison is what a Reference goes by.
type comparison struct {
	read   Reading       // by the machine
	at     time.Time     // by the reference at that moment
	within time.Duration // of the true moment
	ahead  time.Duration // the machine of the reference, as last compared
}

// NewReference returns a reference for the machine whose clocks those are; nil: this one's.
func NewReference(machine func() Reading) *Reference {
	if machine == nil {
		began := time.Now()
		machine = func() Reading {
			now := time.Now()
			return Reading{now.Round(0), now.Sub(began)}
		}
	}
	return &Reference{machine: machine}
}

// Machine is what the machine's own clocks show.
func (r *Reference) Machine() Reading { return r.machine() }

func (r *Reference) now() time.Time {
	now, c := r.machine(), r.last.Load()
	if c == nil {
		return now.Shown
	}
	return c.showing(now)
}

// showing is what the reference shows, as far as the machine can tell.
func (c *comparison) showing(now Reading) time.Time {
	monotonic, shown := c.elapsed(now)
	return c.at.Add(max(monotonic, shown))
}

// elapsed is how much time has passed since, by the machine's monotonic clock and by what it shows: the longer of the two. The first
// stands still while the machine sleeps, the second is set.
func (c *comparison) elapsed(now Reading) (monotonic, shown time.Duration) {
	return now.Monotonic - c.read.Monotonic, now.Shown.Sub(c.read.Shown)
}

// Compare takes note that the reference showed a moment between two of the machine's (Machine): half of what lies between
// them is uncertain. What was known remains in force while it does not contradict that and is no less sure; so does the
// machine's own clock, where that may well show the same. It tells whether the reference is known now.
func (r *Reference) Compare(before Reading, at time.Time, after Reading) bool {
	half := (after.Monotonic - before.Monotonic) / 2
	read := Reading{after.Shown.Add(-half), after.Monotonic - half}
	fresh := comparison{read: read, at: at, within: half, ahead: read.Shown.Sub(at)}
	if fresh.ahead.Abs() <= half {
		fresh.at = read.Shown
	}
	last := r.last.Load()
	if half > unsure {
		return last != nil
	}
	if last != nil && fresh.within >= last.within && !last.wasSet(read) {
		if last.showing(read).Sub(at).Abs() <= fresh.within {
			kept := *last
			kept.ahead = fresh.ahead
			fresh = kept
		}
	}
	r.last.Store(&fresh)
	return true
}

// wasSet tells whether the machine's clock was set since, or the machine slept.
func (c *comparison) wasSet(now Reading) bool {
	monotonic, shown := c.elapsed(now)
	return (shown - monotonic).Abs() > set
}

// Ahead is how far the machine's clock was ahead of the reference when they were last compared, negative for behind, and
// whether it is as it was then: known is false where they were never compared, or the machine's was set since.
func (r *Reference) Ahead() (ahead time.Duration, known bool) {
	c := r.last.Load()
	if c == nil {
		return 0, false
	}
	return c.ahead, !c.wasSet(r.machine())
}
