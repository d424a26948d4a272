package recrawl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"

	"recrawld/config"
	"recrawld/recrawl/canon"
)

// guard says which addresses may be dialled: public ones on the configured ports, and whatever the operator allows.
// It judges addresses, never names: a name is judged by what it resolves to, at the moment it is dialled, so that a
// name that changes its address in between (DNS rebinding) gains nothing.
type guard struct {
	allow  []netip.Prefix
	public *ssrf.Guardian
	own    func(netip.AddrPort) bool
	hints  bool // what is refused says which setting lets it through
}

// alsoDenied lists addresses outside the IANA special-purpose registries that lead inside: the platform address of
// Azure is a public one by registry.
var alsoDenied = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

func newGuard(network config.Network) *guard {
	ports := append([]uint16{}, network.Ports...) // never nil, which the library takes for any port
	return &guard{
		allow:  network.Allow,
		public: ssrf.New(ssrf.WithPorts(ports...), ssrf.WithDeniedV4Prefixes(alsoDenied...)),
		own:    isOwnAddress,
	}
}

// blockedError says which address was refused and why.
type blockedError struct {
	address string
	reason  string
}

func (e *blockedError) Error() string {
	return fmt.Sprintf("address %s is not dialled: %s", e.address, e.reason)
}

// control is a net.Dialer.ControlContext: it sees the very address of each attempt, before connect.
func (g *guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return &blockedError{address: address, reason: network + " is not TCP"}
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &blockedError{address: address, reason: "not an address and port"}
	}
	return g.check(target)
}

// check returns a *blockedError unless target may be dialled. An address with a zone never may: it is link-local.
func (g *guard) check(target netip.AddrPort) error {
	addr := target.Addr().Unmap()
	if !addr.IsValid() || addr.Zone() != "" {
		return &blockedError{address: target.String(), reason: "it names a network interface"}
	}
	for _, prefix := range g.allow {
		if prefix.Contains(addr) {
			return nil
		}
	}
	target = netip.AddrPortFrom(addr, target.Port())
	switch err := g.public.SafeAddr(addr); { // before the port: where both are refused, another port would not do
	case errors.Is(err, ssrf.ErrProhibitedIP):
		return g.refuse(target, "it is not public", allowNames)
	case err != nil:
		return g.refuse(target, err.Error(), "")
	case g.own(target):
		return g.refuse(target, "it belongs to this machine", allowNames)
	}
	if err := g.public.SafeAddrPort(target); errors.Is(err, ssrf.ErrProhibitedPort) {
		return g.refuse(target, fmt.Sprintf("port %d is none of those that are", target.Port()), "network.ports names them")
	} else if err != nil {
		return g.refuse(target, err.Error(), "")
	}
	return nil
}

// allowNames is the way out for whoever keeps a site inside.
const allowNames = "network.allow names addresses to dial all the same"

func (g *guard) refuse(target netip.AddrPort, reason, wayOut string) error {
	if g.hints && wayOut != "" {
		reason += "; " + wayOut
	}
	return &blockedError{address: target.String(), reason: reason}
}

// checkLiteral judges a URL whose host is an address, for a good message before anything is asked; a URL with a name
// passes, since only its addresses can be judged.
func (g *guard) checkLiteral(u canon.URL) error {
	addr, err := netip.ParseAddr(strings.Trim(u.Hostname(), "[]"))
	if err != nil {
		return nil
	}
	port, err := strconv.ParseUint(portOf(u), 10, 16)
	if err != nil {
		return &blockedError{address: u.HostName(), reason: "no usable port"}
	}
	return g.check(netip.AddrPortFrom(addr, uint16(port)))
}

// portOf is the port that u is asked on.
func portOf(u canon.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme() == "https":
		return "443"
	}
	return "80"
}

// isOwnAddress asks the routing table: the source address for a packet to one of our own addresses is that address.
// No packet is sent, and unlike a list of interfaces it needs no netlink socket, which a hardened unit denies.
func isOwnAddress(target netip.AddrPort) bool {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(target))
	if err != nil {
		return false
	}
	defer conn.Close()
	local, ok := conn.LocalAddr().(*net.UDPAddr)
	return ok && local.AddrPort().Addr().Unmap() == target.Addr()
}
