package changerate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// checkForecast fails unless a forecast is finite throughout.
func checkForecast(t interface {
	Helper()
	Fatalf(string, ...any)
}, f Forecast) {
	t.Helper()
	for name, x := range map[string]float64{
		"shape": f.Rate.Shape, "days": f.Rate.Days, "elapsed": f.Elapsed, "prior": f.Prior, "news": f.News,
		"stale": f.Stale(), "value": f.Value(),
	} {
		if !(x >= 0) || math.IsInf(x, 0) {
			t.Fatalf("%s of %+v is %v", name, f, x)
		}
	}
	if f.Stale() > 1 || f.Prior > 1 {
		t.Fatalf("%+v: stale with the probability %v", f, f.Stale())
	}
	if due := f.DueIn(1); !(due >= 0) {
		t.Fatalf("%+v: due in %v days", f, due)
	}
}

func anySubject(w *world) *rapid.Generator[Subject] {
	return rapid.Custom(func(t *rapid.T) Subject {
		s := w.pages[rapid.IntRange(0, len(w.pages)-1).Draw(t, "page")]
		s.Names.Date = anyNumber(-1e5, 1e5).Draw(t, "date")
		s.KnownAt = anyNumber(0, 30000).Draw(t, "known at")
		s.New = rapid.Bool().Draw(t, "new")
		s.LastAt = anyNumber(0, 30000).Draw(t, "last at")
		s.ChangedAt = anyNumber(0, 30000).Draw(t, "changed at")
		s.Visits = rapid.Int().Draw(t, "visits")
		s.Evidence.Shape = anyNumber(-10, 100).Draw(t, "evidence shape")
		s.Evidence.Days = anyNumber(-100, 1000).Draw(t, "evidence days")
		s.Cycle = anyNumber(0, 400).Draw(t, "cycle")
		return s
	})
}

// Whatever is known of a page, and whatever the clock says, forecasts are finite, and learning leaves nothing behind
// that makes them otherwise.
func TestModelIsFiniteForAnyInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(11, 12)
		w.visit(6)
		for range 5 {
			s := anySubject(w).Draw(t, "subject")
			at := anyNumber(0, 40000).Draw(t, "at")
			checkForecast(t, Look(w.weights, &w.crowd, &s, at))
			seen := Sight{At: at, Changed: rapid.Bool().Draw(t, "changed"), ChangedAt: anyNumber(0, 30000).Draw(t, "dated")}
			s.Evidence = Learn(w.weights, &w.crowd, &s, seen)
			if rapid.Bool().Draw(t, "meet") {
				w.crowd.Known(&s, at)
			}
			checkForecast(t, Look(w.weights, &w.crowd, &s, at))
			checkForecast(t, Look(w.weights, &w.crowd, &w.pages[0], w.now+1))
		}
		if body, _ := w.crowd.MarshalBinary(); new(Crowd).UnmarshalBinary(body) != nil {
			t.Fatal("what was learned cannot be read again")
		}
		if body, _ := w.weights.MarshalBinary(); new(Weights).UnmarshalBinary(body) != nil {
			t.Fatal("the weights cannot be read again")
		}
	})
}

func TestForecastLearnsRates(t *testing.T) {
	t.Parallel()
	w := newWorld(12, 100)
	w.visit(150)
	for i := range 2 {
		p := w.pages[i]
		f := Look(w.weights, &w.crowd, &p, p.LastAt)
		if got := f.Rate.Mean(); got < w.rates[i]/2.5 || got > w.rates[i]*2.5 {
			t.Errorf("page %d is taken to change %.4f times a day, it does %v times", i, got, w.rates[i])
		}
		if f.Elapsed != 0 || f.Stale() != 0 || f.Value() != 0 {
			t.Errorf("right after its visit page %d has aged already: %+v", i, f)
		}
	}
}

// What was never visited is known by its neighbours.
func TestForecastOfANewPageIsThatOfItsFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(13, 100)
	w.visit(100)
	look := func(url string) float64 {
		s := Subject{Names: NamesOf(url), KnownAt: w.now, LastAt: w.now, Cycle: 5}
		f := Look(w.weights, &w.crowd, &s, w.now+1)
		if f.Prior != 1 {
			t.Errorf("%s was never visited, yet its own visits have a share of %v", url, 1-f.Prior)
		}
		return f.Rate.Mean()
	}
	if news, archive := look("news/other.html"), look("archive/other.html"); news < 1.5*archive {
		t.Errorf("a page of the news is taken to change %.4f times a day, one of the archive %.4f times", news, archive)
	}
}

func TestForecastIsDueAtItsPrice(t *testing.T) {
	t.Parallel()
	w := newWorld(14, 30)
	w.visit(50)
	for _, p := range w.pages {
		f := Look(w.weights, &w.crowd, &p, p.LastAt)
		price := f.Rate.Utility(3)
		if got := f.DueIn(price); !near(got, 3, 1e-6) {
			t.Fatalf("due in %v days, want 3", got)
		}
		later := f
		later.Elapsed = 4
		if got := later.DueIn(price); got != 0 {
			t.Fatalf("a visit that is worth its price is due in %v days", got)
		}
	}
}

// Where nearly all visits find a change, pages are visited in turn: those longest not visited are worth most.
func TestForecastOfNoiseGoesInTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(18, 20)
	for range 600 {
		w.now += 0.3
		i := w.rng.IntN(len(w.pages))
		w.learn(i, i != 4 || w.rng.IntN(2) == 0)
	}
	still, busy := w.pages[4], w.pages[5]
	still.LastAt, busy.LastAt = w.now-10, w.now-11
	f, g := Look(w.weights, &w.crowd, &still, w.now), Look(w.weights, &w.crowd, &busy, w.now)
	if f.Noise != 1 || f.Value() >= g.Value() {
		t.Errorf("after 10 days worth %v, after 11 days %v; noise %v", f.Value(), g.Value(), f.Noise)
	}
	still.Cycle = 1200
	if f := Look(w.weights, &w.crowd, &still, w.now); f.Noise != 0 {
		t.Errorf("noise %v where pages are visited every 1200 days, want 0: most pages change in that time", f.Noise)
	}
}

func TestDueInOfNoiseIsWhenItIsWorthThePrice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := Forecast{
			Rate: someGamma().Draw(t, "rate"), Elapsed: someDays("elapsed", t), Passed: someDays("passed", t),
			Cycle: rapid.Float64Range(0.01, 300).Draw(t, "cycle"), Noise: rapid.Float64Range(0, 1).Draw(t, "noise"),
		}
		price := rapid.Float64Range(0, 100).Draw(t, "price")
		switch in := f.DueIn(price); {
		case in == 0 && f.Value() < price*(1-1e-6):
			t.Fatalf("due now, worth %v, want %v", f.Value(), price)
		case in > 0 && in < maxDays && !near(f.valueIn(in), price, 1e-6):
			t.Fatalf("due in %v days, worth %v, want %v", in, f.valueIn(in), price)
		}
	})
}

// What all is noise to is worth what a page like all others is, also where by its rate it would be worth 10¹² times as much.
func TestAllNoiseIsWorthWhatOthersAre(t *testing.T) {
	t.Parallel()
	f := Forecast{Rate: Gamma{Shape: 0.14, Days: 2.7}, Cycle: 0.0127, Noise: 1}
	for _, days := range []float64{1, 1e6, 7e14} {
		if got, want := f.valueIn(days), f.alike().Utility(days); got != want {
			t.Errorf("in %v days worth %v, want %v", days, got, want)
		}
	}
}

func TestLearnFromTheSameMomentTeachesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(15, 10)
	w.visit(10)
	p, weights := w.pages[3], *w.weights
	crowd, _ := w.crowd.MarshalBinary()
	for _, at := range []float64{p.LastAt, p.LastAt - 3, 0, math.NaN(), math.Inf(-1)} {
		if got := Learn(w.weights, &w.crowd, &p, Sight{At: at, Changed: true}); got != p.Evidence {
			t.Errorf("at %v: evidence %+v, want %+v", at, got, p.Evidence)
		}
	}
	after, _ := w.crowd.MarshalBinary()
	if weights != *w.weights || string(after) != string(crowd) {
		t.Error("weights or crowd moved")
	}
}

func TestLearnTrustsADate(t *testing.T) {
	t.Parallel()
	w := newWorld(16, 10)
	w.visit(20)
	p := w.pages[1]
	p.LastAt = w.now - 20
	learn := func(changedAt float64) float64 {
		crowd, weights := w.crowd, w.weights.Clone()
		body, _ := crowd.MarshalBinary()
		var own Crowd
		if err := own.UnmarshalBinary(body); err != nil {
			t.Fatal(err)
		}
		s := p
		s.Evidence = Learn(weights, &own, &s, Sight{At: w.now, Changed: true, ChangedAt: changedAt})
		return Look(w.weights, &w.crowd, &s, w.now).Rate.Mean()
	}
	late, early := learn(w.now-0.5), learn(w.now-19)
	if late <= early {
		t.Errorf("changed just now: %.4f a day, changed long ago and still since: %.4f", late, early)
	}
	if outside, none := learn(w.now-300), learn(0); outside != none {
		t.Errorf("a date before the last visit moves the rate to %v from %v", outside, none)
	}
}

func BenchmarkModel(b *testing.B) {
	w := newWorld(17, 500)
	w.visit(40)
	b.Run("Look", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			Look(w.weights, &w.crowd, &w.pages[i%len(w.pages)], w.now+1)
		}
	})
	b.Run("LookAndDueIn", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			Look(w.weights, &w.crowd, &w.pages[i%len(w.pages)], w.now+1).DueIn(0.5)
		}
	})
	b.Run("Learn", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			p := w.pages[i%len(w.pages)]
			Learn(w.weights, &w.crowd, &p, Sight{At: w.now + 1, Changed: i%5 == 0})
		}
	})
}
