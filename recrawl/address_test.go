package recrawl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestFault_076_AddressTakesSoManyHosts(t *testing.T) {
	t.Parallel()
	a := newAddresses(2, loopback)
	shared := netip.MustParseAddr("192.0.2.1")
	enter := func(addr netip.Addr, host string) (place, time.Duration) {
		p, err := a.enter(addr, host, noon)
		var crowded *crowdedError
		if err != nil && !errors.As(err, &crowded) {
			t.Fatalf("enter %s: %v", host, err)
		}
		if err != nil {
			return p, crowded.wait
		}
		return p, 0
	}
	one, _ := enter(shared, "one.test")
	again, _ := enter(shared, "one.test") // its own second request
	if _, wait := enter(shared, "two.test"); wait != 0 {
		t.Errorf("a second host waits %v", wait)
	}
	for i, want := range []time.Duration{500 * time.Millisecond, time.Second, 1500 * time.Millisecond} {
		if _, wait := enter(shared, "three.test"); wait != want {
			t.Errorf("host %d in line waits %v, want %v", i+1, wait, want)
		}
	}
	if _, wait := enter(netip.MustParseAddr("192.0.2.2"), "three.test"); wait != 0 {
		t.Errorf("at another address it waits %v", wait)
	}
	one.leave()
	if _, wait := enter(shared, "three.test"); wait == 0 {
		t.Error("a host took the place of another that still has a request under way")
	}
	again.leave()
	if _, wait := enter(shared, "three.test"); wait != 0 {
		t.Errorf("there is room, and the host waits %v", wait)
	}
	for i := range 10 {
		if _, wait := enter(netip.MustParseAddr("127.0.0.1"), fmt.Sprint(i)); wait != 0 {
			t.Errorf("host %d at an allowed address waits %v", i, wait)
		}
	}
	six := func(i int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("2001:db8::%d", i+1)) }
	for i, full := range []bool{false, false, true} {
		if _, wait := enter(six(i), fmt.Sprint(i)); (wait > 0) != full {
			t.Errorf("host %d of an IPv6 network waits %v, want waiting %v", i+1, wait, full)
		}
	}
}

func TestLineOfAnAddressIsBounded(t *testing.T) {
	t.Parallel()
	a := newAddresses(1, nil)
	addr := netip.MustParseAddr("192.0.2.1")
	if _, err := a.enter(addr, "first.test", noon); err != nil {
		t.Fatal(err)
	}
	var wait time.Duration
	for i := range 2000 {
		_, err := a.enter(addr, fmt.Sprint(i), noon)
		var crowded *crowdedError
		if !errors.As(err, &crowded) || crowded.wait < wait {
			t.Fatalf("host %d: %v after a wait of %v", i, err, wait)
		}
		wait = crowded.wait
	}
	if wait != longestLine {
		t.Errorf("the last of 2000 waits %v, want %v", wait, longestLine)
	}
	for i := range 3 * addressesKept {
		p, err := a.enter(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), "h", noon)
		if err != nil {
			t.Fatal(err)
		}
		p.leave()
	}
	if n := len(a.known); n > addressesKept {
		t.Errorf("%d addresses are remembered, want at most %d", n, addressesKept)
	}
}

// TestHostsOfOneAddressTakeTurns visits three names of one server with room for one at a time.
func TestHostsOfOneAddressTakeTurns(t *testing.T) {
	t.Parallel()
	hold, asked := make(chan struct{}), make(chan string, 9)
	o, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Host
		<-hold
		_, _ = w.Write([]byte("<p>one"))
	})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(o) })
	t.Cleanup(func() { server.Close(); serving.Wait() })
	resolver := &movedNames{names: names{answers: map[string][][]string{"a.test": {{"127.0.0.1"}}, "b.test": {{"127.0.0.1"}}}}}
	r := newRig(t, resolving(resolver))
	r.fetcher.dialer.addresses = newAddresses(1, nil) // loopback is bounded here
	_, port, _ := strings.Cut(o.Addr().String(), ":")
	done := make(chan models.Outcome)
	go func() { done <- r.fetch("http://a.test:" + port + "/") }()
	<-asked
	out := r.fetch("http://b.test:" + port + "/")
	wantKind(t, out, models.Deferred)
	if !out.HostWaits || out.Sent != 0 || !out.Until.After(r.clock.Now()) || !strings.Contains(out.Detail, "127.0.0.1") {
		t.Errorf("the other host's outcome = %+v, want that the host waits", out)
	}
	robots := r.turn(t.Context(), pageOf(t, "http://b.test:"+port+"/"))
	if wantKind(t, robots, models.Deferred); !robots.HostWaits || robots.Sent != 0 || robots.Robots != nil {
		t.Errorf("without a robots.txt = %+v, want that the host waits", robots)
	}
	close(hold)
	wantBody(t, <-done, "<p>one")
	wantBody(t, r.fetch("http://b.test:"+port+"/"), "<p>one")
}

func TestDeadAddressIsTriedLast(t *testing.T) {
	t.Parallel()
	r := newRig(t, publicOnly)
	r.fetcher.dialer.resolver = &names{answers: map[string][][]string{"both.test": {{"2001:4860:4860::8888", "9.0.0.1"}}}}
	var mu sync.Mutex
	var dialled []string
	r.fetcher.dialer.connect = func(_ context.Context, _, address string) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		dialled = append(dialled, address)
		if strings.HasPrefix(address, "[") {
			return nil, syscall.ETIMEDOUT
		}
		ours, theirs := net.Pipe()
		theirs.Close()
		return ours, nil
	}
	for range 2 {
		r.fetch("http://both.test/")
	}
	want := "[[2001:4860:4860::8888]:80 9.0.0.1:80 9.0.0.1:80"
	if got := fmt.Sprint(dialled); !strings.HasPrefix(got, want) {
		t.Errorf("dialled %v, want the dead address once", got)
	}
	var dead deadAddresses
	targets := []netip.AddrPort{netip.MustParseAddrPort("9.0.0.1:80"), netip.MustParseAddrPort("9.0.0.2:80")}
	dead.note(targets[0].Addr(), true, noon)
	if got := dead.last(append([]netip.AddrPort(nil), targets...), noon.Add(deadFor)); got[0] != targets[0] {
		t.Errorf("after %v the order is %v, want as it was", deadFor, got)
	}
	for i := range 3 * deadKept {
		dead.note(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), true, noon)
	}
	if n := len(dead.since); n > deadKept {
		t.Errorf("%d dead addresses are remembered, want at most %d", n, deadKept)
	}
}

// TestConnectionsAreBounded keeps a connection to one server idle; room for another is made by closing it.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	one := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, nil, "<p>one")})
	two := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, nil, "<p>two")})
	r := newRig(t, func(c *Config, _ *config.Settings) { c.Network.Connections = 1 })
	for range 3 {
		wantBody(t, r.fetch(one.URL("/")), "<p>one")
		wantBody(t, r.fetch(two.URL("/")), "<p>two")
		if n := r.Connections(); n > 1 {
			t.Errorf("%d connections are open, want one at most", n)
		}
	}
}

// TestAConnectionThatBecomesIdleMakesRoom: it was in use when somebody began to wait for room.
func TestAConnectionThatBecomesIdleMakesRoom(t *testing.T) {
	t.Parallel()
	s := newSockets(1, 0)
	looks := 0
	s.spare = func() {
		if looks++; looks == 2 {
			s.release()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := s.reserve(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.reserve(ctx); err != nil {
		t.Errorf("reserve beside a connection that becomes idle: %v after %d looks for idle ones, want room", err, looks)
	}
}

func TestOwnBoundCountsAgainstNobody(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, nil, "<p>one")})
	r := newRig(t, func(c *Config, _ *config.Settings) {
		c.Network.Connections, c.Limits.Dial = 1, 20*time.Millisecond
	})
	r.fetcher.dialer.sockets.room <- struct{}{} // somebody's, and not idle
	out := r.fetch(o.URL("/"))
	wantFailed(t, out, models.OwnLimit)
	if !strings.Contains(out.Detail, "network.connections") {
		t.Errorf("detail = %q, want what to change", out.Detail)
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	p := &pace{perSecond: 1000}
	now := noon
	for i, c := range []struct {
		after time.Duration
		bytes int
		wait  time.Duration
	}{
		{0, 250, 0}, // the burst
		{0, 500, 500 * time.Millisecond},
		{500 * time.Millisecond, 100, 100 * time.Millisecond},
		{time.Hour, 250, 0}, // nothing is saved up beyond the burst
		{0, 1000, time.Second},
	} {
		now = now.Add(c.after)
		if got := p.take(c.bytes, now); got != c.wait {
			t.Errorf("take %d: wait %v, want %v", i, got, c.wait)
		}
	}
}

func TestBandwidthIsShared(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("<p>page", 30000) // 210 kB
	o := listen(t, map[string]hostile.Answer{"/a": hostile.Whole(200, nil, body), "/b": hostile.Whole(200, nil, body)})
	r := newRig(t, func(c *Config, _ *config.Settings) { c.Network.Bandwidth = 1 << 20 })
	var visits sync.WaitGroup
	began := machineNow()
	for _, path := range []string{"/a", "/b"} {
		visits.Go(func() { wantBody(t, r.fetch(o.URL(path)), body) })
	}
	visits.Wait()
	if took := machineNow().Sub(began); took < 130*time.Millisecond {
		t.Errorf("420 kB at 1 MiB/s took %v, want 150 ms: 0.4 s less the burst", took)
	}
}

func BenchmarkEnterAddress(b *testing.B) {
	a := newAddresses(8, nil)
	addr := netip.MustParseAddr("192.0.2.1")
	b.ReportAllocs()
	for b.Loop() {
		p, err := a.enter(addr, "one.test", noon)
		if err != nil {
			b.Fatal(err)
		}
		p.leave()
	}
}

type remembers struct{ *names }

func (remembers) Distrust(string) {}

func TestAddressInAURLIsBounded(t *testing.T) {
	t.Parallel()
	d := newDialer(remembers{&names{}}, newGuard(public), config.Network{HostsPerAddress: 1}, Limits{}.withDefaults())
	for _, host := range []string{"93.184.215.14", "[2606:2800::1]"} {
		p, err := d.enter(t.Context(), host)
		if err != nil || p.of == nil || p.addr == (netip.Addr{}) {
			t.Errorf("enter %s: no place, %v", host, err)
		}
	}
}
