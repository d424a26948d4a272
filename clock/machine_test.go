package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

// A machine that slept knows for how long; one whose clock was set did not sleep; and the system is asked only where the two clocks
// moved differently.
func TestMachineThatSlept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slept, asked := 8*time.Hour, -1 // before the process began
		m := newThisMachine(func() time.Duration { asked++; return slept })
		shown, awake, want := time.Now(), time.Duration(0), time.Duration(0)
		for _, c := range []struct {
			awake, slept, set time.Duration
			asked             int
		}{{awake: time.Second}, {awake: time.Minute, slept: 5 * time.Hour, asked: 1}, {slept: time.Minute, asked: 2}, {awake: time.Hour, asked: 2},
			{set: time.Hour, asked: 3}, {set: -24 * time.Hour, asked: 4}, {awake: time.Second, slept: time.Hour, set: time.Minute, asked: 5},
			{awake: time.Second, set: 90 * time.Millisecond, asked: 5}} {
			shown, awake, slept = shown.Add(c.awake+c.slept+c.set), awake+c.awake, slept+c.slept
			want += c.awake + c.slept
			for range 3 {
				if got := m.reading(shown, awake); got.Monotonic != want || !got.Shown.Equal(shown) {
					t.Errorf("after %+v %v have passed at %v, want %v at %v", c, got.Monotonic, got.Shown, want, shown)
				}
			}
			if asked != c.asked {
				t.Errorf("after %+v it was asked %d times how long the machine slept, want %d", c, asked, c.asked)
			}
		}
	})
}

func TestThisMachine(t *testing.T) {
	t.Parallel()
	if slept := asleep(); slept < 0 || slept > 10*365*24*time.Hour {
		t.Errorf("this machine slept for %v since it began", slept)
	}
	m := newThisMachine(asleep)
	if got := m.read(); got.Monotonic < 0 || got.Monotonic > time.Minute || time.Since(got.Shown).Abs() > time.Minute {
		t.Errorf("a machine that was looked at a moment ago shows %+v", got)
	}
}

func BenchmarkReference(b *testing.B) {
	r := NewReference(nil)
	r.Adopt()
	c := Following(r)
	for b.Loop() {
		_ = c.Now()
	}
}

func BenchmarkSystem(b *testing.B) {
	for b.Loop() {
		_ = System{}.Now()
	}
}
