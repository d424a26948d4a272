package changerate

import "math"

// bins is how many stretches of time a calendar tells apart. More (64, 96, 192, 768) forecast no
// better.
const bins = 48

// calm is how many changes, expected and seen, a calendar takes for granted in any stretch: news of fewer moves little.
const calm = 3

// grain is the smallest part of a change that a calendar counts: its sums are so many of it, which are written in a byte or
// two each. calmGrains is calm in these.
const (
	grain      = 1.0 / 64
	calmGrains = calm / grain
)

// mostGrains is how many a bin counts, 33 million changes. What is beyond halves the bin: it is looked at for how the changes
// seen compare with those expected.
const mostGrains = 1 << 31

// calendar tells when a group of pages changed beyond what was expected: for equal stretches of time, the changes
// expected and those seen, in grains. A page not visited since a sweep went through its group lies before the bulge, one visited
// afterwards behind it.
type calendar struct {
	expected, seen [bins]uint32
}

// stretch is a part of the time of a calendar: the bins from first to last, of the outer ones only a share.
type stretch struct {
	first, last int
	head, tail  float64 // shares of the first and the last bin; where they are one, head alone counts
}

// share of a bin that lies in the stretch.
func (s stretch) share(bin int) float64 {
	switch bin {
	case s.first:
		return s.head
	case s.last:
		return s.tail
	}
	return 1
}

// between finds the stretch from one time to another, in bins since the beginning; 0 ≤ from ≤ to ≤ bins.
func between(from, to float64) stretch {
	first, last := min(int(from), bins-1), min(int(to), bins-1)
	if first == last {
		return stretch{first: first, last: last, head: to - from}
	}
	return stretch{first: first, last: last, head: float64(first+1) - from, tail: to - float64(last)}
}

// news is the logarithm of how many times more changes were seen in a stretch than expected; 0: no news.
func (c *calendar) news(s stretch) float64 {
	expected := s.head*float64(c.expected[s.first]) + calmGrains
	seen := s.head*float64(c.seen[s.first]) + calmGrains
	if s.last > s.first {
		for i := s.first + 1; i < s.last; i++ {
			expected += float64(c.expected[i])
			seen += float64(c.seen[i])
		}
		expected += s.tail * float64(c.expected[s.last])
		seen += s.tail * float64(c.seen[s.last])
	}
	return logOf(seen / expected)
}

// add enters one visit: so many changes expected, evenly over the stretch, and so many seen. When in the stretch those
// happened is not known; they are spread as the calendar has it so far, which is one step of the EM algorithm.
func (c *calendar) add(s stretch, expected, seen float64) {
	var length, likely float64
	for i := s.first; i <= s.last; i++ {
		share := s.share(i)
		length += share
		if seen > 0 {
			likely += share * c.excess(i)
		}
	}
	if length <= 0 {
		return
	}
	start := grain * dither(s.head, expected, seen, grain*float64(c.expected[s.first]))
	left, leftSeen := start, start
	for i := s.first; i <= s.last; i++ {
		share := s.share(i)
		if seen > 0 {
			leftSeen = count(&c.seen[i], leftSeen+seen*share*c.excess(i)/likely)
		}
		left = count(&c.expected[i], left+expected*share/length)
		c.bound(i)
	}
}

// count adds what is whole grains of an amount, of less than mostGrains, to a bin, and returns the rest, which is the next bin's.
func count(bin *uint32, amount float64) (rest float64) {
	whole := math.Floor(amount / grain)
	*bin += uint32(whole)
	return amount - whole*grain
}

// bound keeps a bin from running over, whatever one visit adds.
func (c *calendar) bound(bin int) {
	for max(c.expected[bin], c.seen[bin]) >= mostGrains {
		c.expected[bin] /= 2
		c.seen[bin] /= 2
	}
}

// dither is a number in [0, 1), another for other arguments: a rest that begins with it makes sums right on average which
// a visit adds less than a grain to.
func dither(xs ...float64) float64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, x := range xs {
		h ^= math.Float64bits(x)
		h *= 0xd6e8feb86659fd93
		h ^= h >> 32
	}
	return float64(h>>11) / (1 << 53)
}

func (c *calendar) excess(bin int) float64 {
	return (float64(c.seen[bin]) + calmGrains) / (float64(c.expected[bin]) + calmGrains)
}

// widen makes each bin twice as long, which frees the second half of them.
func (c *calendar) widen() {
	for i := range bins / 2 {
		c.expected[i] = c.expected[2*i] + c.expected[2*i+1]
		c.seen[i] = c.seen[2*i] + c.seen[2*i+1]
		c.bound(i)
	}
	clear(c.expected[bins/2:])
	clear(c.seen[bins/2:])
}
