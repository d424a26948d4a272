package content

import (
	"math/rand/v2"
	"testing"
)

// TestDoubtfulFamilies: a family of which a third may be the only way to a page is left aside by chance alone, and seldom; one of which a tenth is, always.
func TestDoubtfulFamilies(t *testing.T) {
	t.Parallel()
	const runs, key = 200, Family(77)
	for _, c := range []struct {
		doubtful    float64
		least, most int
	}{{0, runs, runs}, {0.1, runs * 95 / 100, runs}, {1.0 / 3, 0, runs * 2 / 5}, {0.5, 0, runs / 20}} {
		aside := 0
		for run := range uint64(runs) {
			rng, h := rand.New(rand.NewPCG(run, 1)), &HostMemory{}
			for n := range int64(1000) {
				if rng.Float64() < c.doubtful {
					h.Doubts(key)
				} else {
					h.Tells(key, n, true, "")
				}
				if h.LeavesAside(key) {
					aside++
					break
				}
				h = DecodeHost(h.Encode())
			}
		}
		if aside < c.least || aside > c.most {
			t.Errorf("with %.2f of it doubtful a family is left aside in %d of %d runs, want %d to %d", c.doubtful, aside, runs, c.least, c.most)
		}
	}
}

// TestDoubtsBeginAnew once a family was left aside: over years some of those that speak for it come to say something else.
func TestDoubtsBeginAnew(t *testing.T) {
	t.Parallel()
	h, key := &HostMemory{}, Family(77)
	for episode := range int64(3 * mostDoubts) {
		for n := range int64(EnoughAside) {
			h.Tells(key, 100*episode+n, true, "")
		}
		if !h.LeavesAside(key) {
			t.Fatalf("it is not left aside after %d times", episode)
		}
		for n := range int64(EnoughAside) {
			h.Leaves(key, 100*episode+n)
		}
		h.Tells(key, 100*episode+99, true, "")
		h.Doubts(key)
	}
}
