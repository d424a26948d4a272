package scheduler

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawld/clock"
)

// TestSavedUpForABunch: what is not spent in the quiet hours is there for those who are due together, and a week has no more than
// what comes in within 18 hours beside its budget.
func TestSavedUpForABunch(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(noon)
	p := newPurse(new(notes), clk, &allowance{requests: 240, bytes: math.Inf(1)})
	bunch := func() int {
		paid, err := p.take(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		return paid.requests
	}
	for day := range 30 { // what comes in meanwhile makes room
		if got := bunch(); day > 20 && got != 180 {
			t.Errorf("day %d: %d visits at once once a day, want what comes in within 18 hours, 180", day, got)
		}
		wait(t, clk, 24*time.Hour)
	}
	week := bunch()
	for range 7 * 24 {
		wait(t, clk, time.Hour)
		week += bunch()
	}
	if week > 7*240+180 || week < 7*240+179 {
		t.Errorf("%d visits in a week that begins with all that can be kept, want %d", week, 7*240+180)
	}
}

// TestRoomMakesNoGap: who visits early whenever the budget has one to spare uses all of it but for what makes room.
func TestRoomMakesNoGap(t *testing.T) {
	t.Parallel()
	for _, perDay := range []float64{10, 240, 1e5} {
		clk, got := clock.NewVirtual(noon), 0
		p := newPurse(new(notes), clk, &allowance{requests: perDay, bytes: math.Inf(1)})
		asked := 0
		for end := noon.AddDate(0, 0, 2); clk.Now().Before(end); asked++ {
			until, err := p.spare(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if until.IsZero() {
				got++
				continue
			}
			if err := clk.SleepUntil(t.Context(), until); err != nil {
				t.Fatal(err)
			}
		}
		if want, kept := 2*perDay*(1-1.0/roomShare), least(perDay); float64(got) < want-2 || float64(got) > 2*perDay+kept {
			t.Errorf("at %g a day %d visits in two days, want %.0f", perDay, got, want)
		}
		if asked > 4*got+10 {
			t.Errorf("at %g a day it was asked %d times for %d visits", perDay, asked, got)
		}
	}
}

// TestBudgetsOfOtherSize: where a budget is cut the least is kept, where it is raised as much as before, and where it changes a
// little, as that for each page does, as much of it in time.
func TestBudgetsOfOtherSize(t *testing.T) {
	t.Parallel()
	of := func(perDay float64) allowance { return allowance{requests: perDay, bytes: math.Inf(1)} }
	kept := note{requests: 180, bytes: math.Inf(1), at: noon, room: 18 * time.Hour, of: of(240)}
	for name, test := range map[string]struct {
		now            allowance
		requests, room float64 // requests, hours
	}{
		"as it was": {of(240), 180, 18},
		"halved":    {of(120), 4, 1.0 / 60},
		"doubled":   {of(480), 180, 9},
		"grows":     {of(250), 180, 18},
		"shrinks":   {of(220), 165, 18},
		"off":       {of(math.Inf(1)), math.Inf(1), 18},
	} {
		got := kept.under(test.now).fill(test.now, noon)
		if math.Abs(got.requests-test.requests) > 1e-9 || math.Abs(got.room.Hours()-test.room) > 1e-6 || got.of != test.now {
			t.Errorf("%s: %+v, want %v requests and room for %v h", name, got, test.requests, test.room)
		}
	}
}

// TestNotes: a note is read as it was written, and one of an older release has the least room.
func TestNotes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := note{
			requests: rapid.Float64().Draw(t, "requests"), bytes: rapid.Float64().Draw(t, "bytes"), at: noon,
			room: time.Duration(rapid.Int64Range(int64(leastRoom), int64(mostRoom)).Draw(t, "room")),
			of:   allowance{rapid.Float64().Draw(t, "a day"), rapid.Float64().Draw(t, "bytes a day")},
		}
		if got := decodeNote(n.encode(), noon, time.Hour); got != n {
			t.Fatalf("read as %+v, written as %+v", got, n)
		}
		older := note{requests: n.requests, bytes: n.bytes, at: noon, room: leastRoom}
		if got := decodeNote(n.encode()[:olderNoteSize], noon, time.Hour); got != older {
			t.Fatalf("an older release's is read as %+v, want %+v", got, older)
		}
	})
	odd := note{requests: 1, bytes: 1, at: noon}.encode()
	for _, room := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
		binary.LittleEndian.PutUint64(odd[24:], uint64(room))
		if got := decodeNote(odd, noon, time.Hour).room; got < leastRoom || got > mostRoom {
			t.Errorf("room for %v", got)
		}
	}
}
