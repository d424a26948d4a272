package changerate

import "math"

// readLongGroup reads a group of the form before the present one.
func readLongGroup(r *reader) *group {
	has := r.byte()
	g := &group{members: int32(r.count(math.MaxInt32))}
	var usedAt [1]float32
	r.shorts(usedAt[:])
	g.usedAt = dayOf(float64(usedAt[0]))
	if has&hasHeat != 0 {
		g.heat = readHeat(r)
	}
	if has&hasNews != 0 {
		g.news = new(calendar)
		g.news.read(r, longForm)
	}
	return g
}

// readOlderGroup reads a group of the oldest form, in which all have a heat.
func readOlderGroup(r *reader, key uint64) *group {
	g := &group{members: int32(r.uint32() & math.MaxInt32), usedAt: dayOf(r.sum())}
	if h := readHeat(r); g.warms(key) {
		g.heat = h
	}
	if r.byte() != 0 {
		g.news = new(calendar)
		g.news.read(r, olderForm)
	}
	return g
}

// dayOf is the day of a time, in bounds.
func dayOf(at float64) float32 { return float32(math.Floor(bounded(at, 0, lastDay))) }

// longs takes sums of a calendar that were written at their full length, to the nearest grain.
func (r *reader) longs(into []uint32) {
	sums := make([]float32, len(into))
	r.shorts(sums)
	for i, x := range sums {
		into[i] = uint32(min(math.Round(float64(x)/grain), mostGrains-1))
	}
}
