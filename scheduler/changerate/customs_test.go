package changerate

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// priorOf is how likely hours are for a host that nothing was seen of, in all and by habit.
func priorOf(c *customs) (all float64, habit [habits]float64) {
	habit = c.without(new(rhythm))
	for _, p := range habit {
		all += p
	}
	return all, habit
}

// steady is what some hosts taught that change in an hour of the day, or at any.
func steady(c *customs, hosts int, share float64) {
	for i := range hosts {
		r := flat(uint64(i), 400)
		if float64(i) < share*float64(hosts) {
			r = rhythmic(0.3, i%dayHours, 2.5, 15, true)
		}
		c.tell(r)
	}
}

// What was seen of hosts says whether another one has hours, and of what habit.
func TestCustomsAreLearnedOverHosts(t *testing.T) {
	t.Parallel()
	if all, habit := priorOf(new(customs)); !near(all, 0.024, 0.05) || !near(habit[0], habit[habits-1], 1e-9) {
		t.Errorf("before anything was seen hours are %v likely, by habit %v, want 0.024 of all alike", all, habit)
	}
	for name, tt := range map[string]struct {
		share     float64
		low, high float64
	}{
		"all have hours":     {1, 0.85, 1},
		"half of them have":  {0.5, 0.3, 0.7},
		"none has any hours": {0, 0, 0.03},
	} {
		c := new(customs)
		steady(c, 20, tt.share)
		all, habit := priorOf(c)
		if all < tt.low || all > tt.high {
			t.Errorf("%s: %.3f likely for another host, want %v to %v", name, all, tt.low, tt.high)
		}
		if tt.share > 0 && habit[0] < 0.9*all {
			t.Errorf("%s: an hour of each day is %.3f likely of %.3f, want nearly all", name, habit[0], all)
		}
	}
}

// A host's own evidence is no reason to believe it more.
func TestCustomsLeaveOutTheHostItself(t *testing.T) {
	t.Parallel()
	c, r := new(customs), rhythmic(0.3, 5, 2.5, 20, true)
	c.tell(r)
	want, _ := priorOf(new(customs))
	got := 0.0
	for _, p := range c.without(r) {
		got += p
	}
	if !near(got, want, 1e-9) {
		t.Errorf("for the only host hours are %v likely beforehand, want %v as for any", got, want)
	}
	if others, _ := priorOf(c); others < 1.2*want {
		t.Errorf("for another one %v, want more than %v", others, want)
	}
}

// Each host counts once, however often it tells, in whatever order; and what two workers were told adds up.
func TestCustomsCountEachHostOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hosts := make([]rhythm, 4)
		for i := range hosts {
			for j := range hosts[i].odds {
				hosts[i].odds[j] = int16(rapid.IntRange(-oddsMost, oddsMost).Draw(t, "odds"))
			}
		}
		base := Defaults()
		once, one, two := base.Clone(), base.Clone(), base.Clone()
		for i := range hosts {
			told := hosts[i]
			once.customs.tell(&told)
		}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 3), 0, 20).Draw(t, "again") {
			before := hosts[i].odds
			hosts[i].odds[0] = 77 // something else for a while
			one.customs.tell(&hosts[i])
			hosts[i].odds = before
		}
		for i := range hosts {
			two.customs.tell(&hosts[i])
		}
		sum := Merge(Merge(base, base, one), base, two)
		for i, want := range once.customs.said {
			if got := sum.customs.said[i]; math.Abs(got-want) > 1e-6 {
				t.Fatalf("theory %d: %v by turns, %v at once", i, got, want)
			}
		}
		all, habit := priorOf(&sum.customs)
		for _, p := range habit {
			if !(p >= 0 && p <= 1) || !(all <= 1) {
				t.Fatalf("hours are %v likely, by habit %v", all, habit)
			}
		}
	})
}

// Where customs were lost, be it that an older release wrote the weights or that a newer one began anew, hosts that told something tell
// it again, and it does not count against them meanwhile.
func TestCustomsBeginAnew(t *testing.T) {
	t.Parallel()
	w := Defaults()
	hosts := make([]*Crowd, 20)
	for i := range hosts {
		hosts[i] = &Crowd{rhythm: rhythmic(0.3, i, 2.5, 15, true)}
		hosts[i].Tell(w)
	}
	want, _ := priorOf(&w.customs)
	w.days++
	body, _ := w.MarshalBinary()
	lost := new(Weights)
	if err := lost.UnmarshalBinary(append([]byte{timelessForm}, body[1:len(body)-8*theories-4]...)); err != nil {
		t.Fatal(err)
	}
	none, _ := priorOf(new(customs))
	own := 0.0
	for _, p := range lost.customs.without(hosts[0].rhythm) {
		own += p
	}
	if !near(own, none, 1e-9) {
		t.Errorf("for a host that told what was lost hours are %v likely, want %v", own, none)
	}
	for _, c := range hosts {
		c.rhythm.lately = rhythmSteady
		c.Tell(lost)
	}
	if got, _ := priorOf(&lost.customs); !near(got, want, 1e-6) {
		t.Errorf("told again %v likely, want %v", got, want)
	}
	if merged := Merge(lost, w, w); merged.customs != lost.customs {
		t.Error("a worker of the era before adds to customs that began anew")
	}
}

// Customs are written with the weights; weights of a release without them are read, and what no hosts can say is not.
func TestWeightsKeepCustoms(t *testing.T) {
	t.Parallel()
	w := Defaults()
	steady(&w.customs, 3, 1)
	body, _ := w.MarshalBinary()
	read := new(Weights)
	if err := read.UnmarshalBinary(body); err != nil || read.customs != w.customs {
		t.Errorf("read %v, want %v: %v", read.customs, w.customs, err)
	}
	older := append([]byte{timelessForm}, body[1:len(body)-8*theories-4]...)
	if err := read.UnmarshalBinary(older); err != nil || read.customs.said != (customs{}).said || read.mean != w.mean {
		t.Errorf("weights without customs: %v, %v", read.customs, err)
	}
	w.customs.said[0] = 2 * mostSaid
	body, _ = w.MarshalBinary()
	if err := read.UnmarshalBinary(body); !errors.Is(err, errCorrupt) {
		t.Errorf("customs out of bounds: %v, want errCorrupt", err)
	}
}
