package resolve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
)

// rig is a cache that asks a server of the test, on a clock that moves when told.
type rig struct {
	*Cache
	*server
	t     *testing.T
	clock *clock.Virtual
}

func newRig(t *testing.T, zones map[string]zone, edit func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, server: serve(t, zones), clock: clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	c := Config{Server: r.server.addr, Clock: r.clock, Metrics: prometheus.NewRegistry()}
	if edit != nil {
		edit(&c)
	}
	r.Cache = New(c)
	t.Cleanup(r.Close)
	return r
}

// pass lets time go by.
func (r *rig) pass(d time.Duration) {
	r.t.Helper()
	if err := r.clock.SleepUntil(r.t.Context(), r.clock.Now().Add(d)); err != nil {
		r.t.Fatal(err)
	}
}

// want looks a name up and checks the addresses, and how often the server was asked for it so far.
func (r *rig) want(name string, asked int, addrs ...string) {
	r.t.Helper()
	got, err := r.LookupNetIP(r.t.Context(), "ip", name)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(addrs) {
		r.t.Errorf("look up %s = %v, %v; want %v", name, got, err, addrs)
	}
	if n := r.count(name); n != asked {
		r.t.Errorf("the server was asked for %s %d times, want %d", name, n, asked)
	}
}

// wantError looks a name up and checks whether it is denied for sure or could not be found out.
func (r *rig) wantError(name string, asked int, notFound bool) {
	r.t.Helper()
	got, err := r.LookupNetIP(r.t.Context(), "ip", name)
	var failed *net.DNSError
	if !errors.As(err, &failed) || failed.IsNotFound != notFound || failed.IsTemporary == notFound {
		r.t.Errorf("look up %s = %v, %+v; want not found %v", name, got, err, notFound)
	}
	if n := r.count(name); n != asked {
		r.t.Errorf("the server was asked for %s %d times, want %d", name, n, asked)
	}
}

// settled waits until nothing is looked up any more.
func (r *rig) settled() { r.under.Wait() }

func TestAnswersHoldForTheirTTL(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]zone{
		"two.test":   {addrs: []string{"192.0.2.1"}, ttl: 120},
		"alias.test": {addrs: []string{"192.0.2.1"}, ttl: 3000, alias: "two.test", aliasTTL: 120},
		"quick.test": {addrs: []string{"192.0.2.2"}, ttl: 1},
		"long.test":  {addrs: []string{"192.0.2.3"}, ttl: 864000},
		"odd.test":   {addrs: []string{"192.0.2.4"}, ttl: 1 << 31},
	}, nil)
	for _, c := range []struct {
		name string
		held time.Duration
		addr string
	}{
		{"two.test", 2 * time.Minute, "192.0.2.1"},
		{"alias.test", 2 * time.Minute, "192.0.2.1"},
		{"quick.test", time.Minute, "192.0.2.2"}, // the floor
		{"long.test", time.Hour, "192.0.2.3"},    // the ceiling
		{"odd.test", time.Minute, "192.0.2.4"},   // as 0
	} {
		r.want(c.name, 1, c.addr)
		r.pass(c.held*3/4 - time.Second)
		r.want(c.name, 1, c.addr)
		r.settled()
		r.pass(c.held/4 + 2*time.Second)
		r.want(c.name, 2, c.addr)
	}
}

func TestNamesInUseAreAskedForBeforeTheirTimeIsOver(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]zone{"a.test": {addrs: []string{"192.0.2.1"}, ttl: 100}}, nil)
	r.want("a.test", 1, "192.0.2.1")
	r.set("a.test", zone{addrs: []string{"192.0.2.9"}, ttl: 100})
	r.pass(76 * time.Second)
	if got, err := r.LookupNetIP(t.Context(), "ip", "a.test"); err != nil || got[0].String() != "192.0.2.1" {
		t.Errorf("look up = %v, %v; want what is known, at once", got, err)
	}
	r.settled()
	r.want("a.test", 2, "192.0.2.9")
}

func TestBothFamiliesComeBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]zone{"both.test": {addrs: []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}, ttl: 60}}, nil)
	got, err := r.LookupNetIP(t.Context(), "ip", "Both.Test")
	if err != nil || len(got) != 3 {
		t.Errorf("look up = %v, %v; want three addresses", got, err)
	}
	r.set("both.test", zone{})
	if again, err := r.LookupNetIP(t.Context(), "ip", "both.test"); err != nil || len(again) != 3 {
		t.Errorf("in other letters = %v, %v; want what is known", again, err)
	}
}

func TestDenialAndFailureAreToldApart(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]zone{
		"empty.test":  {empty: true, soa: 30},
		"denied.test": {soa: 20},
		"fails.test":  {fails: true},
		"half.test":   {empty: true, soa: 30, failsFor: 28}, // no IPv4 address, and whether it has an IPv6 one is not to be known
	}, nil)
	r.wantError("empty.test", 1, true)
	r.wantError("denied.test", 1, true)
	r.wantError("nowhere.test", 1, true)
	before := r.count("fails.test")
	r.wantError("fails.test", before+2, false) // the resolver itself tries twice
	r.wantError("fails.test", before+2, false)
	r.wantError("half.test", 1, false)

	r.pass(19 * time.Second)
	r.wantError("denied.test", 1, true)
	r.wantError("fails.test", before+4, false) // its five seconds are over
	r.pass(2 * time.Second)
	r.wantError("denied.test", 2, true)
	r.wantError("empty.test", 1, true)
}

func TestResolverThatFailsAndRecovers(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]zone{"a.test": {fails: true}}, nil)
	r.wantError("a.test", 2, false)
	r.set("a.test", zone{addrs: []string{"192.0.2.1"}, ttl: 60})
	r.wantError("a.test", 2, false)
	r.pass(6 * time.Second)
	r.want("a.test", 3, "192.0.2.1")
}

func TestOldAddressesStandInWhileTheResolverFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]zone{"a.test": {addrs: []string{"192.0.2.1"}, ttl: 60}}, nil)
	r.want("a.test", 1, "192.0.2.1")
	r.set("a.test", zone{fails: true})
	r.pass(2 * time.Minute)
	r.want("a.test", 3, "192.0.2.1")
	r.want("a.test", 3, "192.0.2.1") // for five seconds it is not asked again
	r.pass(time.Minute)
	r.want("a.test", 5, "192.0.2.1")
	r.set("a.test", zone{soa: 10})
	r.pass(time.Minute)
	r.wantError("a.test", 6, true) // that it is gone is an answer, and not a failure
	r.set("a.test", zone{fails: true})
	r.pass(time.Minute)
	r.wantError("a.test", 8, false)

	r.set("b.test", zone{addrs: []string{"192.0.2.2"}, ttl: 60})
	r.want("b.test", 1, "192.0.2.2")
	r.set("b.test", zone{fails: true})
	r.pass(25 * time.Hour)
	r.wantError("b.test", 3, false) // too old
}

func TestOldAddressesStandInWhileTheResolverIsSlow(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]zone{"a.test": {addrs: []string{"192.0.2.1"}, ttl: 60}}, func(c *Config) { c.Patience = time.Millisecond })
	r.want("a.test", 1, "192.0.2.1")
	hold := make(chan struct{})
	r.set("a.test", zone{addrs: []string{"192.0.2.9"}, ttl: 60, hold: hold})
	r.pass(2 * time.Minute)
	if got, err := r.LookupNetIP(t.Context(), "ip", "a.test"); err != nil || got[0].String() != "192.0.2.1" {
		t.Errorf("look up while the server thinks = %v, %v; want the old address", got, err)
	}
	close(hold)
	r.settled()
	if got, err := r.LookupNetIP(t.Context(), "ip", "a.test"); err != nil || got[0].String() != "192.0.2.9" {
		t.Errorf("look up afterwards = %v, %v; want the new address", got, err)
	}
}

func TestSlowNameHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	r := newRig(t, map[string]zone{"slow.test": {hold: hold}, "quick.test": {addrs: []string{"192.0.2.1"}, ttl: 60}}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if got, err := r.LookupNetIP(ctx, "ip", "slow.test"); !errors.Is(err, context.Canceled) {
			t.Errorf("the look-up that was given up = %v, %v", got, err)
		}
	})
	if name := <-r.heard; name != "slow.test" {
		t.Errorf("asked for %s first", name)
	}
	r.want("quick.test", 1, "192.0.2.1")
	cancel()
	waiting.Wait()
	close(hold)
	r.settled()
	r.wantError("slow.test", 1, true) // what came of it is known all the same
}

func TestSilentServerIsATemporaryFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]zone{"a.test": {silent: true}}, func(c *Config) { c.Timeout = 60 * time.Millisecond })
	_, err := r.LookupNetIP(t.Context(), "ip", "a.test")
	var failed *net.DNSError
	if !errors.As(err, &failed) || failed.IsNotFound {
		t.Errorf("look up = %v, want a failure that is no denial", err)
	}
}

func TestHundredNamesAtOnce(t *testing.T) {
	t.Parallel()
	zones := map[string]zone{"same.test": {addrs: []string{"192.0.2.200"}, ttl: 60}}
	for i := range 100 {
		zones[fmt.Sprintf("h%d.test", i)] = zone{addrs: []string{fmt.Sprintf("192.0.2.%d", i)}, ttl: 60}
	}
	r := newRig(t, zones, nil)
	var waiting sync.WaitGroup
	for i := range 100 {
		waiting.Go(func() { r.want(fmt.Sprintf("h%d.test", i), 1, fmt.Sprintf("192.0.2.%d", i)) })
		waiting.Go(func() {
			if got, err := r.LookupNetIP(t.Context(), "ip", "same.test"); err != nil || got[0].String() != "192.0.2.200" {
				t.Errorf("look up same.test = %v, %v", got, err)
			}
		})
	}
	waiting.Wait()
	if n := r.count("same.test"); n != 1 {
		t.Errorf("a name that a hundred wait for was asked for %d times, want once", n)
	}
}

func TestPrefetch(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	r := newRig(t, map[string]zone{"a.test": {addrs: []string{"192.0.2.1"}, ttl: 60},
		"b.test": {hold: hold}, "c.test": {addrs: []string{"192.0.2.3"}, ttl: 60}}, func(c *Config) { c.Ahead = 1 })
	r.Prefetch(t.Context(), "192.0.2.77")
	r.Prefetch(t.Context(), "A.test")
	r.settled()
	r.want("a.test", 1, "192.0.2.1")
	r.Prefetch(t.Context(), "a.test") // known
	r.Prefetch(t.Context(), "b.test")
	r.Prefetch(t.Context(), "c.test") // one too many
	close(hold)
	r.settled()
	if a, b, c := r.count("a.test"), r.count("b.test"), r.count("c.test"); a != 1 || b != 1 || c != 0 {
		t.Errorf("asked for %d, %d, %d times, want 1, 1, 0", a, b, c)
	}
}

func TestDistrustAsksAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]zone{"a.test": {addrs: []string{"192.0.2.1"}, ttl: 3600}}, nil)
	r.want("a.test", 1, "192.0.2.1")
	r.set("a.test", zone{addrs: []string{"192.0.2.2"}, ttl: 3600})
	r.want("a.test", 1, "192.0.2.1")
	r.Distrust("a.test")
	r.want("a.test", 2, "192.0.2.2")
	r.set("a.test", zone{fails: true})
	r.Distrust("a.test")
	r.want("a.test", 4, "192.0.2.2")
}

func TestLongAnswersComeOverTCP(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]zone{"a.test": {addrs: []string{"192.0.2.1"}, ttl: 600, cut: true}}, nil)
	r.want("a.test", 2, "192.0.2.1")
	r.pass(5 * time.Minute)
	r.want("a.test", 2, "192.0.2.1") // its TTL was read from the stream
	r.settled()
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	const names = 16
	r := newRig(t, map[string]zone{"kept.test": {addrs: []string{"192.0.2.1"}, ttl: 600}}, func(c *Config) { c.Names = names })
	r.want("kept.test", 1, "192.0.2.1")
	for i := range 10 * names {
		r.wantError(fmt.Sprintf("n%d.test", i), 1, true)
		r.want("kept.test", 1, "192.0.2.1") // in use, so it is not dropped
		if n := r.len(); n > names {
			t.Fatalf("%v names are kept, want at most %d", n, names)
		}
	}
	r.wantError("n0.test", 2, true) // dropped since
}

func TestClosedCache(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]zone{"a.test": {silent: true}}, nil)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if got, err := r.LookupNetIP(t.Context(), "ip", "a.test"); err == nil {
			t.Errorf("look up = %v, want an error", got)
		}
	})
	<-r.heard
	r.Close()
	waiting.Wait()
	r.wantError("b.test", 0, false)
	r.Prefetch(t.Context(), "b.test")
	if n := r.count("b.test"); n != 0 {
		t.Errorf("a closed cache asked %d times", n)
	}
}

func TestNamesOfTheHostsFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	got, err := r.LookupNetIP(t.Context(), "ip", "localhost")
	if err != nil || len(got) == 0 || !got[0].IsLoopback() {
		t.Errorf("localhost = %v, %v; want a loopback address", got, err)
	}
	if n := r.count("localhost"); n != 0 {
		t.Errorf("the server was asked for localhost %d times", n)
	}
}

func BenchmarkKnownName(b *testing.B) {
	c := New(Config{})
	defer c.Close()
	now := clock.System{}.Now()
	c.entries.put("a.test", &entry{addrs: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, ageing: now.Add(time.Hour), until: now.Add(time.Hour)})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.LookupNetIP(b.Context(), "ip", "a.test"); err != nil {
			b.Fatal(err)
		}
	}
}
