package resolve

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"recrawld/clock"
)

// answer is what asking for a name came to.
type answer struct {
	addrs []netip.Addr
	ttl   time.Duration // of the addresses, or of their absence; 0: nobody said, as for a name in /etc/hosts
	err   *net.DNSError // nil, or why there is no address
}

// asker asks Go's own resolver and reads its mail.
type asker struct{ resolver *net.Resolver }

// newAsker asks the server, or those of resolv.conf, and waits so long for each answer over UDP.
func newAsker(server string, each time.Duration) *asker {
	var plain net.Dialer
	return &asker{resolver: &net.Resolver{
		PreferGo: true, // the C library's would be called in a thread each, and shows no messages
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if server != "" {
				address = server
			}
			conn, err := plain.DialContext(ctx, network, address)
			n, ok := ctx.Value(notesKey{}).(*notes)
			if err != nil || !ok {
				return conn, err
			}
			if udp, ok := conn.(*net.UDPConn); ok {
				return &packets{UDPConn: udp, notes: n, each: each}, nil
			}
			return &stream{Conn: conn, notes: n}, nil
		},
	}}
}

// notesKey is the context's key of the notes of a look-up.
type notesKey struct{}

// ask looks a name up. The name is asked for as it is: whether it does not exist is told by what was said of that very
// name, since a search list makes the resolver ask for others and report the last.
func (a *asker) ask(ctx context.Context, name string) answer {
	n := &notes{name: strings.TrimSuffix(name, ".") + "."}
	addrs, err := a.resolver.LookupNetIP(context.WithValue(ctx, notesKey{}, n), "ip", name)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil && len(addrs) > 0 {
		for i := range addrs {
			addrs[i] = addrs[i].Unmap()
		}
		return answer{addrs: addrs, ttl: n.found.least}
	}
	var failed *net.DNSError
	if !errors.As(err, &failed) {
		failed = &net.DNSError{Err: "no address", Name: name, IsNotFound: err == nil, IsTemporary: err != nil}
		if err != nil {
			failed.Err = err.Error()
		}
	}
	if failed.IsNotFound && n.messages > 0 && (n.failed || !n.deniedName) {
		failed = &net.DNSError{Err: "the name server fails", Name: name, Server: failed.Server, IsTemporary: true}
	}
	return answer{ttl: n.denied.least, err: failed}
}

// span is the least of some times to live.
type span struct {
	known bool
	least time.Duration
}

// add counts a TTL. One with its first bit set counts as 0 (RFC 2181, section 8).
func (s *span) add(seconds uint32) {
	ttl := time.Duration(seconds) * time.Second
	if seconds > 1<<31-1 {
		ttl = 0
	}
	if !s.known || ttl < s.least {
		s.known, s.least = true, ttl
	}
}

// notes are what the messages of one look-up say. It is safe for concurrent use: both families are asked for at a time.
type notes struct {
	name string // with its final dot

	mu         sync.Mutex
	messages   int  // guarded by mu
	found      span // guarded by mu; of addresses and of the aliases that led to them
	denied     span // guarded by mu; of the absence of addresses
	deniedName bool // guarded by mu; the name itself was denied, or has no address
	failed     bool // guarded by mu; asked for the name itself, a server failed
}

// read takes note of a message. What is no answer is left to the resolver to refuse.
func (n *notes) read(message []byte) {
	var p dnsmessage.Parser
	header, err := p.Start(message)
	if err != nil || !header.Response {
		return
	}
	question, err := p.Question()
	if err != nil || p.SkipAllQuestions() != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.messages++
	own := strings.EqualFold(question.Name.String(), n.name)
	if header.RCode != dnsmessage.RCodeSuccess && header.RCode != dnsmessage.RCodeNameError {
		n.failed = n.failed || own
		return
	}
	if n.answers(&p) {
		return
	}
	n.deniedName = n.deniedName || own
	n.absence(&p)
}

// answers reads the answer section and tells whether there is an address in it. The caller holds mu.
func (n *notes) answers(p *dnsmessage.Parser) bool {
	var all span
	addresses := false
	for {
		header, err := p.AnswerHeader()
		if err != nil {
			break
		}
		all.add(header.TTL)
		addresses = addresses || header.Type == dnsmessage.TypeA || header.Type == dnsmessage.TypeAAAA
		if p.SkipAnswer() != nil {
			break
		}
	}
	if addresses {
		n.found.add(uint32(all.least / time.Second))
	}
	return addresses
}

// absence reads how long the absence of an address holds: the lesser of the TTL of the zone's SOA record and of what that
// record says (RFC 2308, section 5). The caller holds mu.
func (n *notes) absence(p *dnsmessage.Parser) {
	for {
		header, err := p.AuthorityHeader()
		if err != nil {
			return
		}
		if header.Type != dnsmessage.TypeSOA {
			if p.SkipAuthority() != nil {
				return
			}
			continue
		}
		soa, err := p.SOAResource()
		if err != nil {
			return
		}
		n.denied.add(min(header.TTL, soa.MinTTL))
	}
}

// packets is a connection over UDP whose messages are read along. It stays a net.PacketConn, by which the resolver knows
// that messages have no length in front.
type packets struct {
	*net.UDPConn
	notes *notes
	each  time.Duration
}

// SetDeadline implements net.Conn. By itself the resolver would wait for one lost packet, or for a dead server, as long as
// for all of a look-up.
func (c *packets) SetDeadline(t time.Time) error {
	if soon := (clock.System{}).Now().Add(c.each); t.IsZero() || soon.Before(t) {
		t = soon
	}
	return c.UDPConn.SetDeadline(t)
}

// Read implements net.Conn.
func (c *packets) Read(b []byte) (int, error) {
	n, err := c.UDPConn.Read(b)
	if err == nil {
		c.notes.read(b[:n])
	}
	return n, err
}

// stream is one over TCP, where two bytes of length stand before each message.
type stream struct {
	net.Conn
	notes *notes
	seen  []byte
}

// Read implements net.Conn.
func (c *stream) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.seen = append(c.seen, b[:n]...)
	for len(c.seen) >= 2 {
		length := 2 + int(c.seen[0])<<8 + int(c.seen[1])
		if len(c.seen) < length {
			break
		}
		c.notes.read(c.seen[2:length])
		c.seen = c.seen[length:]
	}
	return n, err
}
