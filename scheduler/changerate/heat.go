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

// of is the logarithm of how many times more changes of late were seen than expected, by each memory; 0: neither. Where it
// is not asked ahead of the time it is remembered for the next page.
func (h *heat) of(now float64, ahead bool) (excess [len(memories)]float64) {
	if h.looked == now {
		return h.excess
	}
	for i, fade := range h.fade(now) {
		excess[i] = logOf((float64(h.seen[i])*fade + 1) / (float64(h.expected[i])*fade + 1))
	}
	if !ahead {
		h.looked, h.excess = now, excess
	}
	return excess
}

// add enters one visit.
func (h *heat) add(now, expected, seen float64) {
	for i, fade := range h.fade(now) {
		h.expected[i] = rounded(float64(h.expected[i])*fade+expected, now)
		h.seen[i] = rounded(float64(h.seen[i])*fade+seen, now)
	}
	h.at, h.looked = max(h.at, now), 0
}

// fade is what is left of each sum by now; all of it where now lies before them.
func (h *heat) fade(now float64) (left [len(memories)]float64) {
	for i, memory := range memories {
		left[i] = 1
		if now > h.at {
			left[i] = expOf((h.at - now) / memory)
		}
	}
	return left
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
