package rhythm

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func flat(perDay float64) func(int) float64 { return func(int) float64 { return perDay } }

// mixed is pages of which some change a hundred times as often as others.
func mixed(page int) float64 { return []float64{0.02, 0.1, 0.5, 2}[page%4] }

// seen is in how many worlds, of seeds from 0 on, a rhythm is seen.
func (w world) seen(seeds int) (n int) {
	for seed := range uint64(seeds) {
		if r := w.tally(seed); r.Some() {
			n++
		}
	}
	return n
}

// Where there is no rhythm none is seen: of visits at all hours, of visits by night alone to pages of all rates, with one sweep over all pages,
// and of visits that follow what a list tells that is read about once a day.
func TestNoRhythm(t *testing.T) {
	t.Parallel()
	sweep := []time.Time{monday.Add(30*Day*time.Hour + 10*time.Hour)}
	var lists []time.Time
	for dice, at := rand.New(rand.NewPCG(1, 1)), monday; at.Before(monday.AddDate(0, 0, 61)); lists = append(lists, at) {
		at = every(24*time.Hour)(dice, at)
	}
	for name, test := range map[string]struct {
		world
		seeds, most int
	}{
		"every 6 h":         {world{pages: 30, days: 60, perDay: flat(0.2), busy: alike, next: every(6 * time.Hour)}, 200, 6},
		"dated":             {world{pages: 20, days: 60, perDay: flat(0.2), busy: alike, next: every(24 * time.Hour), dated: true}, 200, 6},
		"by night":          {world{pages: 40, days: 60, perDay: mixed, busy: alike, next: nightly}, 60, 2},
		"one sweep":         {world{pages: 50, days: 60, perDay: flat(0.02), busy: alike, next: every(6 * time.Hour), sweeps: sweep}, 60, 2},
		"told by a list":    {world{pages: 40, days: 60, perDay: flat(0.2), busy: alike, next: every(36 * time.Hour), lists: lists}, 60, 2},
		"nothing but sweep": {world{pages: 50, days: 60, perDay: flat(1e-4), busy: alike, next: every(6 * time.Hour), sweeps: sweep}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := test.seen(test.seeds); n > test.most {
				t.Errorf("a rhythm is seen in %d of %d worlds without one, want at most %d", n, test.seeds, test.most)
			}
		})
	}
}

// Office hours are found as they are, though no change is known to within less than 6 hours; where one sweep came by night; and by dates
// where visits come once a day. Visits by night alone leave the day open, and daily ones without dates tell the days alone.
func TestOfficeHours(t *testing.T) {
	t.Parallel()
	sweep := []time.Time{monday.Add(30*Day*time.Hour + 3*time.Hour)}
	for name, test := range map[string]struct {
		world
		from, to, slack int // hours
		times           float64
	}{
		"every 6 h": {world{pages: 60, days: 90, perDay: flat(0.2), busy: office(5), next: every(6 * time.Hour)}, 9, 18, 1, 5},
		"a sweep":   {world{pages: 60, days: 90, perDay: flat(0.2), busy: office(8), next: every(6 * time.Hour), sweeps: sweep}, 9, 18, 1, 6},
		"dated":     {world{pages: 20, days: 90, perDay: flat(0.2), busy: office(8), next: every(24 * time.Hour), dated: true}, 9, 18, 1, 8},
		"by night":  {world{pages: 60, days: 90, perDay: flat(0.2), busy: office(5), next: nightly}, 5, 21, 2, 3.5},
		"daily":     {world{pages: 60, days: 90, perDay: flat(0.2), busy: office(10), next: every(24 * time.Hour)}, 0, 24, 0, 4.5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(5) {
				r := test.tally(seed)
				to := r.Span.From + r.Span.Hours
				if !r.Some() || !r.Span.Workdays() || abs(r.Span.From-test.from) > test.slack || abs(to-test.to) > test.slack {
					t.Errorf("world %d: p = %.3g by day and %.3g by week, %+v; want working days from %d to %d", seed, r.DailyP, r.WeeklyP, r.Span, test.from, test.to)
				}
				if ratio := r.Times / test.times; ratio < 0.6 || ratio > 1.7 {
					t.Errorf("world %d: %.1f times as often as else, want some %g", seed, r.Times, test.times)
				}
			}
		})
	}
}

func abs(n int) int { return max(n, -n) }

// Of fewer changes than LeastChanges nothing is said, however even they are.
func TestFewChangesSayNothing(t *testing.T) {
	t.Parallel()
	for days, want := range map[int]bool{LeastChanges - 1: false, 2 * LeastChanges: true} {
		tally, looks := New(time.UTC), []Look(nil)
		for i := range 24 * days {
			at := monday.Add(time.Duration(i) * time.Hour)
			looks = append(looks, Look{From: at, To: at.Add(time.Hour), Changed: i%Day == 8+i/Day%2})
		}
		tally.Add(looks)
		if r := tally.Rhythm(); r.Some() != want || r.Changes != int64(days) {
			t.Errorf("%d changes at 8 or 9: rhythm %v of %d changes with p = %.3g, want %v", days, r.Some(), r.Changes, r.DailyP, want)
		}
	}
}

// Looks of more than a week say nothing of its hours, however many there are; a date makes them say it.
func TestLongLooksSayNothing(t *testing.T) {
	t.Parallel()
	for _, dated := range []bool{false, true} {
		tally := New(time.UTC)
		for range 20 {
			var looks []Look
			for i := range 10 {
				at := monday.AddDate(0, 0, 8*i)
				l := Look{From: at, To: at.AddDate(0, 0, 8), Changed: i%2 == 0}
				if l.Changed && dated {
					l.At = at.AddDate(0, 0, 7-i/2).Add(time.Duration(9+i/2%2) * time.Hour)
				}
				looks = append(looks, l)
			}
			tally.Add(looks)
		}
		r := tally.Rhythm()
		if wantDated := map[bool]int64{false: 0, true: 100}[dated]; r.Changes != 100 || r.Dated != wantDated || r.Daily != dated {
			t.Errorf("dated %v: %d changes, %d of them dated, daily %v with p = %.3g", dated, r.Changes, r.Dated, r.Daily, r.DailyP)
		}
		if came := r.Hours[9].Came + r.Hours[9+Day].Came; !dated && came != 0 {
			t.Errorf("%.2f changes at 9", came)
		}
	}
}

// A page that looks changed at more than four of five looks is left out, one that never does says nothing, and neither does the clock that was set back.
func TestPagesThatSayNothing(t *testing.T) {
	t.Parallel()
	of := func(changed, all int) (looks []Look) {
		for i := range all {
			at := monday.Add(time.Duration(i) * time.Hour)
			looks = append(looks, Look{From: at, To: at.Add(time.Hour), Changed: i < changed})
		}
		return looks
	}
	tally := New(time.UTC)
	tally.Add(of(9, 10))
	tally.Add(of(8, 10))
	tally.Add(of(0, 10))
	tally.Add([]Look{{From: monday, To: monday.Add(-time.Hour), Changed: true}})
	tally.Add(nil)
	if r := tally.Rhythm(); r.Pages != 1 || r.Noisy != 1 || r.Changes != 8 || r.Some() {
		t.Errorf("%+v, want 8 changes of a page, and a noisy one", r)
	}
	if r := New(time.UTC).Rhythm(); r != (Rhythm{DailyP: 1, WeeklyP: 1}) {
		t.Errorf("nothing says %+v", r)
	}
}

// What comes in all hours is what is expected in them, of a page alone and of all, however they are looked at.
func TestAsManyComeAsAreExpected(t *testing.T) {
	t.Parallel()
	w := world{pages: 30, days: 30, perDay: mixed, busy: office(5), next: nightly}
	dice, tally := rand.New(rand.NewPCG(1, 1)), New(time.UTC)
	for page := range w.pages {
		tally.Add(w.looks(dice, w.changes(dice, page)))
	}
	var came, expected float64
	for _, h := range tally.total(nil) {
		came, expected = came+h.came, expected+h.expected
	}
	if came < 100 || math.Abs(came/expected-1) > 1e-6 {
		t.Errorf("%.6f came and %.6f were expected", came, expected)
	}
}

// Hours are those of the clocks of the zone, in summer and in winter.
func TestHoursOfAZone(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	tally, looks := New(berlin), []Look(nil)
	for d := range 60 { // from March into May
		at := time.Date(2026, 3, 2+d, 9, 0, 0, 0, berlin)
		looks = append(looks, Look{From: at, To: at.Add(time.Hour), Changed: d%2 == 0}, Look{From: at.Add(time.Hour), To: at.AddDate(0, 0, 1)})
	}
	tally.Add(looks)
	var at9 float64
	for hour, h := range tally.Rhythm().Hours {
		if hour%Day == 9 {
			at9 += h.Came
		} else if h.Came > 0 {
			t.Errorf("%.2f changes at %d", h.Came, hour%Day)
		}
	}
	if at9 < 30 {
		t.Errorf("%.2f changes at 9, want 30 or more", at9)
	}
}

// Of more changes than are told apart a part is looked at, which stands for all, and the hours are found all the same.
func TestManyChangesHaveABound(t *testing.T) {
	t.Parallel()
	w := world{pages: 100, days: 90, perDay: flat(0.3), busy: office(8), next: every(6 * time.Hour)}
	dice, tally := rand.New(rand.NewPCG(1, 1)), New(time.UTC)
	tally.most = 700
	for page := range w.pages {
		tally.Add(w.looks(dice, w.changes(dice, page)))
	}
	r, kept := tally.Rhythm(), 0.0
	for _, n := range tally.found {
		kept += n
	}
	if len(tally.found) > tally.most || tally.each < 4 || math.Abs(kept/float64(r.Changes)-1) > 0.02 {
		t.Errorf("%d kinds of changes stand for %.0f of %d, want at most %d and all", len(tally.found), kept, r.Changes, tally.most)
	}
	if want := (Span{Days: 5, From: 9, Hours: 9}); r.Span != want || r.Times < 6 || r.Times > 10 {
		t.Errorf("%+v, %.1f times as often as else, want %+v, 8 times", r.Span, r.Times, want)
	}
}
