package recrawl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/internal/shared"
	"recrawld/models"
	"recrawld/recrawl/canon"
)

// public is the network configuration of an operator who allows nothing special.
var public = config.Network{Ports: []uint16{80, 443, 8080, 8443}}

func publicOnly(c *Config, _ *config.Settings) { c.Network = public }

// recorder stands in for connect: it notes what would have been dialled and refuses.
type recorder struct {
	mu      sync.Mutex
	dialled []string // guarded by mu
}

func (r *recorder) connect(_ context.Context, network, address string) (net.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dialled = append(r.dialled, address)
	return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("the test dials nothing")}
}

func record(r *rig) *recorder {
	rec := &recorder{}
	r.fetcher.dialer.connect = rec.connect
	return rec
}

// readLines decodes a file of one JSON value a line.
func readLines[T any](t *testing.T, name string) []T {
	t.Helper()
	file, err := os.Open(shared.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []T
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return all
}

func TestGuardTargets(t *testing.T) {
	t.Parallel()
	type target struct{ Kind, Input, Want string }
	g := newGuard(public)
	for _, c := range readLines[target](t, "conformance/ssrf/targets.jsonl") {
		if c.Kind == "url" {
			r := newRig(t, publicOnly)
			r.fetcher.dialer.resolver = &names{answers: map[string][][]string{
				"localhost": {{"127.0.0.1", "::1"}}, "foo.localhost": {{"127.0.0.1"}}, "ip6-localhost": {{"::1"}},
				"metadata.google.internal": {{"169.254.169.254"}},
			}}
			rec := record(r)
			out := r.turn(t.Context(), models.Page{URL: c.Input}, anyRobots(c.Input)...)
			if len(rec.dialled) > 0 || out.Kind != models.Failed && out.Kind != models.Excluded && out.Kind != models.RobotsFetched {
				t.Errorf("%s = %v (%s), dialled %v; want %s", c.Input, out.Kind, out.Detail, rec.dialled, c.Want)
			}
			continue
		}
		err := g.check(netip.AddrPortFrom(netip.MustParseAddr(c.Input), 80))
		if blocked := err != nil; blocked != (c.Want == "block") {
			t.Errorf("check(%s) = %v, want %s", c.Input, err, c.Want)
		}
	}
}

// anyRobots is a row that lets a URL be asked for, so that the test reaches the dialler.
func anyRobots(url string) []models.Robots {
	u, err := canon.Parse(url)
	if err != nil {
		return nil
	}
	at := models.At(today)
	return []models.Robots{{Origin: u.Origin(), Status: 200, GoodAt: at, FetchedAt: at, ExpiresAt: at + 1000}}
}

func TestFault_005_GuardResolver(t *testing.T) {
	t.Parallel()
	type lookup struct {
		Host    string
		Answers [][]string
		Want    string
	}
	cases := readLines[lookup](t, "conformance/ssrf/resolver.jsonl")
	cases = append(cases,
		lookup{"mixed.test", [][]string{{"10.0.0.1", "93.184.215.14", "::1", "2001:4860:4860::8888"}}, "public only"},
		lookup{"many-public.test", [][]string{{"9.0.0.1", "9.0.0.2", "9.0.0.3", "9.0.0.4", "9.0.0.5", "9.0.0.6"}}, "4 attempts"})
	for _, c := range cases {
		r := newRig(t, publicOnly)
		r.fetcher.dialer.resolver = &names{answers: map[string][][]string{c.Host: c.Answers}}
		rec := record(r)
		out := r.fetch("http://" + c.Host + "/")
		var want models.ErrorClass
		dials := 0
		switch c.Want {
		case "block":
			want = models.BlockedAddress
		case "dns-error":
			want = models.DNSNotFound
		case "public only":
			want, dials = models.ConnOther, 2
		default:
			want, dials = models.ConnOther, maxAttempts
		}
		wantFailed(t, out, want)
		if len(rec.dialled) != dials {
			t.Errorf("%s: dialled %v, want %d attempts", c.Host, rec.dialled, dials)
		}
	}
}

// TestFault_004_Rebinding gives a name a public address first and a private one for ever after.
func TestFault_004_Rebinding(t *testing.T) {
	t.Parallel()
	r := newRig(t, publicOnly)
	r.fetcher.dialer.resolver = &names{answers: map[string][][]string{"two.test": {{"93.184.215.14"}, {"127.0.0.1"}}}}
	rec := record(r)
	wantFailed(t, r.fetch("http://two.test/"), models.ConnOther)
	wantFailed(t, r.fetch("http://two.test/"), models.BlockedAddress)
	if len(rec.dialled) != 1 || rec.dialled[0] != "93.184.215.14:80" {
		t.Errorf("dialled %v, want the public address alone", rec.dialled)
	}
}

// TestGuardNamesTheWayOut: whoever has a site inside is told which setting lets it be visited, also where its robots.txt, which is
// asked for first, is what cannot be had.
func TestGuardNamesTheWayOut(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://wiki.test/":           "address 10.1.2.3:80 is not dialled: it is not public; network.allow names addresses to dial all the same",
		"http://wiki.test:3000/":      "it is not public; network.allow names", // at any port; another one in network.ports would not do
		"http://10.1.2.3/":            "it is not public; network.allow names",
		"http://93.184.215.14:3000/x": "port 3000 is none of those that are; network.ports names them",
	} {
		r := newRig(t, publicOnly)
		r.fetcher.dialer.resolver = &names{answers: map[string][][]string{"wiki.test": {{"10.1.2.3"}}}}
		out := r.turn(t.Context(), pageOf(t, url))
		wantFailed(t, out, models.BlockedAddress)
		if !strings.Contains(out.Detail, want) {
			t.Errorf("%s: %q, want %q", url, out.Detail, want)
		}
	}
}

// TestFault_114_ControlSeesTheAddress checks the last wall: the hook between resolution and connect.
func TestFault_114_ControlSeesTheAddress(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, nil, "inside")})
	g := newGuard(public)
	d := newDialer(&names{}, g, public, Limits{}.withDefaults())
	conn, err := d.connect(t.Context(), "tcp", o.Addr()) // what comes after the dialler's own check
	if err == nil {
		conn.Close()
		t.Fatal("a loopback address was connected to")
	}
	if dialClass(err) != models.BlockedAddress {
		t.Errorf("connect = %v, want a blocked address", err)
	}
	for _, c := range []struct{ network, address string }{
		{"udp4", "93.184.215.14:80"}, {"tcp6", "[fe80::1%lo]:80"}, {"tcp4", "localhost:80"}, {"tcp4", "93.184.215.14:22"},
	} {
		if err := g.control(t.Context(), c.network, c.address, nil); err == nil {
			t.Errorf("control(%s, %s) lets it pass", c.network, c.address)
		}
	}
	if err := g.control(t.Context(), "tcp4", "93.184.215.14:443", nil); err != nil {
		t.Errorf("control of a public address = %v", err)
	}
}

func TestGuardRedirects(t *testing.T) {
	t.Parallel()
	type redirect struct {
		URL, Location, Want string
		Status              int
	}
	g := newGuard(public)
	for _, c := range readLines[redirect](t, "conformance/ssrf/redirects.jsonl") {
		from, err := canon.Parse(c.URL)
		if err != nil {
			t.Fatal(err)
		}
		target, bad := redirectTarget(g, &models.Page{}, from, http.Header{"Location": {c.Location}})
		switch {
		case strings.HasPrefix(c.Want, "block"):
			if bad == nil || bad.class != models.RedirectBlocked {
				t.Errorf("%q leads to %v (%v), want %s", c.Location, target, bad, c.Want)
			}
		case strings.HasPrefix(c.Want, "error"):
			if bad == nil {
				t.Errorf("%q leads to %v, want %s", c.Location, target, c.Want)
			}
		case strings.HasPrefix(c.Want, "credentials"): // without them it is the page itself
			if bad == nil || bad.class != models.RedirectLoop || strings.Contains(bad.Error(), "pass") {
				t.Errorf("%q leads to %v (%v), want %s", c.Location, target, bad, c.Want)
			}
		case bad != nil || strings.Contains(target.String(), "@"):
			t.Errorf("%q = %v (%v), want %s", c.Location, target, bad, c.Want)
		}
	}
}

// TestGuardSpellings reads every spelling of an IPv4 address as that address, or as no URL.
func TestGuardSpellings(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(shared.Path(t, "conformance/url-urlcanon/funky_ipv4.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spellings map[string]*string
	if err := json.Unmarshal(raw, &spellings); err != nil {
		t.Fatal(err)
	}
	if len(spellings) < 20 {
		t.Fatalf("only %d spellings", len(spellings))
	}
	g := newGuard(public)
	for spelling, want := range spellings {
		u, err := canon.Parse("http://" + spelling + "/")
		switch {
		case err != nil:
		case want == nil:
			if _, err := netip.ParseAddr(u.Hostname()); err == nil {
				t.Errorf("%q is read as the address %s, want none", spelling, u.Hostname())
			}
		case u.Hostname() != *want:
			t.Errorf("%q is read as %s, want %s", spelling, u.Hostname(), *want)
		default:
			byURL, byAddr := g.checkLiteral(u), g.check(netip.AddrPortFrom(netip.MustParseAddr(*want), 80))
			if (byURL == nil) != (byAddr == nil) {
				t.Errorf("%q: checked as URL %v, as address %v", spelling, byURL, byAddr)
			}
		}
	}
}

func TestGuardAllow(t *testing.T) {
	t.Parallel()
	g := newGuard(config.Network{Ports: []uint16{80}, Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}})
	for target, allowed := range map[string]bool{
		"10.1.2.3:9999": true, "[::ffff:10.1.2.3]:9999": true, "10.2.0.1:80": false, "93.184.215.14:80": true,
		"93.184.215.14:9999": false, "127.0.0.1:80": false,
	} {
		if err := g.check(netip.MustParseAddrPort(target)); (err == nil) != allowed {
			t.Errorf("check(%s) = %v, want allowed %v", target, err, allowed)
		}
	}
}

func TestGuardWithoutPortsDialsNothing(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"93.184.215.14:80", "93.184.215.14:22", "[2001:4860:4860::8888]:443"} {
		if newGuard(config.Network{}).check(netip.MustParseAddrPort(target)) == nil {
			t.Errorf("%s may be dialled though no port is configured", target)
		}
	}
}

func TestGuardKnowsOwnAddresses(t *testing.T) {
	t.Parallel()
	for target, own := range map[string]bool{"127.0.0.1:80": true, "[::1]:80": true} {
		if got := isOwnAddress(netip.MustParseAddrPort(target)); got != own {
			t.Errorf("isOwnAddress(%s) = %v, want %v", target, got, own)
		}
	}
	g := newGuard(public)
	g.own = func(target netip.AddrPort) bool { return target.Addr().String() == "93.184.215.14" }
	if g.check(netip.MustParseAddrPort("93.184.215.14:80")) == nil {
		t.Error("an address of this machine may be dialled")
	}
	if err := g.check(netip.MustParseAddrPort("93.184.215.15:80")); err != nil {
		t.Errorf("check of another machine = %v", err)
	}
}

// FuzzDialGuard dials nothing that is not global unicast, however it is written.
func FuzzDialGuard(f *testing.F) {
	for _, seed := range []string{"127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "fe80::1%eth0", "100.64.0.1",
		"fec0::1", "8.8.8.8", "2a00:1450:4001:81b::200e"} {
		f.Add(seed)
	}
	g := newGuard(public)
	f.Fuzz(func(t *testing.T, text string) {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return
		}
		plain := addr.Unmap()
		inside := plain.IsPrivate() || plain.IsLoopback() || plain.IsLinkLocalUnicast() || plain.IsMulticast() ||
			plain.IsUnspecified() || !plain.IsGlobalUnicast() || plain.Zone() != ""
		if err := g.check(netip.AddrPortFrom(addr, 80)); err == nil && inside {
			t.Errorf("%s may be dialled", addr)
		}
	})
}
