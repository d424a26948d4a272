package changerate

import "math"

// memories are the days after which the two heats of a group have forgotten all but 1/e.
var memories = [...]float64{week: 7, season: 90}

const week, season = 0, 1

// heat tells whether a group of pages changes more than expected of late: changes expected and seen, forgotten
// exponentially over a week and over a season.
type heat struct {
	expected, seen [len(memories)]float32
	at             float64 // days since 1970 of the sums
	looked         float64 // when it was looked at last; 0: not since the sums changed
	excess         [len(memories)]float64
}

// of is the logarithm of how many times more changes of late were seen than expected, by each memory; 0: neither. It is
// remembered for the next page that is looked at at the time.
func (h *heat) of(now float64) *[len(memories)]float64 {
	if h.looked != now {
		for i, left := range fade(h.at, now) {
			h.excess[i] = h.beyond(i, left)
		}
		h.looked = now
	}
	return &h.excess
}

// beyond is that logarithm for one memory when a share of its sums is left.
func (h *heat) beyond(memory int, left float64) float64 {
	return logOf((float64(h.seen[memory])*left + 1) / (float64(h.expected[memory])*left + 1))
}

// fade is what is left by now of the sums of a time; all of it where now lies before that.
func fade(from, now float64) (left [len(memories)]float64) {
	for i, memory := range memories {
		left[i] = 1
		if now > from {
			left[i] = expOf((from - now) / memory)
		}
	}
	return left
}

// lasting is the share of each heat in the time until a page's next visit, as it fades meanwhile.
type lasting struct {
	cycle float64 // the mean time until that
	share [len(memories)]float64
}

// over works it out.
func (l *lasting) over(cycle float64) {
	if l.cycle == cycle {
		return
	}
	l.cycle = cycle
	for i, memory := range memories {
		l.share[i] = memory / cycle * -expm1Of(-cycle/memory)
	}
}

// add enters one visit.
func (h *heat) add(now, expected, seen float64) {
	for i, left := range fade(h.at, now) {
		h.expected[i] = rounded(float64(h.expected[i])*left+expected, now)
		h.seen[i] = rounded(float64(h.seen[i])*left+seen, now)
	}
	h.at, h.looked = max(h.at, now), 0
}

// manyChanges is from what sum on a visit may add, or time take away, less than a float32 shows.
const manyChanges = 4096

// rounded is a sum as it is kept. A large one is rounded up or down by chance, so that it is right on average: to the nearest,
// what each of many visits adds would be lost, and so would what is forgotten between two of them.
func rounded(sum, now float64) float32 {
	low := float32(sum)
	if !(low > manyChanges) {
		return low
	}
	if float64(low) > sum {
		low = math.Nextafter32(low, 0)
	}
	high := math.Nextafter32(low, math.MaxFloat32)
	if sum-float64(low) > dither(sum, now)*float64(high-low) {
		return high
	}
	return low
}
