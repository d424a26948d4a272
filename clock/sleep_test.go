package clock

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// setClock is the clock of a machine that is set while it works.
type setClock struct{ by atomic.Int64 }

func (c *setClock) read() Reading {
	now := time.Now()
	return Reading{now.Add(time.Duration(c.by.Load())).Round(0), now.Sub(start)}
}

// A sleep takes what it was to take, though the clock is set back meanwhile; one that is over by a clock that was set forward, or by
// that of a machine that slept, ends within a minute.
func TestSleepWhileTheClockIsSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ by, want time.Duration }{
		{0, 2 * time.Hour},
		{-time.Hour, 2 * time.Hour},
		{-50 * 365 * 24 * time.Hour, 2 * time.Hour},
		{50 * time.Millisecond, 2*time.Hour - 50*time.Millisecond},
		{30 * time.Minute, 90 * time.Minute},
		{59*time.Minute + 59*time.Second, time.Hour + time.Second},
		{50 * 365 * 24 * time.Hour, time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			machine := new(setClock)
			for _, speed := range []float64{0, 1, 1000} {
				machine.by.Store(0)
				slow := Following(NewReference(machine.read))
				anchored := slow.Anchored(Anchor{RealAt: slow.Now(), At: start, Speed: speed})
				began := time.Now()
				stop := AfterFunc(time.Hour-time.Second, func() { machine.by.Store(int64(c.by)) })
				if err := anchored.SleepUntil(t.Context(), anchored.Now().Add(anchored.Real(2*time.Hour))); err != nil {
					t.Fatal(err)
				}
				stop()
				if took := time.Since(began); (took - c.want).Abs() > time.Millisecond {
					t.Errorf("at speed %g, while the clock is set by %v, a sleep of two hours took %v, want %v", speed, c.by, took, c.want)
				}
			}
		})
	}
}
