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
	return m.reference.Compare(before, at, m.reference.Machine())
}

func (m *twoMachines) shows(want time.Duration, what string) {
	m.Helper()
	if got := Following(m.reference).Now().Sub(m.right); got != want {
		m.Errorf("%s the clock is %v off, want %v", what, got, want)
	}
}

func (m *twoMachines) ahead(want time.Duration, known bool) {
	m.Helper()
	if got, is := m.reference.Ahead(); got != want || is != known {
		m.Errorf("Ahead() = %v, %v, want %v, %v", got, is, want, known)
	}
}

func TestReferenceIsFollowed(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, time.Second, -time.Second, 4*time.Minute + 12*time.Second, -50 * 365 * 24 * time.Hour} {
		m := newTwoMachines(t, ahead)
		m.shows(ahead, "before a comparison")
		m.ahead(0, false)
		if m.compare(time.Millisecond, 2*time.Second) {
			t.Error("an answer that took two seconds says how late it is")
		}
		m.shows(ahead, "after an answer that took two seconds")
		if !m.compare(time.Millisecond, time.Millisecond) {
			t.Error("after a comparison the reference is not known")
		}
		m.pass(time.Hour, 0)
		m.shows(0, "after a comparison")
		m.ahead(ahead, true)
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

// Where the machine's clock is set, leases last no longer for that and nothing is known until the next comparison; so where it
// slept, as far as its monotonic clock tells.
func TestReferenceOfAMachineWhoseClockIsSet(t *testing.T) {
	t.Parallel()
	for set, wrong := range map[time.Duration]time.Duration{4 * time.Minute: 4 * time.Minute, -4 * time.Minute: 0} {
		m := newTwoMachines(t, time.Second)
		m.compare(0, 0)
		m.pass(time.Second, set)
		m.shows(wrong, "after it was set")
		m.ahead(time.Second, false)
		m.compare(0, 0)
		m.shows(0, "after the next comparison")
		m.ahead(time.Second+set, true)
	}
}
