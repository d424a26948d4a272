package changerate

import (
	"bytes"
	"math"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The hours of a stretch add up to its length, wherever it begins and ends.
func TestCoveredHoursAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Float64Range(1, 40_000).Draw(t, "from")
		days := rapid.Float64Range(0, rhythmApart).Draw(t, "days")
		hours := covered(from, from+days)
		sum := 0.0
		for h, x := range hours {
			if x < 0 || x > days/7+1+1e-6 {
				t.Fatalf("%v days from %v on have hour %d of the week %v times", days, from, h, x)
			}
			sum += x
		}
		if math.Abs(sum-days*dayHours) > 1e-4 {
			t.Fatalf("%v days from %v on have %v hours", days, from, sum)
		}
		in := inside(&hours)
		for g := range guesses {
			want := 0.0
			for h, x := range hours {
				if busyAt(g, h) {
					want += x
				}
			}
			if math.Abs(in[g]-want) > 1e-6 {
				t.Fatalf("guess %d has %v of the hours, want %v", g, in[g], want)
			}
		}
	})
}

// The changes of a guess's profile are as many as those of none.
func TestDensitiesHaveMeanOne(t *testing.T) {
	t.Parallel()
	for g := range guesses {
		busy, calm := densities(g)
		sum := 0.0
		for h := range weekHours {
			if busyAt(g, h) {
				sum += busy
			} else {
				sum += calm
			}
		}
		if !near(sum, weekHours, 1e-9) {
			t.Errorf("the profile of guess %d adds up to %v hours", g, sum)
		}
	}
}

// uniformOf draws numbers in [0, 1).
func uniformOf(seed uint64) func() float64 {
	return func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	}
}

// dispersionBytes is how many a dispersion is written in.
const dispersionBytes = 4 + 10*4

// flat is what visits to the pages of a host teach that change at any hour.
func flat(seed uint64, visits int) *rhythm {
	r, uniform := new(rhythm), uniformOf(seed*977+3)
	last := 20_000.0
	for range visits {
		at := last + 0.3 + uniform()
		changedAt := 0.0
		if uniform() < -math.Expm1(-0.3*(at-last)) {
			changedAt = last + uniform()*(at-last)
		}
		r.learn(Gamma{20, 20 / 0.3}, last, at, at-last, changedAt > 0, changedAt)
		last = at
	}
	return r
}

// rhythmic is what visits to the pages of a host teach that change at a rate a day in one hour of the day.
func rhythmic(rate float64, hour int, every, days float64, dated bool) *rhythm {
	type visit struct{ last, at, changedAt float64 }
	var visits []visit
	uniform := uniformOf(7)
	for page := range 20 {
		last := 20_000 + float64(page)*every/20
		for last < 20_000+days {
			at := last + every*(0.7+0.6*uniform())
			changedAt := 0.0
			for d := math.Floor(last); d <= at; d++ {
				if when := d + (float64(hour)+0.5)/dayHours; when > last && when <= at && uniform() < -math.Expm1(-rate) {
					changedAt = when
				}
			}
			visits = append(visits, visit{last, at, changedAt})
			last = at
		}
	}
	sort.Slice(visits, func(i, j int) bool { return visits[i].at < visits[j].at })
	r := new(rhythm)
	for _, v := range visits {
		shown := v.changedAt
		if !dated {
			shown = 0
		}
		r.learn(Gamma{Shape: 20, Days: 20 / rate}, v.last, v.at, v.at-v.last, v.changedAt > 0, shown)
	}
	return r
}

// The hour at which a host's pages change is found out, soon where changes have dates, and a visit is moved behind it.
func TestRhythmFindsTheHour(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		r      *rhythm
		before float64 // the hour by which visits are made
	}{
		"dates for twenty days":           {rhythmic(0.3, 5, 2.5, 20, true), 7},
		"no dates for three hundred days": {rhythmic(0.3, 5, 1.7, 300, false), 9},
	} {
		s, _ := tt.r.week(new(customs))
		if s == nil {
			t.Errorf("%s: no rhythm is likely", name)
			continue
		}
		for _, hour := range []float64{0, 3, 9, 17} {
			at := 20_400 + hour/dayHours
			got := s.settle(at, 5, at-2)
			if h := math.Mod(got, 1) * dayHours; h < 5.9 || h > tt.before {
				t.Errorf("%s: a visit due at %v o'clock is made at %.1f, want just after the hour from five to six", name, hour, h)
			}
			if math.Abs(got-at) > furthest {
				t.Errorf("%s: a visit is moved by %v days", name, got-at)
			}
		}
	}
	if s, _ := rhythmic(0.3, 5, 1, 0, true).week(new(customs)); s != nil {
		t.Errorf("a rhythm of nothing: %v", s)
	}
}

// Where pages change at any hour, no rhythm is made of it.
func TestRhythmOfNoHour(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		r := flat(seed, 2000)
		if s, _ := r.week(new(customs)); s != nil {
			t.Errorf("seed %d: %v", seed, s)
		}
	}
}

// All of a site's pages changed at once say less of its hour than changes of many days do.
func TestOneSweepIsNoRhythm(t *testing.T) {
	t.Parallel()
	var c Crowd
	c.reach(20_000)
	c.visits = fewVisits
	for range 500 {
		c.visits++
		c.hour(Gamma{1, 10}, 20_000, 20_001, 1, true, 20_000.4)
	}
	if s, _ := c.rhythm.week(new(customs)); s != nil {
		t.Errorf("500 pages that changed in one moment make a rhythm")
	}
}

// What is known of the hours is written with the crowd; what was written before there were any is read.
func TestCrowdKeepsItsRhythm(t *testing.T) {
	t.Parallel()
	w := newWorld(3, 40)
	w.visit(60)
	w.crowd.rhythm = rhythmic(0.3, 5, 2.5, 10, true)
	w.crowd.Tell(w.weights)
	told := w.crowd.rhythm.told
	stored, _ := w.crowd.MarshalBinary()
	var read Crowd
	if err := read.UnmarshalBinary(stored); err != nil {
		t.Fatal(err)
	}
	want, _ := w.crowd.rhythm.week(&w.weights.customs)
	if got, _ := read.rhythm.week(&w.weights.customs); *got != *want {
		t.Errorf("the week by what was read (-written +read):\n%s", cmp.Diff(*want, *got))
	}
	if again, _ := read.MarshalBinary(); !bytes.Equal(stored, again) {
		t.Errorf("what was read is written as %d other bytes", len(again))
	}
	w.crowd.rhythm = nil
	if without, _ := w.crowd.MarshalBinary(); len(stored)-len(without) > 2*(guesses+habits)+12+dispersionBytes {
		t.Errorf("the hours take %d bytes, want two each", len(stored)-len(without))
	}
	kept := len(stored) - dispersionBytes - 2*int(Tellers) - 1
	for form, until := range map[byte]int{evenForm: kept, idleForm: kept - 2*habits - 4} {
		read.rhythm = nil
		if err := read.UnmarshalBinary(append([]byte{form}, stored[1:until]...)); err != nil {
			t.Errorf("form %#x: %v", form, err)
			continue
		}
		for i, x := range rhythmic(0.3, 5, 2.5, 10, true).odds {
			if got := read.rhythm.odds[i]; float64(got) != math.Round(float64(x)/finerSteps) {
				t.Errorf("form %#x, in finer steps: odds %d read as %d", form, x, got)
				break
			}
		}
		if got, want := read.rhythm.told[0], math.Round(float64(told[0])/finerSteps); form != idleForm && float64(got) != want {
			t.Errorf("form %#x, in finer steps: told %d, read as %d", form, told[0], got)
		}
	}
}

func TestHoursOfAHost(t *testing.T) {
	t.Parallel()
	var c Crowd
	w := Defaults()
	if h := c.Hours(w); h != (Hours{}) {
		t.Errorf("hours of a host of which nothing is known: %+v", h)
	}
	c.rhythm = rhythmic(0.3, 5, 2.5, 20, true)
	if h := c.Hours(w); h.From != 5 || h.Count != 1 || h.Workdays || !(h.Likely > 0.9 && h.Likely <= 1) {
		t.Errorf("hours %+v, want the one from five on, more than 0.9 likely", h)
	}
}
