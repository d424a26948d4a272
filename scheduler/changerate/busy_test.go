package changerate

import (
	"math"
	"testing"
)

// TestBusyGroup: where so many visits are made that one adds next to nothing to what there is, and no time passes between two,
// the heat and the calendar of a group still go with what the visits found.
func TestBusyGroup(t *testing.T) {
	t.Parallel()
	const perDay, chance, every, visits = 1_000_000, 0.02, 50, 1_000_000
	h, c := new(heat), new(calendar)
	h.expected, h.seen = [2]float32{7 * perDay * chance, 90 * perDay * chance}, [2]float32{7 * perDay * chance, 90 * perDay * chance}
	s := stretch{first: 3, last: 3, head: 1}
	c.add(s, 300_000, 300_000)
	for i := range visits { // twice as many changes as were expected
		seen := 0.0
		if i%every == 0 {
			seen = 2
		}
		expected := chance * (0.5 + float64(i%997)/996) // no two pages are alike
		h.add(float64(i)/perDay, expected, seen)
		c.add(s, expected, seen)
	}
	h.looked = 0
	for i, excess := range h.of(1) {
		fade := math.Exp(-1 / memories[i])
		if want := math.Log(fade + 2*(1-fade)); math.Abs(excess-want) > 0.002 {
			t.Errorf("memory %d: heat %.4f, want %.4f", i, excess, want)
		}
	}
	if got, want := c.news(s), math.Log(340_000.0/320_000); math.Abs(got-want) > 0.002 {
		t.Errorf("news %.4f, want %.4f", got, want)
	}
}

// TestCalendarDoesNotRunOver: beyond what a bin counts the changes seen are still as many times those expected.
func TestCalendarDoesNotRunOver(t *testing.T) {
	t.Parallel()
	c := new(calendar)
	for range 40 {
		c.add(stretch{first: 0, last: 1, head: 1, tail: 1}, 1e7, 2e7)
		c.widen()
		c.add(stretch{first: 1, last: 1, head: 1}, 1e6, 2e6)
	}
	if got := c.news(stretch{first: 0, last: 1, head: 1, tail: 1}); math.Abs(got-math.Ln2) > 0.01 {
		t.Errorf("twice as many changes as expected make the news %.3f", got)
	}
}
