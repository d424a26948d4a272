package recrawl

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// deadAddresses remembers which addresses took no connection, so that a name that has others, of the other family say, is
// not dialled at a dead one first each time. No second connection is opened beside the first as RFC 8305 does: a server
// that is merely slow would get both. It is safe for concurrent use.
type deadAddresses struct {
	mu    sync.Mutex
	since map[netip.Addr]time.Time // guarded by mu
}

// deadFor is how long an address that took no connection is tried last, deadKept of how many that is remembered.
const (
	deadFor  = 10 * time.Minute
	deadKept = 4096
)

// note takes note of an attempt.
func (d *deadAddresses) note(addr netip.Addr, dead bool, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !dead {
		delete(d.since, addr)
		return
	}
	if d.since == nil || len(d.since) >= deadKept { // all at once: what is dead still is soon known again
		d.since = make(map[netip.Addr]time.Time)
	}
	d.since[addr] = now
}

// last puts the targets that are known to be dead behind the others.
func (d *deadAddresses) last(targets []netip.AddrPort, now time.Time) []netip.AddrPort {
	if len(targets) < 2 {
		return targets
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	dead := func(t netip.AddrPort) int {
		if since, known := d.since[t.Addr()]; known && now.Sub(since) < deadFor {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(targets, func(a, b netip.AddrPort) int { return dead(a) - dead(b) })
	return targets
}
