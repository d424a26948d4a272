package content

// RewindHost brings back the times of a host's memory that were written by a clock that was ahead. back turns a time in Unix
// seconds into one that is not after now, and leaves one alone that has passed. What cannot be read stays as it is.
func RewindHost(body []byte, back func(int64) int64) []byte {
	h, changed := DecodeHost(body), false
	turn := func(at *int64) {
		before := *at
		*at = back(before)
		changed = changed || *at != before
	}
	for i := range h.moves {
		turn(&h.moves[i].at)
	}
	for i := range h.regions {
		turn(&h.regions[i].first)
		turn(&h.regions[i].last)
	}
	for i := range h.stays {
		turn(&h.stays[i].at)
	}
	for i := range h.retracts {
		turn(&h.retracts[i].at)
	}
	for i := range h.missing {
		turn(&h.missing[i].at)
	}
	for i := range h.standIns {
		turn(&h.standIns[i].first)
		for j := range h.standIns[i].pages {
			turn(&h.standIns[i].pages[j].at)
		}
	}
	if !changed {
		return body
	}
	return h.Encode()
}
