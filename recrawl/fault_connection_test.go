package recrawl

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

// The tests named TestFault_NNN_ are the rows of the fault catalogue.

// names is a resolver that knows what it is told; each look-up of a name takes its next answer, the last one stays.
type names struct {
	mu      sync.Mutex
	answers map[string][][]string // guarded by mu
	err     error
}

func (n *names) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return nil, n.err
	}
	answers, ok := n.answers[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		n.answers[host] = answers[1:]
	}
	var addrs []netip.Addr
	for _, text := range answers[0] {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, nil
}

// slowNames never answers before its context ends.
type slowNames struct{}

func (slowNames) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, &net.DNSError{Err: ctx.Err().Error(), Name: host, IsTimeout: true}
}

func resolving(r Resolver) func(*Config, *config.Settings) {
	return func(c *Config, _ *config.Settings) { c.Resolver = r }
}

func TestFault_001_NameDoesNotExist(t *testing.T) {
	t.Parallel()
	out := newRig(t, resolving(&names{})).fetch("http://nowhere.test/")
	wantFailed(t, out, models.DNSNotFound)
	if !out.Class.HostWide() {
		t.Errorf("%v is not taken as host-wide", out.Class)
	}
}

func TestFault_002_ResolverFails(t *testing.T) {
	t.Parallel()
	failing := &names{err: &net.DNSError{Err: "server misbehaving", IsTemporary: true}}
	wantFailed(t, newRig(t, resolving(failing)).fetch("http://any.test/"), models.DNSTemporary)
}

func TestFault_003_ResolverIsSilent(t *testing.T) {
	t.Parallel()
	out := newRig(t, func(c *Config, _ *config.Settings) {
		c.Resolver, c.Limits.DNS = slowNames{}, 50*time.Millisecond
	}).fetch("http://any.test/")
	wantFailed(t, out, models.DNSTemporary)
	if out.Took > 5*time.Second {
		t.Errorf("a silent resolver held the visit for %v", out.Took)
	}
}

func TestFault_006_ConnectionRefused(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String() + "/"
	listener.Close()
	wantFailed(t, newRig(t, nil).fetch(url), models.ConnRefused)
}

func TestFault_007_Reset(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/before": hostile.Reset(), "/body": hostile.ResetMidBody()})
	r := newRig(t, nil)
	wantFailed(t, r.fetch(o.URL("/before")), models.ConnReset)
	wantFailed(t, r.fetch(o.URL("/body")), models.ConnReset)
	if n := len(o.Requests()); n != 2 {
		t.Errorf("two visits made %d requests, want no retry on a fresh connection", n)
	}
}

// TestFault_008_BlackHole stands in for a dropped SYN with a connect that never ends: loopback drops nothing.
func TestFault_008_BlackHole(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config, _ *config.Settings) { c.Limits.Dial = 50 * time.Millisecond })
	attempts := 0
	r.fetcher.dialer.connect = func(ctx context.Context, _, _ string) (net.Conn, error) {
		attempts++
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
	}
	wantFailed(t, r.fetch("http://127.0.0.1/"), models.ConnTimeout)
	if attempts != 1 {
		t.Errorf("%d attempts at one address, want 1", attempts)
	}
}

func TestFault_009_HalfClose(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/length": hostile.HalfClose(true), "/none": hostile.HalfClose(false)})
	r := newRig(t, nil)
	wantFailed(t, r.fetch(o.URL("/length")), models.BodyShort)
	wantBody(t, r.fetch(o.URL("/none")), "<p>half")
}

// listenTLS starts an origin whose certificate is for the names and valid until then, and a visitor that trusts its
// authority where trusted is set.
func listenTLS(t *testing.T, until time.Time, trusted bool, names ...string) (*hostile.Origin, *rig) {
	t.Helper()
	authority, err := hostile.NewAuthority(clock.System{}.Now())
	if err != nil {
		t.Fatal(err)
	}
	server, err := authority.Server(until, names...)
	if err != nil {
		t.Fatal(err)
	}
	o, err := hostile.ListenTLS("127.0.0.1:0", server, map[string]hostile.Answer{
		"/": hostile.Whole(http.StatusOK, map[string]string{"Content-Type": "text/html"}, "<p>secret"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o, newRig(t, func(c *Config, _ *config.Settings) {
		if c.Roots = x509.NewCertPool(); trusted {
			c.Roots = authority.Pool()
		}
	})
}

func TestFault_010_Certificates(t *testing.T) {
	t.Parallel()
	soon, past := clock.System{}.Now().Add(24*time.Hour), clock.System{}.Now().Add(-time.Hour)
	for _, test := range []struct {
		name    string
		until   time.Time
		trusted bool
		host    string
		class   models.ErrorClass
	}{
		{"good", soon, true, "127.0.0.1", models.ClassNone},
		{"expired", past, true, "127.0.0.1", models.TLSCertificate},
		{"wrong host", soon, true, "other.test", models.TLSCertificate},
		{"unknown authority", soon, false, "127.0.0.1", models.TLSCertificate},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o, r := listenTLS(t, test.until, test.trusted, test.host)
			out := r.fetch(o.URL("/"))
			if test.class == models.ClassNone {
				wantBody(t, out, "<p>secret")
				return
			}
			wantFailed(t, out, test.class)
			if n := len(o.Requests()); n != 0 {
				t.Errorf("%d requests went to a server that is not who it says", n)
			}
		})
	}
}

func TestFault_011_HandshakeStalls(t *testing.T) {
	t.Parallel()
	o := listen(t, nil) // waits for a request that never comes in clear
	r := newRig(t, func(c *Config, _ *config.Settings) { c.Limits.TLS = 50 * time.Millisecond })
	stalled, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stalled.Close() })
	wantFailed(t, r.fetch("https://"+stalled.Addr().String()+"/"), models.TLSProtocol)
	if len(o.Requests()) != 0 {
		t.Error("a stalled handshake fell back to another server")
	}
}

func TestFault_011_OldTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	server.StartTLS()
	t.Cleanup(server.Close)
	wantFailed(t, newRig(t, nil).fetch(server.URL+"/"), models.TLSProtocol)
}

func TestFault_012_ProtocolMixedUp(t *testing.T) {
	t.Parallel()
	plain := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, nil, "plain")})
	wantFailed(t, newRig(t, nil).fetch(strings.Replace(plain.URL("/"), "http:", "https:", 1)), models.TLSProtocol)

	secret, r := listenTLS(t, clock.System{}.Now().Add(time.Hour), true, "127.0.0.1")
	out := r.fetch(strings.Replace(secret.URL("/"), "https:", "http:", 1))
	if out.Kind != models.Failed || out.Class != models.HTTPProtocol && out.Class != models.ConnReset {
		t.Errorf("clear text to a TLS port = %v %v (%s)", out.Kind, out.Class, out.Detail)
	}
}

func TestFault_014_KeptConnectionDies(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Dying("<p>alive")})
	r := newRig(t, nil)
	for range 4 {
		wantBody(t, r.fetch(o.URL("/")), "<p>alive")
	}
	if n := len(o.Requests()); n != 4 {
		t.Errorf("4 visits reached the server %d times", n)
	}
}

func TestFault_016_OutOfDescriptors(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.fetcher.dialer.connect = func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "socket", Net: "tcp", Err: syscall.EMFILE}
	}
	out := r.fetch("http://127.0.0.1/")
	wantFailed(t, out, models.OwnLimit)
	if !out.Class.Ours() {
		t.Errorf("%v counts against the site", out.Class)
	}
}

// No local port is free: that is no fault of the host. An address of IPv6 that this machine cannot ask from is none of ours.
func TestFault_016_OutOfPorts(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]models.ErrorClass{"127.0.0.1:80": models.OwnLimit, "[::1]:80": models.ConnOther} {
		to := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))
		err := &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)}
		if got := dialClass(err); got != want {
			t.Errorf("%v is %v, want %v", err, got, want)
		}
	}
}

func TestFault_018_ProxyInTheEnvironment(t *testing.T) {
	proxy := listen(t, nil)
	t.Setenv("HTTP_PROXY", proxy.URL(""))
	t.Setenv("http_proxy", proxy.URL(""))
	out := newRig(t, resolving(&names{})).fetch("http://nowhere.test/")
	wantFailed(t, out, models.DNSNotFound)
	if n := len(proxy.Requests()); n != 0 {
		t.Errorf("%d requests went to a proxy that is not configured", n)
	}
}

// listenHTTP2 starts a server that speaks HTTP/2, and a visitor that trusts it.
func listenHTTP2(t *testing.T, handler http.HandlerFunc) (url string, r *rig) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, newRig(t, func(c *Config, _ *config.Settings) {
		c.Roots = x509.NewCertPool()
		c.Roots.AddCert(server.Certificate())
	})
}

// TestFault_013_StreamsReset asks for a path that Go's HTTP/2 server refuses with RST_STREAM.
func TestFault_013_StreamsReset(t *testing.T) {
	t.Parallel()
	url, r := listenHTTP2(t, func(http.ResponseWriter, *http.Request) { t.Error("the server took the request") })
	out := r.fetch(url + "/a%zz")
	wantFailed(t, out, models.HTTPProtocol)
	if out.Took > 10*time.Second {
		t.Errorf("a refused stream held the visit for %v", out.Took)
	}
}

func TestFault_013_StreamEndsMidBody(t *testing.T) {
	t.Parallel()
	url, r := listenHTTP2(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<p>half"))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	wantFailed(t, r.fetch(url+"/"), models.HTTPProtocol)
}

func TestFault_013_HeadersTooLargeOverHTTP2(t *testing.T) {
	t.Parallel()
	url, r := listenHTTP2(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 25 {
			w.Header().Set(fmt.Sprintf("X-Many-%d", i), strings.Repeat("y", 1<<10))
		}
	})
	r.settings.HeaderBytes = 20 << 10
	wantFailed(t, r.fetch(url+"/"), models.HTTPProtocol) // all that Go's client says of it is PROTOCOL_ERROR
}

func TestVisitOverHTTP2(t *testing.T) {
	t.Parallel()
	url, r := listenHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>" + r.Proto + " " + r.RequestURI))
	})
	out := r.fetch(url + "/a%7Ez?b=%20c")
	wantBody(t, out, "<p>HTTP/2.0 /a%7Ez?b=%20c")
	if out.Proto != "HTTP/2.0" {
		t.Errorf("Proto = %q, want HTTP/2.0", out.Proto)
	}
}

func TestVisitOverIPv6(t *testing.T) {
	t.Parallel()
	o, err := hostile.Listen("[::1]:0", map[string]hostile.Answer{"/": hostile.Whole(200, nil, "six")})
	if err != nil {
		t.Skipf("no IPv6 on this machine: %v", err)
	}
	t.Cleanup(o.Close)
	out := newRig(t, nil).fetch(o.URL("/"))
	wantBody(t, out, "six")
	if out.RemoteIP != "::1" {
		t.Errorf("RemoteIP = %q, want ::1", out.RemoteIP)
	}
}
