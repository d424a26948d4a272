package clock

import (
	"testing"
	"time"
)

// twoMachines are one that compares its clock with the other's, whose clock is right.
type twoMachines struct {
	*testing.T
	right     time.Time
	read      Reading
	reference *Reference
	moved     time.Duration // as the comparisons say
}

func newTwoMachines(t *testing.T, ahead time.Duration) *twoMachines {
	m := &twoMachines{T: t, right: start, read: Reading{start.Add(ahead), time.Hour}}
	m.reference = NewReference(func() Reading { return m.read })
	return m
}

// pass lets time pass, in which the machine's clock is set forward or back.
func (m *twoMachines) pass(d, set time.Duration) {
	m.right, m.read = m.right.Add(d), Reading{m.read.Shown.Add(d + set), m.read.Monotonic + d}
}

// compare asks the other machine, with so long a way there and back.
func (m *twoMachines) compare(there, back time.Duration) bool {
	before := m.reference.Machine()
	m.pass(there, 0)
	at := m.right
	m.pass(back, 0)
	moved, known := m.reference.Compare(before, at, m.reference.Machine())
	m.moved += moved
	return known
}

func (m *twoMachines) shows(want time.Duration, what string) {
	m.Helper()
	if got := Following(m.reference).Now().Sub(m.right); got != want {
		m.Errorf("%s the clock is %v off, want %v", what, got, want)
	}
}

func (m *twoMachines) ahead(want time.Duration, doubt Doubt) {
	m.Helper()
	if got, why := m.reference.Ahead(), m.reference.Doubt(); got != want || why != doubt {
		m.Errorf("Ahead() = %v, Doubt() = %v, want %v, %v", got, why, want, doubt)
	}
}

func TestReferenceIsFollowed(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, time.Second, -time.Second, 4*time.Minute + 12*time.Second, -50 * 365 * 24 * time.Hour} {
		m := newTwoMachines(t, ahead)
		m.shows(ahead, "before a comparison")
		m.ahead(0, Unknown)
		if m.compare(time.Millisecond, 2*time.Second) {
			t.Error("an answer that took two seconds says how late it is")
		}
		m.shows(ahead, "after an answer that took two seconds")
		if !m.compare(time.Millisecond, time.Millisecond) {
			t.Error("after a comparison the reference is not known")
		}
		m.pass(time.Hour, 0)
		m.shows(0, "after a comparison")
		m.ahead(ahead, NoDoubt)
	}
}

// Where the two clocks may well be one, the machine's own is kept: what a database beside the worker takes to answer moves nothing.
func TestReferenceThatAgreesMovesNothing(t *testing.T) {
	t.Parallel()
	m := newTwoMachines(t, 0)
	for _, way := range [][2]time.Duration{{300, 900}, {500, 20}, {10, 40}, {40, 10}, {0, 8000}} {
		m.compare(way[0]*time.Microsecond, way[1]*time.Microsecond)
		m.shows(0, "of a machine that goes with the reference")
		m.pass(2*time.Second, 0)
		m.shows(0, "two seconds after of a machine that goes with the reference")
	}
}

// The surest comparison holds until another one contradicts it.
func TestReferenceKeepsWhatItIsSureOf(t *testing.T) {
	t.Parallel()
	m := newTwoMachines(t, time.Minute)
	m.compare(time.Millisecond, time.Millisecond)
	m.compare(0, 200*time.Millisecond)
	m.shows(0, "after an answer that was slow on its way back")
	m.pass(0, 90*time.Millisecond) // as a clock that runs too fast
	m.compare(0, 2*time.Millisecond)
	if off := Following(m.reference).Now().Sub(m.right).Abs(); off > time.Millisecond {
		t.Errorf("where a comparison says that the clock drifted it is still %v off, want half a way there and back at most", off)
	}
	m.compare(0, 0)
	m.shows(0, "after a surer answer")
}

// Where the machine's clock is set nothing moves before the next comparison, nor after one with another machine's.
func TestReferenceOfAMachineWhoseClockIsSet(t *testing.T) {
	t.Parallel()
	for _, set := range []time.Duration{4 * time.Minute, -4 * time.Minute, 50 * 365 * 24 * time.Hour, -50 * 365 * 24 * time.Hour} {
		m := newTwoMachines(t, time.Second)
		m.compare(0, 0)
		m.pass(time.Second, set)
		m.shows(0, "after it was set")
		m.ahead(time.Second, Unknown)
		m.compare(0, 0)
		m.shows(0, "after the next comparison")
		m.ahead(time.Second+set, NoDoubt)
		if m.moved != 0 {
			t.Errorf("where this machine's clock is set by %v the other's moved by %v", set, m.moved)
		}
	}
}

// Where the reference is set, or is another one from now on, it is followed, the comparison says by how much it moved, and the time is in
// doubt until that is seen to; not where that may be what an answer took.
func TestReferenceThatIsSet(t *testing.T) {
	t.Parallel()
	for set, moved := range map[time.Duration]time.Duration{4 * time.Minute: 4 * time.Minute, -4 * time.Minute: -4 * time.Minute,
		50 * 365 * 24 * time.Hour: 50 * 365 * 24 * time.Hour, 90 * time.Millisecond: 0, -90 * time.Millisecond: 0} {
		m := newTwoMachines(t, time.Second)
		m.compare(0, 0)
		m.pass(time.Second, 0)
		m.right = m.right.Add(set)
		m.compare(0, 0)
		m.shows(0, "after the next comparison")
		doubt := NoDoubt
		if moved != 0 {
			doubt = Moved
		}
		m.ahead(time.Second-set, doubt)
		m.pass(2*time.Second, 0)
		m.compare(0, 900*time.Millisecond)
		m.shows(0, "after an answer that was slow on its way back")
		m.ahead(time.Second-set+450*time.Millisecond, doubt)
		if m.moved != moved {
			t.Errorf("of a reference that is set by %v the comparisons say that it moved by %v, want %v", set, m.moved, moved)
		}
		m.reference.Settle()
		m.ahead(time.Second-set+450*time.Millisecond, NoDoubt)
	}
}

// A machine that goes by its own clock follows it where it is set, from the moment on that it is looked at, and says by how much.
func TestMachineThatGoesByItsOwnClock(t *testing.T) {
	t.Parallel()
	for _, set := range []time.Duration{0, 20 * time.Microsecond, 90 * time.Millisecond, 4 * time.Minute, -4 * time.Minute, 50 * 365 * 24 * time.Hour} {
		m := newTwoMachines(t, 0)
		if moved := m.reference.Adopt(); moved != 0 {
			t.Errorf("at first Adopt() = %v, want 0", moved)
		}
		little := set.Abs() < 100*time.Millisecond
		moved, before, after := set, Unknown, Moved
		if little {
			moved, before, after = 0, NoDoubt, NoDoubt
		}
		m.pass(time.Hour, set)
		m.shows(0, "before it is looked at again")
		m.ahead(0, before)
		if got := m.reference.Adopt(); got != moved {
			t.Errorf("after the clock was set by %v Adopt() = %v, want %v", set, got, moved)
		}
		if set > unlike || set < -unlike {
			m.shows(set, "after it is looked at again")
		} else {
			m.shows(0, "after it is looked at again, by no more than what lies between two readings,")
		}
		m.ahead(0, after)
		m.reference.Settle()
		m.ahead(0, NoDoubt)
	}
}

// Two machines' clocks that are not compared for long, because the database is away, have not been set for what they drift apart.
func TestMachinesThatDriftApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ away, drifted, moved time.Duration }{
		{2 * time.Second, 90 * time.Millisecond, 0},
		{2 * time.Second, 110 * time.Millisecond, 110 * time.Millisecond},
		{time.Hour, 720 * time.Millisecond, 0}, // 200 ppm, a bad quartz
		{time.Hour, -720 * time.Millisecond, 0},
		{time.Hour, 2 * time.Second, 2 * time.Second},
		{24 * time.Hour, 17 * time.Second, 0},
		{24 * time.Hour, time.Minute, time.Minute},
	} {
		m := newTwoMachines(t, 0)
		m.compare(0, 0)
		m.pass(c.away, 0)
		m.right = m.right.Add(c.drifted)
		m.compare(0, 0)
		m.shows(0, "after the next comparison")
		if m.moved != c.moved {
			t.Errorf("of two that are %v apart after %v the one moved by %v, want %v", c.drifted, c.away, m.moved, c.moved)
		}
	}
}

// What they may drift apart is counted from the last comparison, though what was known before remained in force.
func TestReferenceThatIsSetAfterALongTime(t *testing.T) {
	t.Parallel()
	m := newTwoMachines(t, 0)
	for range 24 * 3600 / 2 {
		m.compare(time.Millisecond, time.Millisecond)
		m.pass(2*time.Second, 0)
	}
	const set = 3 * time.Second
	m.right = m.right.Add(set)
	m.compare(time.Millisecond, time.Millisecond)
	if m.moved != set {
		t.Errorf("of a reference that is set by %v after a day the comparisons say that it moved by %v", set, m.moved)
	}
	m.ahead(-set, Moved)
}

// An answer that took seconds is worth nothing, but for what it rules out: where the other clock was set by more, the time is not known
// until an answer comes sooner.
func TestLateAnswerOfAReferenceThatWasSet(t *testing.T) {
	t.Parallel()
	for _, set := range []time.Duration{time.Second, -time.Second, 4 * time.Minute, -4 * time.Minute} {
		m := newTwoMachines(t, 0)
		m.compare(0, 0)
		m.pass(time.Second, 0)
		m.right = m.right.Add(set)
		found, doubt := set.Abs() > 3*time.Second, NoDoubt
		if found {
			doubt = Unknown
		}
		if known := m.compare(3*time.Second/2, 3*time.Second/2); known == found {
			t.Errorf("of a reference that is set by %v an answer that took 3 s says that it is known: %v, want %v", set, known, !found)
		}
		m.ahead(0, doubt)
		m.shows(-set, "after an answer that took 3 s")
		m.compare(0, 0)
		m.shows(0, "after an answer that took no time")
		m.ahead(-set, Moved)
		if m.moved != set {
			t.Errorf("of a reference that is set by %v the comparisons say that it moved by %v", set, m.moved)
		}
	}
}
