package policy

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawld/scheduler/changerate"
)

// anyNumber draws every kind of number there is.
func anyNumber(low, high float64) *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Float64Range(low, high),
		rapid.SampledFrom([]float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64}),
	)
}

func anyForecast() *rapid.Generator[changerate.Forecast] {
	return rapid.Custom(func(t *rapid.T) changerate.Forecast {
		return changerate.Forecast{
			Rate: changerate.Gamma{
				Shape: anyNumber(0, 100).Draw(t, "shape"),
				Days:  anyNumber(0, 10000).Draw(t, "days"),
			},
			Elapsed: anyNumber(0, 1000).Draw(t, "elapsed"),
		}
	})
}

func anyDuration() *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) })
}

func TestAdaptiveIsFiniteForAnyInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := Worth{
			Forecast:   anyForecast().Draw(t, "forecast"),
			Since:      anyDuration().Draw(t, "since"),
			Importance: anyNumber(0, 100).Draw(t, "importance"),
			Price:      anyNumber(0, 1000).Draw(t, "price"),
			Floor:      anyDuration().Draw(t, "floor"),
			Ceiling:    anyDuration().Draw(t, "ceiling"),
			Cycle:      anyDuration().Draw(t, "cycle"),
			PageID:     rapid.Int64().Draw(t, "page"),
			Visits:     rapid.Int32().Draw(t, "visits"),
		}
		cycle := w.Cycle
		if cycle <= 0 {
			cycle = time.Second
		}
		floor := max(w.Floor, cycle)
		ceiling := max(w.Ceiling, floor)
		got := Adaptive(w)
		if got.Every < floor || got.Every > ceiling || got.Every <= 0 {
			t.Fatalf("every %v, want it within [%v, %v]", got.Every, floor, ceiling)
		}
		if got.FRMax < 1 || int64(got.FRMax) > max(1, int64(ceiling/cycle)) {
			t.Fatalf("fr_max %d, want it within [1, %d]", got.FRMax, ceiling/cycle)
		}
		if math.IsNaN(got.Wanted) || got.Wanted < 0 {
			t.Fatalf("wanted %v days", got.Wanted)
		}
	})
}

// More budget means a lower price.
func TestAdaptiveFollowsPriceAndImportance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := Worth{
			Forecast:   anyForecast().Draw(t, "forecast"),
			Since:      time.Duration(rapid.Int64Range(0, int64(300*day)).Draw(t, "since")),
			Importance: rapid.Float64Range(1e-3, 1e3).Draw(t, "importance"),
			Price:      rapid.Float64Range(0, 1e4).Draw(t, "price"),
			Floor:      time.Hour, Ceiling: 400 * day, Cycle: time.Hour,
			PageID: rapid.Int64().Draw(t, "page"), Visits: rapid.Int32().Draw(t, "visits"),
		}
		before := Adaptive(w)
		cheaper, dearer, worthier := w, w, w
		cheaper.Price *= rapid.Float64Range(0, 1).Draw(t, "cheaper")
		dearer.Price *= rapid.Float64Range(1, 1e6).Draw(t, "dearer")
		worthier.Importance *= rapid.Float64Range(1, 1e6).Draw(t, "worthier")
		if got := Adaptive(cheaper); got.Every > before.Every || got.FRMax > before.FRMax {
			t.Fatalf("at the lower price %v: %v, before %v", cheaper.Price, got, before)
		}
		if got := Adaptive(dearer); got.Every < before.Every || got.FRMax < before.FRMax {
			t.Fatalf("at the higher price %v: %v, before %v", dearer.Price, got, before)
		}
		if got := Adaptive(worthier); got.Every > before.Every || got.FRMax > before.FRMax {
			t.Fatalf("at the importance %v: %v, before %v", worthier.Importance, got, before)
		}
	})
}

func TestAdaptiveIsDueWhenWorthItsPrice(t *testing.T) {
	t.Parallel()
	w := Worth{
		Forecast:   changerate.Forecast{Rate: changerate.Gamma{Shape: 3, Days: 30}},
		Importance: 2, Price: 0.5,
		Floor: time.Hour, Ceiling: 400 * day, Cycle: time.Hour,
	}
	got := Adaptive(w)
	if value := 2 * w.Forecast.Rate.Utility(got.Every.Hours()/24); math.Abs(value-w.Price) > 1e-6 {
		t.Errorf("after %v a visit is worth %v, want %v", got.Every, value, w.Price)
	}
	w.Since = 2 * day
	w.Forecast.Elapsed = 2
	if later := Adaptive(w); (later.Every - got.Every).Abs() > time.Millisecond {
		t.Errorf("asked after two days: every %v, asked at once %v", later.Every, got.Every)
	}
	w.Forecast.Elapsed = 200 // its neighbours changed meanwhile
	if now := Adaptive(w); now.Every > w.Since {
		t.Errorf("after news: every %v, want it due after %v", now.Every, w.Since)
	}
}

func TestAdaptiveRoundsByDice(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{90 * time.Minute, 130 * time.Minute, 50 * time.Hour} {
		sum := 0
		const visits = 20000
		for i := range visits {
			sum += cycles(every, 400*day, time.Hour, 77, int32(i))
		}
		if mean := float64(sum) / visits; math.Abs(mean-every.Hours()) > 0.02 {
			t.Errorf("mean of fr_max for %v is %.3f cycles", every, mean)
		}
	}
}
