package main

import (
	"testing"
	"time"

	"recrawld/clock"
)

func TestClockIsChosen(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	fast := clock.Anchor{RealAt: now.Add(-time.Minute), At: now.Add(48 * time.Hour), Speed: 60}
	for _, test := range []struct {
		name   string
		choice clockChoice
		want   clock.Anchor
		refuse bool
	}{
		{name: "plain, new data", choice: clockChoice{now: now}},
		{name: "plain, used before", choice: clockChoice{now: now, newest: now.Add(-time.Hour)}},
		{name: "plain after a rehearsal that ran ahead", choice: clockChoice{now: now, kept: fast, newest: now.Add(time.Hour)}, refuse: true},
		{name: "plain after a rehearsal that is past", choice: clockChoice{now: now, kept: fast, newest: now.Add(-time.Hour)}},
		{name: "plain beside fast workers", choice: clockChoice{now: now, kept: fast, others: true}, refuse: true},
		{name: "fast, new data", choice: clockChoice{now: now, speed: 60}, want: clock.Anchor{RealAt: now, At: now, Speed: 60}},
		{name: "fast beside others as fast", choice: clockChoice{now: now, speed: 60, kept: fast, others: true}, want: fast},
		{name: "fast beside others of another speed", choice: clockChoice{now: now, speed: 30, kept: fast, others: true}, refuse: true},
		{name: "fast beside plain workers", choice: clockChoice{now: now, speed: 30, others: true}, refuse: true},
		{
			name:   "fast again goes on after what the last one may have written",
			choice: clockChoice{now: now, speed: 10, kept: fast, newest: now.Add(72 * time.Hour)},
			want:   clock.Anchor{RealAt: now, At: now.Add(72*time.Hour + 3*time.Minute), Speed: 10},
		},
		{
			name: "fast just after another began",
			choice: clockChoice{now: now, speed: 60, newest: now.Add(time.Hour),
				kept: clock.Anchor{RealAt: now.Add(-time.Second), At: now, Speed: 60}},
			want: clock.Anchor{RealAt: now.Add(-time.Second), At: now, Speed: 60},
		},
		{
			name:   "fast after a plain past",
			choice: clockChoice{now: now, speed: 10, newest: now.Add(-time.Hour)},
			want:   clock.Anchor{RealAt: now, At: now, Speed: 10},
		},
	} {
		got, err := test.choice.choose()
		if (err != nil) != test.refuse || got != test.want {
			t.Errorf("%s: choose() = %+v, %v; want %+v, refused %v", test.name, got, err, test.want, test.refuse)
		}
		if test.refuse && exitCode(err) != exitUsage {
			t.Errorf("%s: exit code %d, want %d", test.name, exitCode(err), exitUsage)
		}
	}
}

func TestFault_062_AClockInThePastHoldsClaiming(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for ahead, hold := range map[time.Duration]bool{0: false, -time.Hour: false, 24 * time.Hour: false, 25 * time.Hour: true} {
		if got := holdBehind(now, now.Add(ahead)); (got != "") != hold {
			t.Errorf("holdBehind with data %v ahead = %q, want held %v", ahead, got, hold)
		}
	}
	if got := holdBehind(now, time.Time{}); got != "" {
		t.Errorf("holdBehind of a new database = %q, want none", got)
	}
}
