package changerate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// waitingPage is a page that waits for a visit, of a host whose rates are to be trusted or are noise.
type waitingPage struct {
	reading  Reading
	forecast Forecast
}

// dueWorlds are hosts in which nearly all visits find a change (noise), or some do.
func dueWorlds() (worlds []*world) {
	for i, noisy := range []bool{false, true} {
		w := newWorld(uint64(5+i), 20)
		if noisy {
			for range 600 {
				w.now += 0.3
				n := w.rng.IntN(len(w.pages))
				w.learn(n, n > 2 || w.rng.IntN(2) == 0)
			}
		} else {
			w.visit(20)
		}
		worlds = append(worlds, w)
	}
	return worlds
}

// someWaiting draws a page and a time.
func someWaiting(t *rapid.T, worlds []*world) (w waitingPage) {
	from := rapid.SampledFrom(worlds).Draw(t, "world")
	w.reading.Read(from.weights, &from.crowd, &from.pages[rapid.IntRange(0, len(from.pages)-1).Draw(t, "page")])
	w.forecast = w.reading.Forecast(from.now + rapid.SampledFrom([]float64{0, 0.01, 1, 30, 1000}).Draw(t, "days later"))
	return w
}

func somePrice(t *rapid.T) float64 {
	return math.Exp(rapid.Float64Range(-12, 9).Draw(t, "log price"))
}

// What is found is the moment at which a visit is worth its price: a little before it is not yet, and a little behind it is.
func TestDueInIsWhenAVisitIsWorthThePrice(t *testing.T) {
	t.Parallel()
	worlds := dueWorlds()
	rapid.Check(t, func(t *rapid.T) {
		w, price := someWaiting(t, worlds), somePrice(t)
		r := &w.reading
		due := r.DueIn(&w.forecast, price, math.Inf(1))
		switch {
		case due == 0:
			if w.forecast.Value() < price {
				t.Fatalf("due now, worth %v of %v", w.forecast.Value(), price)
			}
		case math.IsInf(due, 1):
			if over := r.visited(lastDay, price).over; over >= 0 {
				t.Fatalf("never due, but in the end worth e^%v times the price", over)
			}
		default:
			// Before now there is nothing to look for: by its rate alone, without the noise, it may have been worth it then.
			early := due*(1-dueExact) - leastDue
			before, behind := r.visited(max(early, 0), price).over, r.visited(due*(1+dueExact)+leastDue, price).over
			if early > 0 && !(before <= dueExact) || !(behind >= -dueExact) {
				t.Fatalf("due in %v days, when it is worth e^%v times the price a little before and e^%v a little behind", due, before, behind)
			}
		}
	})
}

// A higher price is not paid sooner.
func TestDueInGrowsWithThePrice(t *testing.T) {
	t.Parallel()
	worlds := dueWorlds()
	rapid.Check(t, func(t *rapid.T) {
		w, price := someWaiting(t, worlds), somePrice(t)
		more := price * rapid.Float64Range(1, 3).Draw(t, "more")
		first, second := w.reading.DueIn(&w.forecast, price, math.Inf(1)), w.reading.DueIn(&w.forecast, more, math.Inf(1))
		if !(first <= second*(1+dueExact)+leastDue) || first < 0 {
			t.Fatalf("due in %v days at the price %v, in %v at %v", first, price, second, more)
		}
	})
}

// Up to the horizon a due time is what it is without one, as exactly as it is found; behind it, only that it lies behind.
func TestDueInWithAHorizon(t *testing.T) {
	t.Parallel()
	worlds := dueWorlds()
	rapid.Check(t, func(t *rapid.T) {
		w, price := someWaiting(t, worlds), somePrice(t)
		horizon := math.Exp(rapid.Float64Range(-10, 8).Draw(t, "log horizon"))
		want := w.reading.DueIn(&w.forecast, price, math.Inf(1))
		got := w.reading.DueIn(&w.forecast, price, horizon)
		least := horizon*(1-2*dueExact) - leastDue
		if math.Abs(got-want) > 2*dueExact*want+leastDue && !(got >= least && want >= least) {
			t.Fatalf("due in %v days with a horizon of %v, want %v", got, horizon, want)
		}
	})
}

// Whatever the numbers, there is an answer, and it does not lie in the past.
func TestDueInOfAnyNumber(t *testing.T) {
	t.Parallel()
	worlds := dueWorlds()
	numbers := []float64{0, -1, 1e-300, 1e-9, 1, 1e9, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	for i, w := range worlds {
		for _, later := range append(numbers, w.now, w.now+1) {
			for _, price := range numbers {
				for _, horizon := range numbers {
					var r Reading
					r.Read(w.weights, &w.crowd, &w.pages[3])
					f := r.Forecast(later)
					if due := r.DueIn(&f, price, horizon); !(due >= 0) {
						t.Errorf("world %d at %v, price %v, horizon %v: due in %v days", i, later, price, horizon, due)
					}
				}
			}
		}
	}
}

func BenchmarkDueIn(b *testing.B) {
	for i, w := range dueWorlds() {
		b.Run([]string{"trusted", "noise"}[i], func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				DueIn(w.weights, &w.crowd, &w.pages[i%len(w.pages)], w.now+1, 0.05*float64(1+i%7))
			}
		})
	}
}
