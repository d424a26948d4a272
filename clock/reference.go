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

// Reference is the clock that several go by who must agree on the time, or one whose machine's may be set while it works. What it
// shows is known by comparing it with this machine's now and then: another machine's (Compare), or this one's own (Adopt). In between
// it goes on as this machine's monotonic clock does: what somebody sets that machine's to moves nothing before the next
// comparison. Before the first one it is this machine's clock. It is safe for concurrent use; compare by one at a time.
type Reference struct {
	machine func() Reading
	last    atomic.Pointer[comparison]
}

// comparison is what a Reference goes by.
type comparison struct {
	read   Reading       // by the machine
	at     time.Time     // by the reference at that moment
	within time.Duration // of the true moment
	asked  time.Duration // when they were last compared, by the machine's monotonic clock
	ahead  time.Duration // the machine of the reference, as last compared
	moved  bool          // otherwise than time passed, and nobody has said since that all is seen to (Settle)
	denied bool          // since, by an answer that came too late to go by
}

// drift is by how much two machines' clocks that nobody sets move apart at most: the kernel corrects by as much (ntp_adjtime(2)).
func drift(d time.Duration) time.Duration { return d / 2000 }

// NewReference returns a reference for the machine whose clocks those are; nil: this one's.
func NewReference(machine func() Reading) *Reference {
	if machine == nil {
		machine = newThisMachine(asleep).read
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
	return c.at.Add(now.Monotonic - c.read.Monotonic)
}

// Compare takes note that the reference showed a moment between two of the machine's (Machine): half of what lies between
// them is uncertain. What was known remains in force while it does not contradict that and is no less sure; so does the
// machine's own clock, where that may well show the same. An answer that came too late to go by changes nothing, but where the reference
// must have been set the time is Unknown from then on. It returns by how much the reference moved otherwise than time passed,
// because it was set, or another one answers now, 0 where that may be nothing; and whether it is known now.
func (r *Reference) Compare(before Reading, at time.Time, after Reading) (moved time.Duration, known bool) {
	half := (after.Monotonic - before.Monotonic) / 2
	read := Reading{after.Shown.Add(-half), after.Monotonic - half}
	fresh := comparison{read: read, at: at, within: half, asked: read.Monotonic, ahead: read.Shown.Sub(at)}
	if fresh.ahead.Abs() <= half {
		fresh.at = read.Shown
	}
	last := r.last.Load()
	if last != nil {
		off := at.Sub(last.showing(read))
		if off.Abs() <= half && half >= last.within && !last.wasSet(read) {
			fresh.read, fresh.at, fresh.within = last.read, last.at, last.within
		}
		if off.Abs() > set+half+last.within+drift(read.Monotonic-last.asked) {
			moved = off
		}
		fresh.moved = last.moved || moved != 0
	}
	if half <= unsure {
		r.last.Store(&fresh)
		return moved, true
	}
	if moved != 0 {
		denied := *last
		denied.denied = true
		r.last.Store(&denied)
	}
	return 0, last != nil && moved == 0
}

// unlike is how far two readings of one clock may be apart that was not set in between.
const unlike = time.Millisecond

// Adopt goes by what the machine's own clock shows from now on, and returns by how much that is otherwise than time passed, because it
// was set; 0 the first time.
func (r *Reference) Adopt() (moved time.Duration) {
	now, last := r.machine(), r.last.Load()
	fresh := comparison{read: now, at: now.Shown}
	if last != nil {
		off := now.Shown.Sub(last.showing(now))
		if off.Abs() <= unlike {
			return 0
		}
		if off.Abs() > set {
			moved = off
		}
		fresh.moved = last.moved || moved != 0
	}
	r.last.Store(&fresh)
	return moved
}

// Settle says that whatever went by the reference before it moved is seen to.
func (r *Reference) Settle() {
	if last := r.last.Load(); last != nil && last.moved {
		settled := *last
		settled.moved = false
		r.last.Store(&settled)
	}
}

// wasSet tells whether the machine's clock was set since, or the machine slept and nothing tells how long.
func (c *comparison) wasSet(now Reading) bool {
	monotonic, shown := now.Monotonic-c.read.Monotonic, now.Shown.Sub(c.read.Shown)
	return (shown - monotonic).Abs() > set
}

// Ahead is how far the machine's clock was ahead of the reference when they were last compared, negative for behind.
func (r *Reference) Ahead() time.Duration {
	if c := r.last.Load(); c != nil {
		return c.ahead
	}
	return 0
}

// Doubt is why the time may not be what it seems.
type Doubt int

// The doubts about a Reference.
const (
	NoDoubt Doubt = iota
	Unknown       // it was never compared, or the machine's clock was set since, or the reference was and its answer came too late
	Moved         // it moved otherwise than time passed, and not all is seen to that went by it before (Reference.Settle)
)

// Doubt tells whether the time may not be what it seems, and why.
func (r *Reference) Doubt() Doubt {
	c := r.last.Load()
	switch {
	case c == nil || c.denied || c.wasSet(r.machine()):
		return Unknown
	case c.moved:
		return Moved
	}
	return NoDoubt
}
