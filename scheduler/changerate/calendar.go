package changerate

// bins is how many stretches of time a calendar tells apart. More (64, 96, 192, 768) forecast no
// better.
const bins = 48

// calm is how many changes, expected and seen, a calendar takes for granted in any stretch: news of fewer moves little.
const calm = 3

// calendar tells when a group of pages changed beyond what was expected: for equal stretches of time, the changes
// expected and those seen. A page not visited since a sweep went through its group lies before the bulge, one visited
// afterwards behind it.
type calendar struct {
	expected, seen [bins]float32
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
	expected := s.head*float64(c.expected[s.first]) + calm
	seen := s.head*float64(c.seen[s.first]) + calm
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
	for i := s.first; i <= s.last; i++ {
		share := s.share(i)
		if seen > 0 {
			c.seen[i] += float32(seen * share * c.excess(i) / likely)
		}
		c.expected[i] += float32(expected * share / length)
	}
}

func (c *calendar) excess(bin int) float64 {
	return float64(c.seen[bin]+calm) / float64(c.expected[bin]+calm)
}

// widen makes each bin twice as long, which frees the second half of them.
func (c *calendar) widen() {
	for i := range bins / 2 {
		c.expected[i] = c.expected[2*i] + c.expected[2*i+1]
		c.seen[i] = c.seen[2*i] + c.seen[2*i+1]
	}
	clear(c.expected[bins/2:])
	clear(c.seen[bins/2:])
}
