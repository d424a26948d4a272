package recrawl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"recrawld/config"
	"recrawld/models"
)

// Resolver looks up the addresses of a name; *net.Resolver is one. It is safe for concurrent use.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// maxAttempts bounds how many addresses of one name are tried, however many it has.
const maxAttempts = 4

// dialer resolves a name itself and then dials addresses only, so that the addresses judged are the addresses dialled.
type dialer struct {
	resolver Resolver
	guard    *guard
	limits   Limits
	connect  func(ctx context.Context, network, address string) (net.Conn, error)

	addresses *addresses
	sockets   *sockets
	dead      deadAddresses
}

func newDialer(resolver Resolver, g *guard, network config.Network, limits Limits) *dialer {
	plain := net.Dialer{ControlContext: g.control}
	return &dialer{resolver: resolver, guard: g, limits: limits, connect: plain.DialContext,
		addresses: newAddresses(network.HostsPerAddress, network.Allow),
		sockets:   newSockets(network.Connections, network.Bandwidth)}
}

// remembering is a resolver that keeps answers, and forgets those that prove to be of no use.
type remembering interface {
	Resolver
	Distrust(name string)
}

// classedError is an error whose class was known where it arose.
type classedError struct {
	class models.ErrorClass
	err   error
}

func (e *classedError) Error() string { return e.err.Error() }
func (e *classedError) Unwrap() error { return e.err }

// dial is an http.Transport.DialContext. Its errors are *classedError. Attempts follow each other, sharing the dial
// time-out evenly: no second connection is opened to a server that is merely slow to accept the first.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	targets, err := d.targets(ctx, address)
	if err != nil {
		return nil, err
	}
	var first error
	for _, target := range d.dead.last(targets, machineNow()) {
		conn, err := d.attempt(ctx, network, target, len(targets))
		if err == nil {
			d.dead.note(target.Addr(), false, machineNow())
			return conn, nil
		}
		if ctx.Err() == nil && !dialClass(err).Ours() {
			d.dead.note(target.Addr(), true, machineNow())
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	class := dialClass(first)
	if !class.Ours() {
		d.distrust(ctx, address)
	}
	return nil, &classedError{class: class, err: fmt.Errorf("dial %s: %w", address, first)}
}

// distrust lets a resolver that remembers ask anew for a name none of whose addresses took a connection: it may have moved.
func (d *dialer) distrust(ctx context.Context, address string) {
	host, _, err := net.SplitHostPort(address)
	if remembers, ok := d.resolver.(remembering); ok && err == nil && ctx.Err() == nil {
		remembers.Distrust(host)
	}
}

func (d *dialer) attempt(ctx context.Context, network string, target netip.AddrPort, n int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.limits.Dial/time.Duration(n))
	defer cancel()
	return d.sockets.connect(ctx, network, target.String(), d.connect)
}

// targets are the addresses to try for "host:port": those that may be dialled, at most maxAttempts of them.
func (d *dialer) targets(ctx context.Context, address string) ([]netip.AddrPort, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &classedError{class: models.ConnOther, err: fmt.Errorf("dial: %w", err)}
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, &classedError{class: models.ConnOther, err: fmt.Errorf("dial %s: %w", address, err)}
	}
	addrs, err := d.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	var targets []netip.AddrPort
	var blocked error
	for _, addr := range addrs {
		target := netip.AddrPortFrom(addr.Unmap(), uint16(port))
		if err := d.guard.check(target); err != nil {
			blocked = err
			continue
		}
		if targets = append(targets, target); len(targets) == maxAttempts {
			break
		}
	}
	if len(targets) == 0 {
		return nil, &classedError{class: models.BlockedAddress, err: fmt.Errorf("dial %s: %w", address, blocked)}
	}
	return targets, nil
}

// lookup resolves host, which may be an address already; at least one address comes back with a nil error.
func (d *dialer) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.limits.DNS)
	defer cancel()
	addrs, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, &classedError{class: lookupClass(err), err: fmt.Errorf("look up %s: %w", host, err)}
	}
	if len(addrs) == 0 {
		return nil, &classedError{class: models.DNSNotFound, err: fmt.Errorf("look up %s: no address", host)}
	}
	return addrs, nil
}

func lookupClass(err error) models.ErrorClass {
	if class, ok := errnoClass(err); ok && class.Ours() {
		return class
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return models.DNSNotFound
	}
	return models.DNSTemporary
}
