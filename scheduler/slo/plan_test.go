package slo

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const day = 24 * time.Hour

// simple is pages of one host without politeness, windows or variation.
func simple(classes ...Class) Site {
	return Site{Classes: classes, Hosts: []Host{{Name: "a.example"}}, Shortest: time.Hour, Longest: 30 * day}
}

func newPlan(t testing.TB, s Site, within time.Duration) *Plan {
	t.Helper()
	p, err := New(s, within)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

// 100 pages of one rate: S = fT, so 95 % within 6h take .95·4 visits a page and day, by either schedule.
func TestOneRate(t *testing.T) {
	t.Parallel()
	p := newPlan(t, simple(Class{Rate: 0.3, Pages: 100}), 6*time.Hour)
	best, ok := p.For(0.95)
	even, okEven := p.Even(0.95)
	if !ok || !okEven || !near(best.PerDay, 380, 1e-6) || !near(even.PerDay, 380, 1e-6) || !near(best.Share, 0.95, 1e-9) {
		t.Errorf("best %+v %v, even %+v %v, want 380 visits a day", best, ok, even, okEven)
	}
}

// 10 pages with 9 of 10 changes and 100 with the rest: 90 % are had by visiting the 10 every T and the others, which
// the longest interval of 30 days shows within a day with a chance of 1/30, a little less often: 9 + x·1 = .9·10.
func TestTheFastPagesFirst(t *testing.T) {
	t.Parallel()
	p := newPlan(t, simple(Class{Rate: 0.9, Pages: 10}, Class{Rate: 0.01, Pages: 100}), day)
	got, ok := p.For(0.9)
	want := 10*(0.9-0.1/30)/0.9 + 100.0/30
	if !ok || !near(got.PerDay, want, 1e-3) || len(got.Steps) != 2 {
		t.Errorf("90%% within a day = %+v, %v, want %v visits a day", got, ok, want)
	}
	if even, _ := p.Even(0.9); !near(even.PerDay, 99, 1e-6) {
		t.Errorf("evenly %v visits a day, want 99", even.PerDay)
	}
	if least := p.Least(); !near(least.PerDay, 110.0/30, 1e-9) || !near(least.Share, 1.0/30, 1e-9) {
		t.Errorf("Least() = %+v", least)
	}
}

// With λ = 1 and F = .9, x = λ/f solves (1 − e^(−x))/x = .9: x = .21455.
func TestFresh(t *testing.T) {
	t.Parallel()
	s := simple(Class{Rate: 1, Pages: 10})
	got, ok := newPlan(t, s, 0).For(0.9)
	if !ok || !near(got.PerDay, 10/0.21455, 1e-3) {
		t.Errorf("90%% fresh = %+v, %v, want %v visits a day", got, ok, 10/0.21455)
	}
	s.Open = make([]bool, 7*24*6)
	for i := range s.Open {
		s.Open[i] = true
	}
	windowed, _ := newPlan(t, s, 0).For(0.9) // the integral instead of the closed form
	if windowed.PerDay < got.PerDay || !near(windowed.PerDay, got.PerDay, 0.06) {
		t.Errorf("with windows that are always open %v visits a day, without %v", windowed.PerDay, got.PerDay)
	}
}

// At the optimum all pages gain the same by a further visit: dF/df = (1 − e^(−x)(1 + x))/λ.
func TestOnePrice(t *testing.T) {
	t.Parallel()
	s := simple(Class{Rate: 2, Pages: 5}, Class{Rate: 0.5, Pages: 20}, Class{Rate: 0.05, Pages: 100})
	p := newPlan(t, s, 0)
	got := p.With(60)
	var gains []float64
	for _, step := range got.Steps {
		x := step.Rate * step.Every.Hours() / 24
		gains = append(gains, (1-math.Exp(-x)*(1+x))/step.Rate)
	}
	for _, g := range gains[1:] {
		if !near(g, gains[0], 0.06) { // a step of the grid
			t.Errorf("gains of a further visit: %v", gains)
		}
	}
}

func TestVariation(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{0, 0.5, 0.92, 0.95, 1, 1.05, 1.07, 1.2, 5} {
		const steps, v = 200000, 0.15
		sum := 0.0
		for i := range steps {
			sum += min(x, 1-v/2+v*(float64(i)+0.5)/steps)
		}
		if got := varied(x, v); !near(got, sum/steps, 1e-6) {
			t.Errorf("varied(%v, %v) = %v, want %v", x, v, got, sum/steps)
		}
	}
}

// Open 8 of 24 hours: a change in the other 16 is seen within 6 hours where the window opens within them.
func TestWindow(t *testing.T) {
	t.Parallel()
	s := simple(Class{Rate: 0.3, Pages: 100})
	s.Open = nights()
	if most := newPlan(t, s, 6*time.Hour).Most(); !near(most.Share, 14.0/24, 0.03) {
		t.Errorf("Most().Share = %v, want %v", most.Share, 14.0/24)
	}
	if got, _ := newPlan(t, s, 16*time.Hour).For(0.9); got.PerDay < 90*24/16 {
		t.Errorf("within 16h of windows takes %v visits a day, fewer than without", got.PerDay)
	}
	for _, test := range []struct {
		share  float64
		within time.Duration
		want   []Limit
	}{
		{0.95, 6 * time.Hour, []Limit{ByWindow}},
		{0.5, 6 * time.Hour, nil},
		{0.95, 30 * time.Minute, []Limit{ByWindow, ByCycle}},
	} {
		if got, err := Limits(s, test.share, test.within); err != nil || cmp.Diff(test.want, got) != "" {
			t.Errorf("Limits(%v, %v) = %v, %v, want %v", test.share, test.within, got, err, test.want)
		}
	}
}

// nights is open from 0 to 8 on every day, by slots of 10 minutes.
func nights() []bool {
	open := make([]bool, 7*24*6)
	for i := range open {
		open[i] = i%(24*6) < 8*6
	}
	return open
}

func TestPoliteness(t *testing.T) {
	t.Parallel()
	s := simple(Class{Rate: 1, Pages: 100}, Class{Host: 1, Rate: 1, Pages: 100})
	s.Hosts = []Host{{Name: "slow.example", Slot: 10 * time.Minute}, {Name: "fast.example", Slot: time.Second}}
	p := newPlan(t, s, 12*time.Hour)
	most := p.Most() // 144 of the 200 visits wanted on the slow host
	if diff := cmp.Diff([]int{0}, most.Full); diff != "" || !near(most.Share, (0.72+1)/2, 1e-6) {
		t.Errorf("Most() = %+v, want 86%% and host 0 full", most)
	}
	got, ok := p.For(0.8)
	if !ok || !near(got.PerDay, 320, 1e-6) {
		t.Errorf("80%% = %+v, %v, want 320 visits a day", got, ok)
	}
	if _, ok := p.For(0.9); ok {
		t.Error("90% are attained on a saturated host")
	}
	if limits, err := Limits(s, 0.9, 12*time.Hour); err != nil || cmp.Diff([]Limit{ByPoliteness}, limits) != "" {
		t.Errorf("Limits = %v, %v, want politeness", limits, err)
	}
}

func TestBadSites(t *testing.T) {
	t.Parallel()
	good := simple(Class{Rate: 1, Pages: 1})
	for name, change := range map[string]func(*Site){
		"no pages":      func(s *Site) { s.Classes = nil },
		"no interval":   func(s *Site) { s.Shortest = 0 },
		"never open":    func(s *Site) { s.Open = make([]bool, 168) },
		"no rate":       func(s *Site) { s.Classes = []Class{{Rate: math.NaN(), Pages: 1}} },
		"no such host":  func(s *Site) { s.Classes = []Class{{Host: 1, Pages: 1}} },
		"a wrong order": func(s *Site) { s.Longest = time.Minute },
	} {
		s := good
		change(&s)
		if _, err := New(s, day); err == nil {
			t.Errorf("%s gives no error", name)
		}
	}
	for _, rate := range []float64{0, 1e-12, 1e9} {
		for _, within := range []time.Duration{0, time.Minute, 366 * day} {
			p := newPlan(t, simple(Class{Rate: rate, Pages: 1}), within)
			for _, s := range []Schedule{p.Most(), p.Least(), p.With(0.001), p.With(1e12)} {
				if !(s.PerDay > 0) || !(s.Share >= 0 && s.Share <= 1) || math.IsInf(s.PerDay, 0) {
					t.Errorf("rate %v within %s: %+v", rate, within, s)
				}
			}
		}
	}
}

func anySite(t *rapid.T) Site {
	s := simple()
	s.Hosts = nil
	for range rapid.IntRange(1, 3).Draw(t, "hosts") {
		slot := rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, 10 * time.Minute}).Draw(t, "slot")
		s.Hosts = append(s.Hosts, Host{Slot: slot})
	}
	for range rapid.IntRange(1, 6).Draw(t, "classes") {
		s.Classes = append(s.Classes, Class{Host: rapid.IntRange(0, len(s.Hosts)-1).Draw(t, "host"),
			Rate: math.Exp(rapid.Float64Range(-8, 3).Draw(t, "log rate")), Pages: float64(rapid.IntRange(1, 500).Draw(t, "pages"))})
	}
	s.Vary = rapid.SampledFrom([]float64{0, 0.15, 0.5}).Draw(t, "vary")
	if rapid.Bool().Draw(t, "windows") {
		s.Open = nights()
	}
	s.Head, s.Body, s.Spared = 400, 10_000, 0.9
	return s
}

// What a goal takes reaches the goal, and no other way is cheaper: For and With are each other's inverse.
func TestInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anySite(t)
		within := rapid.SampledFrom([]time.Duration{0, time.Hour, 6 * time.Hour, 3 * day}).Draw(t, "within")
		share := rapid.Float64Range(0.05, 0.99).Draw(t, "share")
		p, err := New(s, within)
		if err != nil {
			t.Fatal(err)
		}
		need, ok := p.For(share)
		if limits, err := Limits(s, share, within); err != nil || (len(limits) == 0) != ok {
			t.Fatalf("Limits = %v, %v, and attainable is %v", limits, err, ok)
		}
		if !ok || need.Share > share+1e-6 { // unattainable, or had for nothing
			return
		}
		if got := p.With(need.PerDay); !near(got.Share, share, 1e-6) {
			t.Fatalf("%v visits a day are needed for %v and reach %v", need.PerDay, share, got.Share)
		}
		even, ok := p.Even(share)
		if ok && even.PerDay < need.PerDay*(1-1e-6) {
			t.Fatalf("the even schedule takes %v visits a day, the best %v", even.PerDay, need.PerDay)
		}
		if !(need.Bytes <= need.PerDay*(s.Head+s.Body)*(1+1e-9) && need.Bytes > need.PerDay*s.Head) {
			t.Fatalf("%v visits are %v bytes", need.PerDay, need.Bytes)
		}
	})
}

// The soonest time for what a goal takes is the goal's.
func TestSoonestIsTheInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anySite(t)
		s.Open = nil
		within := rapid.SampledFrom([]time.Duration{2 * time.Hour, 12 * time.Hour, 3 * day}).Draw(t, "within")
		share := rapid.Float64Range(0.3, 0.97).Draw(t, "share")
		p, err := New(s, within)
		if err != nil {
			t.Fatal(err)
		}
		need, ok := p.For(share)
		if !ok || need.Share > share+1e-6 {
			return
		}
		got, ok, err := Soonest(s, share, func(p *Plan) Schedule { return p.With(need.PerDay) })
		if err != nil || !ok || !near(float64(got), float64(within), 1e-3) {
			t.Fatalf("Soonest(%v, %v) = %s, %v, %v, want %s", share, need.PerDay, got, ok, err, within)
		}
	})
}

// More visits never reach less, within the capacity of each host.
func TestMoreIsMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anySite(t)
		p, err := New(s, rapid.SampledFrom([]time.Duration{0, 6 * time.Hour}).Draw(t, "within"))
		if err != nil {
			t.Fatal(err)
		}
		few := rapid.Float64Range(0.1, 20000).Draw(t, "visits")
		less, more := p.With(few), p.With(few*1.3)
		if more.Share < less.Share-1e-9 || less.PerDay > few*(1+1e-9) {
			t.Fatalf("%v visits a day reach %+v, more of them %+v", few, less, more)
		}
	})
}

// A budget below what the longest interval demands visits all pages equally seldom, and what that reaches is exact.
func TestLessThanTheLongestInterval(t *testing.T) {
	t.Parallel()
	s := simple(Class{Rate: 0.01, Pages: 100})
	if got := newPlan(t, s, 40*day).With(2); !near(got.Share, 0.8, 1e-3) || !near(got.PerDay, 2, 1e-9) {
		t.Errorf("2 visits a day to 100 pages see within 40 days %+v, want 80%%", got)
	}
	x := 0.01 * 50
	if got := newPlan(t, s, 0).With(2); !near(got.Share, (1-math.Exp(-x))/x, 1e-3) {
		t.Errorf("2 visits a day to 100 pages keep fresh %+v", got)
	}
	s.Open = nights()
	if got := newPlan(t, s, 0).With(2); !near(got.Share, (1-math.Exp(-x))/x, 0.03) {
		t.Errorf("2 visits a day to 100 pages in windows keep fresh %+v", got)
	}
}
