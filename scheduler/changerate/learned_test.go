package changerate

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// world is a host of pages that change at random, visited at random, until a crowd and weights have learned from it.
type world struct {
	rng     *rand.Rand
	weights *Weights
	crowd   Crowd
	pages   []Subject
	rates   []float64
	now     float64
}

// newWorld is a world of so many pages, half of which change twenty times as often as the rest.
func newWorld(seed uint64, pages int) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 1)), weights: Defaults(), now: 20000}
	for i := range pages {
		rate, folder := 0.2, "news"
		if i%2 == 0 {
			rate, folder = 0.01, "archive"
		}
		s := Subject{Names: NamesOf(fmt.Sprintf("%s/p-%d.html", folder, i)).KnownAt(w.now), Bytes: 1000 + 10*int64(i), KnownAt: w.now, LastAt: w.now, Cycle: 5}
		w.crowd.Known(&s, w.now)
		w.pages, w.rates = append(w.pages, s), append(w.rates, rate)
	}
	return w
}

// visit visits pages at random, so many for each there is.
func (w *world) visit(each int) {
	for range each * len(w.pages) {
		w.now += 5 / float64(len(w.pages))
		i := w.rng.IntN(len(w.pages))
		changed := w.rng.Float64() < -math.Expm1(-w.rates[i]*(w.now-w.pages[i].LastAt))
		w.learn(i, changed)
	}
}

// learn enters one visit to a page.
func (w *world) learn(i int, changed bool) {
	p := &w.pages[i]
	p.Evidence = Learn(w.weights, &w.crowd, p, Sight{At: w.now, Changed: changed})
	p.LastAt = w.now
	p.Visits++
	if changed {
		p.ChangedAt = w.now
	}
}
