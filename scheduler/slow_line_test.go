package scheduler

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSlowLine(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	var l slowLine
	join := func(host int64, failed bool) int {
		ahead := l.join(host, failed, now.Add(-time.Minute))
		l.wait(host, now.Add(time.Second))
		return ahead
	}
	for i, c := range []struct {
		host   int64
		failed bool
		ahead  int
	}{
		{1, true, 0}, {2, true, 1}, // failed: at 8 and at 16
		{3, false, 0}, {4, false, 1}, // those that have not go before them
		{1, true, 2}, {4, true, 1}, // a place is kept
	} {
		if got := join(c.host, c.failed); got != c.ahead {
			t.Errorf("join %d: host %d has %d ahead of it, want %d", i, c.host, got, c.ahead)
		}
	}
	soon, since := now.Add(2*time.Second), now.Add(-2*time.Second)
	if !l.passes(0, 1, since, soon) || l.passes(1, 1, since, soon) || l.passes(0, 0, since, soon) {
		t.Error("one fetcher is free: it is for the first in line alone")
	}
	l.wait(3, now.Add(time.Hour))
	if !l.passes(2, 1, since, soon) {
		t.Error("the first in line comes in an hour, and the fetcher stays idle meanwhile")
	}
	l.wait(3, now.Add(-2*time.Minute))
	if got := join(4, false); got != 0 {
		t.Errorf("%d ahead of the second, want the first gone, who has stayed away for two minutes", got)
	}
}

// However many hosts come that have not failed, one that has waits for failedStride of them at most.
func TestSlowLineServesThoseThatFailed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1e9, 0)
		var l slowLine
		next := int64(1)
		come := func(failed bool) int64 {
			next++
			l.join(next, failed, now)
			l.wait(next, now)
			return next
		}
		for range rapid.IntRange(0, 50).Draw(t, "waiting") {
			come(rapid.Bool().Draw(t, "failed"))
		}
		for len(l.places) > 0 && rapid.Bool().Draw(t, "serve") {
			l.serve(l.places[0].host)
		}
		before := len(l.places)
		failed, others := come(true), 0
		for l.of[failed] != nil {
			come(false)
			l.serve(l.places[0].host)
			others++
		}
		if most := before + failedStride*(before+1) + 1; others > most {
			t.Fatalf("served after %d others, with %d in line before it: want %d at most", others, before, most)
		}
		if len(l.of) != len(l.places) {
			t.Fatalf("%d hosts have %d places", len(l.of), len(l.places))
		}
	})
}

func TestSlowLineIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	var l slowLine
	for host := range int64(slowPlaces) {
		l.join(host, true, now)
		l.wait(host, now)
	}
	if ahead := l.join(slowPlaces, true, now); ahead != slowPlaces {
		t.Errorf("%d are ahead of the host for which there is no place, want %d", ahead, slowPlaces)
	}
	l.wait(slowPlaces, now)
	if ahead := l.join(slowPlaces+1, false, now); ahead != 0 {
		t.Errorf("%d are ahead of a host that has not failed, want none", ahead)
	}
	if len(l.places) != slowPlaces || len(l.of) != slowPlaces {
		t.Errorf("%d places of %d hosts, want %d", len(l.places), len(l.of), slowPlaces)
	}
}

// A hold during which the clock was set, by years or back, does not count for how long the next ones are expected to take.
func TestHoldDuringWhichTheClockIsSet(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-time.Hour, 20 * 365 * 24 * time.Hour, -20 * 365 * 24 * time.Hour} {
		var s slowHosts
		for range 10 {
			turn := s.begin(noon, slowLongest)
			turn.end(noon.Add(time.Second))
		}
		turn := s.begin(noon, slowLongest)
		turn.end(noon.Add(by))
		for range 30 {
			turn := s.begin(noon, slowLongest)
			turn.end(noon.Add(time.Second))
		}
		if s.took < time.Second/2 || s.took > 5*time.Second {
			t.Errorf("after the clock was set by %v a slow host is expected to hold a fetcher for %v, want about a second", by, s.took)
		}
	}
}
