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

func anyForecast(t *rapid.T) changerate.Forecast {
	return changerate.Forecast{
		Rate: changerate.Gamma{
			Shape: anyNumber(0, 100).Draw(t, "shape"),
			Days:  anyNumber(0, 10000).Draw(t, "days"),
		},
		Elapsed: anyNumber(0, 1000).Draw(t, "elapsed"),
	}
}

// waiting works out when a visit is worth its price as if time changed nothing but the page.
func waiting(in Input) Input {
	in.Outlook.DueIn = in.Outlook.Forecast.DueIn(in.Outlook.Price)
	return in
}

// whole is the longest time of so many cycles.
func whole(cycle time.Duration, ceiling int) time.Duration {
	return times(max(cycle, 1), max(ceiling, 1))
}

func TestAdaptiveIsBoundedForAnyInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := Input{
			Cycle:   time.Duration(rapid.Int64().Draw(t, "cycle")),
			Ceiling: rapid.Int().Draw(t, "ceiling"),
			Outlook: Outlook{
				Forecast: anyForecast(t),
				Price:    anyNumber(0, 1000).Draw(t, "price"),
				Chance:   rapid.Float64Range(0, 0.9999999).Draw(t, "chance"),
			},
		}
		in.Outlook.DueIn = anyNumber(0, 1000).Draw(t, "due in")
		got := Adaptive(in)
		if got.Every < max(in.Cycle, 1) || got.Every > whole(in.Cycle, in.Ceiling) {
			t.Fatalf("every %v, want it within a cycle and %v", got.Every, whole(in.Cycle, in.Ceiling))
		}
		if got.FRMax < 1 || got.FRMax > max(1, in.Ceiling) {
			t.Fatalf("fr_max %d, want it within [1, %d]", got.FRMax, max(1, in.Ceiling))
		}
	})
}

// A larger budget means a lower price, and a more important page pays a lower one.
func TestAdaptiveFollowsThePrice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := Input{Cycle: time.Hour, Ceiling: 10000, Outlook: Outlook{
			Forecast: anyForecast(t),
			Price:    rapid.Float64Range(0, 1e4).Draw(t, "price"),
			Chance:   rapid.Float64Range(0, 0.9999999).Draw(t, "chance"),
		}}
		dearer := in
		dearer.Outlook.Price *= rapid.Float64Range(1, 1e6).Draw(t, "dearer")
		in, dearer = waiting(in), waiting(dearer)
		sooner, later := Adaptive(in), Adaptive(dearer)
		if later.Every < sooner.Every || later.FRMax < sooner.FRMax {
			t.Fatalf("at the price %v: %v, at %v: %v", in.Outlook.Price, sooner, dearer.Outlook.Price, later)
		}
	})
}

func TestAdaptiveIsDueWhenWorthItsPrice(t *testing.T) {
	t.Parallel()
	in := Input{Cycle: time.Hour, Ceiling: 10000, Outlook: Outlook{
		Forecast: changerate.Forecast{Rate: changerate.Gamma{Shape: 3, Days: 30}},
		Price:    0.25,
	}}
	got := Adaptive(waiting(in))
	if value := in.Outlook.Forecast.Rate.Utility(got.Every.Hours() / 24); math.Abs(value-0.25) > 1e-6 {
		t.Errorf("after %v a visit is worth %v, want 0.25", got.Every, value)
	}
	for _, tt := range []struct {
		price float64
		want  time.Duration
	}{
		{0, time.Hour}, {-1, time.Hour}, {1000, 10000 * time.Hour}, {math.Inf(1), 10000 * time.Hour}, {math.NaN(), 10000 * time.Hour},
	} {
		in.Outlook.Price = tt.price
		if got := Adaptive(waiting(in)); got.Every != tt.want {
			t.Errorf("at the price %v every %v, want %v", tt.price, got.Every, tt.want)
		}
	}
}

func TestCyclesAreRightOnAverage(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{time.Hour, 90 * time.Minute, 130 * time.Minute, 50 * time.Hour} {
		sum := 0
		const draws = 1000
		for i := range draws {
			sum += Cycles(every, time.Hour, 10000, float64(i)/draws)
		}
		if mean := float64(sum) / draws; math.Abs(mean-every.Hours()) > 0.002 {
			t.Errorf("mean of fr_max for %v is %.3f cycles", every, mean)
		}
	}
}
