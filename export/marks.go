package export

import (
	"maps"
	"slices"
	"time"

	"recrawld/archive"
)

// marks are the hours in which versions were found. They say which segments may hold the revisit records of versions: those that were
// written to then, as their names tell.
type marks map[int64]struct{}

// hour counts hours; a visit takes one at most.
func hour(at time.Time) int64 { return at.Unix() / int64(longestVisit/time.Second) }

func (m marks) mark(version time.Time) { m[hour(version)] = struct{}{} }

// marked are the names of the segments that were begun in the hour after a version or before, and not closed before the hour
// before it.
func (m marks) marked(segments []archive.Segment) (names []string) {
	hours := slices.Sorted(maps.Keys(m))
	for _, s := range segments {
		first, _ := slices.BinarySearch(hours, hour(s.From)-1)
		if first < len(hours) && (s.To.IsZero() || hours[first] <= hour(s.To)+1) {
			names = append(names, s.Name)
		}
	}
	return names
}
