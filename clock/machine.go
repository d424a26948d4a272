package clock

import (
	"sync/atomic"
	"time"
)

// Reading is what a machine's two clocks show at a moment: the one that may be set, and one that is never set, begins anywhere, and
// goes on while the machine sleeps where the system can tell how long it did.
type Reading struct {
	Shown     time.Time
	Monotonic time.Duration
}

// thisMachine reads the clocks of this machine. It is safe for concurrent use.
type thisMachine struct {
	began  time.Time
	asleep func() time.Duration // since the machine began; asked where it may have changed alone, since it takes longer than all else

	strayed atomic.Int64 // nanoseconds: by how much the two clocks had moved differently when it was asked last
	slept   atomic.Int64 // nanoseconds since began
	before  time.Duration
}

func newThisMachine(asleep func() time.Duration) *thisMachine {
	return &thisMachine{began: time.Now(), asleep: asleep, before: asleep()}
}

func (m *thisMachine) read() Reading {
	now := time.Now()
	return m.reading(now.Round(0), now.Sub(m.began))
}

// reading adds to a monotonic clock that stands still while the machine sleeps how long it did.
func (m *thisMachine) reading(shown time.Time, awake time.Duration) Reading {
	strayed := int64(shown.Sub(m.began.Round(0)) - awake)
	if time.Duration(strayed-m.strayed.Load()).Abs() > set {
		m.slept.Store(int64(m.asleep() - m.before))
		m.strayed.Store(strayed)
	}
	return Reading{shown, awake + time.Duration(m.slept.Load())}
}
