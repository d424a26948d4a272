package recrawl

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// addresses bounds how many hosts are visited at one address at once: what lies behind it is one machine, or one service
// in front of many. A host that finds its address taken is sent away with a place in line, so that it holds up nobody
// while it waits. The requests of one host count once: how many it gets at once is its site's setting.
//
// An IPv6 address counts as its /64, which is what a machine or a customer is given. Addresses that the operator allows
// by name are not bounded. It is safe for concurrent use.
type addresses struct {
	most  int // hosts at an address; 0: no bound
	allow []netip.Prefix

	mu    sync.Mutex
	known map[netip.Addr]*address // guarded by mu
}

// address is the hosts under way at an address.
type address struct {
	hosts []underWay
	took  time.Duration // how long a host's request holds it, smoothed; 0: not known
	line  time.Time     // when the last host that was sent away has its turn
}

type underWay struct {
	host     string
	requests int
}

// addressesKept is of how many addresses in no use the pace is remembered.
const addressesKept = 4096

// The wait of a host that is sent away: a request takes expectedTook where nothing is known, and nobody waits longer than
// longestLine, for the pace may change.
const (
	expectedTook = time.Second
	shortestWait = 50 * time.Millisecond
	longestLine  = 10 * time.Minute
)

func newAddresses(most int, allow []netip.Prefix) *addresses {
	return &addresses{most: most, allow: allow, known: make(map[netip.Addr]*address)}
}

// crowdedError says that a host must wait because others are visited at its address.
type crowdedError struct {
	addr  netip.Addr
	hosts int
	wait  time.Duration // real time
}

func (e *crowdedError) Error() string {
	return fmt.Sprintf("%d other hosts are visited at its address %s", e.hosts, e.addr)
}

// place is a host's right to a request at its address. The zero place is at no bounded address.
type place struct {
	of    *addresses
	addr  netip.Addr
	host  string
	began time.Time
}

// bounds tells whether an address has a bound.
func (a *addresses) bounds(addr netip.Addr) bool {
	return a.most > 0 && !slices.ContainsFunc(a.allow, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// enter takes a place at an address, or fails with a *crowdedError.
func (a *addresses) enter(addr netip.Addr, host string, now time.Time) (place, error) {
	if !a.bounds(addr) {
		return place{}, nil
	}
	if addr.Is6() {
		addr = netip.PrefixFrom(addr, 64).Masked().Addr()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.of(addr)
	i := slices.IndexFunc(at.hosts, func(u underWay) bool { return u.host == host })
	switch {
	case i >= 0:
		at.hosts[i].requests++
	case len(at.hosts) < a.most:
		at.hosts = append(at.hosts, underWay{host, 1})
	default:
		return place{}, &crowdedError{addr: addr, hosts: len(at.hosts), wait: at.queue(a.most, now)}
	}
	return place{of: a, addr: addr, host: host, began: now}, nil
}

// queue gives the next place in line: so many hosts at a time, each for as long as those before took.
func (at *address) queue(most int, now time.Time) time.Duration {
	took := at.took
	if took == 0 {
		took = expectedTook
	}
	if at.line.Before(now) {
		at.line = now
	}
	at.line = at.line.Add(took / time.Duration(most))
	if end := now.Add(longestLine); at.line.After(end) {
		at.line = end
	}
	return max(at.line.Sub(now), shortestWait)
}

// of is the record of an address. The caller holds mu.
func (a *addresses) of(addr netip.Addr) *address {
	at := a.known[addr]
	if at == nil {
		if len(a.known) >= addressesKept {
			for old, at := range a.known {
				if len(at.hosts) == 0 {
					delete(a.known, old)
				}
			}
		}
		at = new(address)
		a.known[addr] = at
	}
	return at
}

// leave gives the place back.
func (p place) leave() {
	if p.of == nil {
		return
	}
	took := machineNow().Sub(p.began)
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	at := p.of.of(p.addr)
	if at.took == 0 {
		at.took = took
	}
	at.took += (took - at.took) / 8
	i := slices.IndexFunc(at.hosts, func(u underWay) bool { return u.host == p.host })
	if at.hosts[i].requests--; at.hosts[i].requests == 0 {
		at.hosts = slices.Delete(at.hosts, i, i+1)
	}
}

// enter takes a place for a request to a host at the address that is dialled first. A resolver that does not remember is
// not asked twice: behind it there is no bound. A name without an address fails where it is dialled.
func (d *dialer) enter(ctx context.Context, host string) (place, error) {
	if d.addresses.most == 0 {
		return place{}, nil
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		if _, ok := d.resolver.(remembering); !ok {
			return place{}, nil
		}
		addrs, err := d.resolver.LookupNetIP(ctx, "ip", host)
		if err != nil || len(addrs) == 0 {
			return place{}, ctx.Err()
		}
		addr = addrs[0]
	}
	return d.addresses.enter(addr.Unmap().WithZone(""), host, machineNow())
}
