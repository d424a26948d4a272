package changerate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What is remembered from one look to the next says what a crowd that remembers nothing says.
func TestWhatIsRememberedIsWhatIsThere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(uint64(rapid.IntRange(1, 50).Draw(t, "world")), 12)
		places := make([]Place, len(w.pages))
		for range rapid.IntRange(1, 20).Draw(t, "visits") {
			i := rapid.IntRange(0, len(w.pages)-1).Draw(t, "page")
			w.pages[i].Place = &places[i]
			w.now += rapid.Float64Range(0, 3).Draw(t, "days")
			ahead := rapid.SampledFrom([]float64{0, 0, 0.1, 100}).Draw(t, "ahead")
			got := Look(w.weights, &w.crowd, &w.pages[i], w.now+ahead)
			due := DueIn(w.weights, &w.crowd, &w.pages[i], w.now, 0.5)

			var fresh Crowd
			body, _ := w.crowd.MarshalBinary()
			if err := fresh.UnmarshalBinary(body); err != nil {
				t.Fatal(err)
			}
			page := w.pages[i]
			page.Place = nil
			if diff := cmp.Diff(Look(w.weights, &fresh, &page, w.now+ahead), got); diff != "" {
				t.Fatalf("the forecast of page %d (-want +got):\n%s", i, diff)
			}
			if want := DueIn(w.weights, &fresh, &page, w.now, 0.5); due != want {
				t.Fatalf("page %d is due in %v days, want %v", i, due, want)
			}
			w.learn(i, rapid.Bool().Draw(t, "changed"))
		}
	})
}

// Up to the horizon a due time is what it is without one; behind it, only that it lies behind.
func TestDueInWithAHorizon(t *testing.T) {
	t.Parallel()
	w := newWorld(4, 20)
	w.visit(20)
	rapid.Check(t, func(t *rapid.T) {
		page := &w.pages[rapid.IntRange(0, len(w.pages)-1).Draw(t, "page")]
		now := w.now + rapid.Float64Range(0, 300).Draw(t, "later")
		price := math.Exp(rapid.Float64Range(-8, 6).Draw(t, "log price"))
		horizon := math.Exp(rapid.Float64Range(-5, 8).Draw(t, "log horizon"))
		want := DueIn(w.weights, &w.crowd, page, now, price)
		var r Reading
		r.Read(w.weights, &w.crowd, page)
		f := r.Forecast(now)
		got := r.DueIn(&f, price, horizon)
		if got != want && !(got >= horizon && want >= horizon) {
			t.Fatalf("due in %v days with a horizon of %v, want %v", got, horizon, want)
		}
	})
}
