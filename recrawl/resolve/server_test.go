package resolve

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// zone is what a server of the tests says of a name. The zero zone says that the name does not exist.
type zone struct {
	addrs    []string
	ttl      uint32
	alias    string          // a CNAME that leads to the addresses
	aliasTTL uint32          //
	empty    bool            // the name exists and has no address
	soa      uint32          // TTL of the denial; 0: without SOA
	fails    bool            // SERVFAIL
	failsFor dnsmessage.Type // SERVFAIL to this type alone
	cut      bool            // truncated over UDP
	hold     chan struct{}   // no answer before it is closed
	silent   bool            // no answer
}

// server is a name server on loopback, over UDP and TCP on one port.
type server struct {
	addr string

	mu    sync.Mutex
	zones map[string]zone // guarded by mu; by name without the final dot
	asked map[string]int  // guarded by mu; questions for IPv4 addresses
	heard chan string     // gets the name of each question for IPv4 addresses
}

func serve(t *testing.T, zones map[string]zone) *server {
	t.Helper()
	var packets net.PacketConn
	var stream net.Listener
	for tries := 0; ; tries++ { // the UDP port may be taken over TCP
		var err error
		if packets, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		if stream, err = net.Listen("tcp", packets.LocalAddr().String()); err == nil {
			break
		}
		packets.Close()
		if tries == 20 {
			t.Fatal(err)
		}
	}
	s := &server{addr: packets.LocalAddr().String(), zones: zones, asked: make(map[string]int), heard: make(chan string, 4096)}
	var serving sync.WaitGroup
	serving.Go(func() { s.packets(t, packets, &serving) })
	serving.Go(func() { s.streams(t, stream) })
	t.Cleanup(func() { packets.Close(); stream.Close(); serving.Wait() })
	return s
}

func (s *server) packets(t *testing.T, conn net.PacketConn, serving *sync.WaitGroup) {
	buffer := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		query := append([]byte(nil), buffer[:n]...)
		serving.Go(func() {
			if answer := s.answer(t, query, true); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		})
	}
}

func (s *server) streams(t *testing.T, listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err == nil {
			query := make([]byte, binary.BigEndian.Uint16(length[:]))
			if _, err := io.ReadFull(conn, query); err == nil {
				answer := s.answer(t, query, false)
				_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
			}
		}
		conn.Close()
	}
}

func (s *server) set(name string, z zone) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zones[name] = z
}

// count is how often a name was asked for.
func (s *server) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

func (s *server) answer(t *testing.T, query []byte, udp bool) []byte {
	var p dnsmessage.Parser
	header, err := p.Start(query)
	question, err2 := p.Question()
	if err := errors.Join(err, err2); err != nil {
		t.Errorf("the server is asked nonsense: %v", err)
		return nil
	}
	name := strings.TrimSuffix(question.Name.String(), ".")
	s.mu.Lock()
	z, known := s.zones[name]
	if question.Type == dnsmessage.TypeA {
		s.asked[name]++
	}
	s.mu.Unlock()
	if question.Type == dnsmessage.TypeA {
		s.heard <- name
	}
	if z.hold != nil {
		<-z.hold
	}
	if z.silent {
		return nil
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: header.ID, Response: true, RecursionDesired: true, RecursionAvailable: true},
		Questions: []dnsmessage.Question{question}}
	switch {
	case z.fails, z.failsFor == question.Type:
		m.RCode = dnsmessage.RCodeServerFailure
	case z.cut && udp:
		m.Truncated = true
	case !known:
		m.RCode = dnsmessage.RCodeNameError
	default:
		m.RCode = z.fill(&m, question)
	}
	if len(m.Answers) == 0 && z.soa > 0 && m.RCode != dnsmessage.RCodeServerFailure {
		m.Authorities = []dnsmessage.Resource{{Header: head("test.", dnsmessage.TypeSOA, 3600), Body: &dnsmessage.SOAResource{
			NS: dnsmessage.MustNewName("ns.test."), MBox: dnsmessage.MustNewName("root.test."), MinTTL: z.soa}}}
	}
	packed, err := m.Pack()
	if err != nil {
		t.Errorf("pack: %v", err)
	}
	return packed
}

func head(name string, kind dnsmessage.Type, ttl uint32) dnsmessage.ResourceHeader {
	return dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET, TTL: ttl}
}

// fill puts the records that were asked for into an answer.
func (z zone) fill(m *dnsmessage.Message, q dnsmessage.Question) dnsmessage.RCode {
	if len(z.addrs) == 0 && !z.empty {
		return dnsmessage.RCodeNameError
	}
	owner := q.Name.String()
	if z.alias != "" {
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: head(owner, dnsmessage.TypeCNAME, z.aliasTTL),
			Body: &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(z.alias + ".")}})
		owner = z.alias + "."
	}
	for _, text := range z.addrs {
		addr := netip.MustParseAddr(text)
		switch {
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head(owner, dnsmessage.TypeA, z.ttl), Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head(owner, dnsmessage.TypeAAAA, z.ttl), Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	return dnsmessage.RCodeSuccess
}
