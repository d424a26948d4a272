package recrawl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"recrawld/config"
)

// privatePrefixes are the addresses of private networks and of this machine. Link-local ones are not among them: the services of clouds
// that give away their keys are there.
var privatePrefixes = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("::1/128"),
	netip.MustParsePrefix("fc00::/7"),
}

// DialReceiver returns what dials a receiver that the operator has named with this port: at the addresses that visits may go to, and
// where private is set also at those of private networks and of this machine.
func DialReceiver(port uint16, private bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	ports := []uint16{port}
	outside, inside := newGuard(config.Network{Ports: ports}), newGuard(config.Network{Ports: ports, Allow: privatePrefixes})
	inside.own = func(netip.AddrPort) bool { return false }
	g := outside
	if private {
		g = inside
	}
	dialer := net.Dialer{ControlContext: g.control, Timeout: 10 * time.Second}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if b, blocked := errors.AsType[*blockedError](err); blocked && !private && inside.control(ctx, "tcp", b.address, nil) == nil {
			err = fmt.Errorf("%w (private: on beside its url allows a receiver in a private network or on this machine)", err)
		}
		return conn, err
	}
}
