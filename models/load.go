package models

import (
	"encoding/binary"
	"time"
)

// Load is what a host's answers say of how it bears our requests.
type Load struct {
	Response time.Duration // smoothed, from request to last byte, in whole microseconds; 0: nothing is known
	Slowed   time.Duration // the delay that answers of overload led to and good ones have not undone, likewise; 0: none
}

// append writes the two times in microseconds.
func (l Load) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(max(l.Response, 0)/time.Microsecond))
	return binary.AppendUvarint(b, uint64(max(l.Slowed, 0)/time.Microsecond))
}

// load reads them.
func (n *numbers) load() Load {
	const most = uint64((1<<63 - 1) / time.Microsecond)
	return Load{Response: time.Duration(n.next(most)) * time.Microsecond, Slowed: time.Duration(n.next(most)) * time.Microsecond}
}
