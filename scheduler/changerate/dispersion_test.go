package changerate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// look is one visit, with the one before and the last change between them, or 0.
type look struct{ last, at, changedAt float64 }

// looks are the visits to pages, each every so many days, until an end. change is when one last changed between two visits, or 0.
func looks(seed uint64, pages int, every, end float64, change func(uniform func() float64, last, at float64) float64) (all []look) {
	uniform := uniformOf(seed)
	for page := range pages {
		last := 20_000 + every*float64(page)/float64(pages)
		for last < 20_000+end {
			at := last + every*(0.7+0.6*uniform())
			all = append(all, look{last, at, change(uniform, last, at)})
			last = at
		}
	}
	slices.SortFunc(all, func(a, b look) int { return cmp.Compare(a.at, b.at) })
	return all
}

// commits is what visits to pages teach, each every so many days, that change all at once on some days, at any hour. The visits
// are of ten of them.
func commits(seed uint64, pages int, every float64) *rhythm {
	uniform := uniformOf(seed*31 + 5)
	var when []float64
	for at := 20_000 + 4*every*uniform(); at < 20_000+40*every; at += 8 * every * uniform() {
		when = append(when, at)
	}
	r := new(rhythm)
	for _, v := range looks(seed, pages, every, 40*every, func(_ func() float64, last, at float64) float64 {
		n, _ := slices.BinarySearch(when, at)
		if n == 0 || when[n-1] <= last {
			return 0
		}
		return when[n-1]
	}) {
		r.learn(Gamma{Shape: 20, Days: 80 * every}, v.last, v.at, v.at-v.last, v.changedAt > 0, v.changedAt)
	}
	return r
}

// hasHours tells whether a host has hours, where nothing is known of others.
func hasHours(r *rhythm) bool {
	s, _ := r.mixed(new(customs).without(r))
	return s != nil
}

// Pages that change each by themselves are of dispersion 1, those that change together of many.
func TestDispersion(t *testing.T) {
	t.Parallel()
	if got := new(dispersion).size(); got != usualDispersion {
		t.Errorf("before anything was seen it is %v, want %v", got, usualDispersion)
	}
	for seed := range uint64(5) {
		alone, together := flat(seed, 4000), commits(seed, 100, 4)
		if got := alone.clumps.size(); got > 2 {
			t.Errorf("seed %d: of changes that come alone it is %v, want 1, and no more than 2", seed, got)
		}
		if got := together.clumps.size(); got < 10 {
			t.Errorf("seed %d: of a hundred changes at once it is %v, want more than 10", seed, got)
		}
	}
}

// That rates are expected too high or too low for long is no clump, and hides none.
func TestDispersionOfWrongForecasts(t *testing.T) {
	t.Parallel()
	for _, off := range []float64{0.25, 0.5, 1, 2, 4} {
		var d dispersion
		uniform, changes := uniformOf(3), false
		for i := range 70_000 { // 50 a day, in clumps of five
			if i%5 == 0 {
				changes = uniform() < 0.1
			}
			d.add(20_000+float64(i)/50, 0.1*off, changes, true)
		}
		if got := d.size(); got < 4 || got > 8 {
			t.Errorf("forecasts times %v: dispersion %.1f of clumps of five", off, got)
		}
	}
}

// A few commits that touch all pages make no hours, whatever hours they came at, though they would if the changes had come alone. Forty
// days of them may by chance look like hours.
func TestCommitsAreNoRhythm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pages       int
		every       float64
		most, alone int // of 20 hosts with hours
	}{{100, 4, 0, 6}, {30, 4, 0, 6}, {100, 1, 1, 6}, {30, 10, 0, 6}} {
		with, alone := 0, 0
		for seed := range uint64(20) {
			r := commits(seed, tt.pages, tt.every)
			if hasHours(r) {
				with++
			}
			if r.clumps = (dispersion{variance: 1e6}); hasHours(r) {
				alone++
			}
		}
		if with > tt.most || alone < tt.alone {
			t.Errorf("%d pages every %v days: %d of 20 hosts have hours, and %d where changes come alone, want at most %d and at least %d", tt.pages, tt.every,
				with, alone, tt.most, tt.alone)
		}
	}
}

// One sweep makes no hours of a host whose changes came alone for seven months, on no day.
func TestOneSweepAfterMonthsIsNoRhythm(t *testing.T) {
	t.Parallel()
	const rate = 0.01
	for seed := range uint64(10) {
		sweep := 20_212.3 + 1.3*float64(seed)
		r, days := new(rhythm), map[int]bool{}
		for _, v := range looks(11+seed, 100, 1, 250, func(uniform func() float64, last, at float64) (changedAt float64) {
			if uniform() < -math.Expm1(-rate*(at-last)) {
				changedAt = last + uniform()*(at-last)
			}
			if last < sweep && at >= sweep {
				changedAt = sweep
			}
			return changedAt
		}) {
			shown := 0.0
			if v.changedAt == sweep {
				shown = sweep
			}
			r.learn(Gamma{Shape: 20, Days: 20 / rate}, v.last, v.at, v.at-v.last, v.changedAt > 0, shown)
			if v.at > sweep+1.5 && hasHours(r) {
				days[int(v.at-sweep)] = true
			}
		}
		if len(days) > 0 {
			t.Errorf("seed %d: hours on %d days after one sweep", seed, len(days))
		}
	}
}

// A large host whose changes come in one hour of the day has hours, though the level of its weeks goes up and down by a fifth.
func TestALargeHostHasHours(t *testing.T) {
	t.Parallel()
	all := looks(7, 3000, 2, 90, func(uniform func() float64, last, at float64) (changedAt float64) {
		for d := math.Floor(last); d <= at; d++ {
			level := 1 + 0.2*math.Sqrt(3)*(2*dither(math.Floor(d/7), 3)-1)
			if when := d + (5+uniform())/dayHours; when > last && when <= at && uniform() < -math.Expm1(-0.2*level) {
				changedAt = when
			}
		}
		return changedAt
	})
	w, c, pages := Defaults(), new(Crowd), map[float64]*Subject{}
	for _, v := range all {
		s := pages[v.last]
		if s == nil {
			n := len(pages)
			s = &Subject{Names: NamesOf(fmt.Sprintf("d%d/p%d.html", n%20, n)), KnownAt: v.last, LastAt: v.last, Cycle: 2}
			c.Known(s, v.last)
		}
		delete(pages, v.last)
		s.Evidence = Learn(w, c, s, Sight{At: v.at, Changed: v.changedAt > 0, ChangedAt: v.changedAt})
		s.LastAt, s.Visits = v.at, s.Visits+1
		if v.changedAt > 0 {
			s.ChangedAt = v.at
		}
		pages[v.at] = s
	}
	if h := c.Hours(w); h.From != 5 || h.Count != 1 {
		t.Errorf("hours %+v after 90 days, want the one from five on; dispersion %.1f", h, c.rhythm.clumps.size())
	}
}

// Whatever is entered, the dispersion is finite and at least 1.
func TestDispersionIsFinite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var d dispersion
		for range rapid.IntRange(0, 200).Draw(t, "visits") {
			d.add(rapid.Float64Range(1, lastDay).Draw(t, "at"), rapid.Float64Range(0, 1).Draw(t, "chance"), rapid.Bool().Draw(t, "changed"),
				rapid.Bool().Draw(t, "entered"))
		}
		if got := d.size(); !(got >= 1 && got < 1e6) {
			t.Errorf("dispersion %v", got)
		}
	})
}

// What no host can have found is not read.
func TestImpossibleChangesAreNotRead(t *testing.T) {
	t.Parallel()
	for _, d := range []dispersion{{found: math.MaxFloat32}, {squares: math.MaxFloat32}, {balance: 2 * mostCounted}} {
		c := Crowd{visits: 100, begin: 20_000, width: 1, rhythm: &rhythm{clumps: d}}
		stored, _ := c.MarshalBinary()
		if err := new(Crowd).UnmarshalBinary(stored); !errors.Is(err, errCorrupt) {
			t.Errorf("%+v is read: %v", d, err)
		}
	}
}
