package export

import (
	"slices"
	"time"

	"recrawld/archive"
)

// marks says which segments may hold the revisit records of versions: those that were written to when a version was found, as their
// names tell.
type marks struct {
	segments []archive.Segment
	hours    map[int64]struct{} // in which versions were found
}

func newMarks(segments []archive.Segment) marks { return marks{segments, make(map[int64]struct{})} }

// hour counts hours; a visit takes one at most.
func hour(at time.Time) int64 { return at.Unix() / int64(longestVisit/time.Second) }

func (m *marks) mark(version time.Time) { m.hours[hour(version)] = struct{}{} }

// marked are the names of the segments that were begun in the hour after a version or before, and not closed before the hour
// before it.
func (m *marks) marked() (names []string) {
	hours := make([]int64, 0, len(m.hours))
	for at := range m.hours {
		hours = append(hours, at)
	}
	slices.Sort(hours)
	for _, s := range m.segments {
		first, _ := slices.BinarySearch(hours, hour(s.From)-1)
		if first < len(hours) && (s.To.IsZero() || hours[first] <= hour(s.To)+1) {
			names = append(names, s.Name)
		}
	}
	return names
}
