package changerate

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// told are visits to pages that change once in ten days, by a Poisson process, and of whose changes somebody tells of a share: a
// page is visited when it is told of, or so many days after the last visit. It returns the share of the changes found that were told of.
func told(c *Crowd, lots *rand.Rand, share, every float64, visits int) float64 {
	const rate = 0.1
	found, said := 0.0, 0.0
	for range visits {
		days, changed := 0.0, false
		for {
			days += lots.ExpFloat64() / rate
			if days >= every {
				break
			}
			if lots.Float64() < share {
				said++
				found++
				days = -1
				break
			}
			changed = true
		}
		if days < 0 {
			continue
		}
		if changed {
			found++
		}
		untold := c.Untold(Lists, true)
		c.Sought(Lists, true, Forecast{Rate: Gamma{Shape: 1e6, Days: 1e7 / untold}, Elapsed: every, Told: 1 - untold}, changed)
	}
	return said / found
}

// What goes untold is found out by visits to pages that nobody told of, however often what was told hid it: that share of the
// changes found is far off where visits are few. When a teller falls silent that is found out too.
func TestWhatGoesUntold(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{0, 0.3, 0.5, 0.8, 1} {
		for _, every := range []float64{2, 10, 30} {
			var c Crowd
			lots := rand.New(rand.NewPCG(1, uint64(1000*share+every)))
			mean, n := 0.0, 0.0
			seen := 0.0
			for range 400 {
				seen = told(&c, lots, share, every, 50)
				mean, n = mean+c.Untold(Lists, true), n+1
			}
			if got := mean / n; math.Abs(got-(1-share)) > 0.07 { // of all, chance takes 0.06 away
				t.Errorf("%v told, a visit every %v days: %.3f go untold", share, every, got)
			}
			if share == 0.5 && every == 30 && seen < 0.7 {
				t.Errorf("of the changes found %.2f were told of, so the share would have done", seen)
			}
		}
	}
	var c Crowd
	lots := rand.New(rand.NewPCG(2, 2))
	told(&c, lots, 1, 10, 2000)
	if got := c.Untold(Lists, true); got > 0.05 {
		t.Errorf("all is told, and %.3f go untold", got)
	}
	told(&c, lots, 0, 10, 10)
	if got := c.Untold(Lists, true); got < 0.7 {
		t.Errorf("10 visits after he fell silent %.3f go untold", got)
	}
}

// What goes untold is found out as well where each page is known by what others like it do alone: that none was told of for long says
// that a page changes seldom.
func TestWhatGoesUntoldOfPagesBarelyKnown(t *testing.T) {
	t.Parallel()
	const share, every = 0.2, 30.0
	var c Crowd
	lots := rand.New(rand.NewPCG(3, 3))
	mean, n := 0.0, 0.0
	for range 100_000 {
		rate := lots.ExpFloat64() / 10 // gamma-distributed, as the forecast says
		if lots.ExpFloat64() < (1-share)*rate*every {
			continue // told of before
		}
		untold := c.Untold(Lists, true)
		f := Forecast{Rate: Gamma{Shape: 1, Days: 10 / untold}, Elapsed: every, Told: 1 - untold}
		c.Sought(Lists, true, f, lots.ExpFloat64() < share*rate*every)
		mean, n = mean+c.Untold(Lists, true), n+1
	}
	if got := mean / n; math.Abs(got-share) > 0.03 {
		t.Errorf("%.3f go untold, want %v", got, share)
	}
}

// seek are so many visits each of which was expected to find so many changes.
func seek(c *Crowd, visits int, expected float64, changed bool) {
	for range visits {
		c.Sought(Lists, true, Forecast{Rate: Gamma{Shape: 1e6, Days: 1e7}, Elapsed: 10 * expected}, changed)
	}
}

// One change after years in which all was told does not say that nothing is told of any more; some in a row do.
func TestOneChangeIsNoSilence(t *testing.T) {
	t.Parallel()
	var c Crowd
	seek(&c, 10_000, 0.1, false)
	seek(&c, 1, 0.1, true)
	if got := c.Untold(Lists, true); got > 0.1 {
		t.Errorf("after one change that nobody told of %.2f go untold", got)
	}
	seek(&c, 3, 0.1, true)
	if got := c.Untold(Lists, true); got < 0.8 {
		t.Errorf("after four %.2f go untold", got)
	}
}

// That all pages change at once and nobody tells of it, as where a site has a new layout, does not hide for long what is told again.
func TestALayoutIsForgotten(t *testing.T) {
	t.Parallel()
	var c Crowd
	seek(&c, 1000, 0.1, false)
	seek(&c, 1000, 0.01, true)
	if got := c.Untold(Lists, true); got < 0.9 {
		t.Errorf("%.2f go untold while all do", got)
	}
	seek(&c, 500, 0.1, false)
	if got := c.Untold(Lists, true); got > 0.3 {
		t.Errorf("fifty changes that were told of later %.2f go untold", got)
	}
}

// A visit no later than the last record, as after a clock was set back, teaches nothing.
func TestNoTimeTellsNothingOfWhatGoesUntold(t *testing.T) {
	t.Parallel()
	var c Crowd
	for _, elapsed := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		for range 100 {
			c.Sought(Lists, true, Forecast{Rate: Gamma{10, 100}, Elapsed: elapsed}, true)
		}
		if c.untold != (Crowd{}).untold {
			t.Fatalf("after %v days it is known: %+v", elapsed, c.untold)
		}
	}
}

// Each teller is known for himself, and the pages that he told of before apart from the others; of none anything is known at first.
func TestTellersAreKnownApart(t *testing.T) {
	t.Parallel()
	var c Crowd
	for range 50 {
		c.Sought(Lists, true, Forecast{Rate: Gamma{10, 100}, Elapsed: 20}, false)
	}
	for _, other := range []float64{c.Untold(Lists, false), c.Untold(Publisher, true), c.Untold(Publisher, false)} {
		if other != 1 {
			t.Errorf("%v of what nobody looked into goes untold", other)
		}
	}
	if got := c.Untold(Lists, true); got > 0.1 {
		t.Errorf("%v goes untold", got)
	}
}

func TestUntoldIsReadAsWritten(t *testing.T) {
	t.Parallel()
	var c Crowd
	older, _ := c.MarshalBinary()
	c.Sought(Publisher, false, Forecast{Rate: Gamma{10, 100}, Elapsed: 20}, true)
	c.Sought(Publisher, false, Forecast{Rate: Gamma{10, 100}, Elapsed: 20}, false)
	c.Sought(Lists, true, Forecast{Rate: Gamma{10, 100}, Elapsed: 20}, false)
	stored, _ := c.MarshalBinary()
	var read Crowd
	if err := read.UnmarshalBinary(stored); err != nil || read.untold != c.untold {
		t.Errorf("%+v is read as %+v, %v", c.untold, read.untold, err)
	}
	if len(stored)-len(older) != 2*24 || !bytes.HasSuffix(older, make([]byte, 2*int(Tellers)+1)) {
		t.Errorf("two of four take %d bytes", len(stored)-len(older))
	}
	before := append([]byte{toldForm}, older[1:len(older)-2*int(Tellers)-1]...)
	if err := read.UnmarshalBinary(before); err != nil || read.untold != (Crowd{}).untold {
		t.Errorf("of a crowd that does not know it %+v is read, %v", read.untold, err)
	}
	for _, bad := range []leftOut{{rate: Gamma{2, untoldKept + 1}}, {rate: Gamma{0, 2}}, {rate: Gamma{math.Inf(1), 2}},
		{rate: Gamma{2, math.NaN()}}, {Gamma{2, 2}, silentFor}, {Gamma{2, 2}, math.NaN()}} {
		c.untold[Lists].named = bad
		stored, _ := c.MarshalBinary()
		if err := read.UnmarshalBinary(stored); !errors.Is(err, errCorrupt) {
			t.Errorf("%+v is read: %v", bad, err)
		}
	}
}

// Whatever a visit was expected to find, a share comes of it, and one that can be written.
func TestUntoldIsAShare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c Crowd
		any := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0}))
		for range rapid.IntRange(1, 200).Draw(t, "visits") {
			f := Forecast{Rate: Gamma{any.Draw(t, "shape"), any.Draw(t, "days")}, Elapsed: any.Draw(t, "elapsed"), Told: any.Draw(t, "told")}
			c.Sought(Lists, true, f, rapid.Bool().Draw(t, "changed"))
			if got := c.Untold(Lists, true); !(got >= leastUntold && got <= 1) {
				t.Fatalf("%v goes untold", got)
			}
		}
		stored, _ := c.MarshalBinary()
		if err := new(Crowd).UnmarshalBinary(stored); err != nil {
			t.Fatal(err)
		}
	})
}
