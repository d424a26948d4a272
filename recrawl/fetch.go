package recrawl

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/recrawl/canon"
)

// machineNow is the time of the machine's own clock: network time-outs and durations do not scale with the speed of the
// daemon's.
func machineNow() time.Time { return clock.System{}.Now() }

// fetcher makes exchanges: one request, one answer, no redirect followed, no cookie kept. It is safe for concurrent
// use.
type fetcher struct {
	dialer *dialer
	limits Limits
	roots  *x509.CertPool
	known  tls.ClientSessionCache // shared by all transports
	bodies *bodies

	mu         sync.Mutex
	transports map[int64]*http.Transport // by the bytes of headers they accept; guarded by mu
}

// tlsSessions is with how many servers the last TLS session is remembered: to resume one spares both sides the certificates
// and us a fifth of the work. Each takes a few kilobytes.
const tlsSessions = 4096

func newFetcher(d *dialer, limits Limits, roots *x509.CertPool, memory int64) *fetcher {
	f := &fetcher{dialer: d, limits: limits, roots: roots, transports: make(map[int64]*http.Transport),
		known: tls.NewLRUClientSessionCache(tlsSessions), bodies: newBodies(memory)}
	d.sockets.spare = f.close
	return f
}

// answer is what a server said. Body is complete and decoded where the status is 200 and there was no error.
type answer struct {
	Status    int
	Proto     string
	RemoteIP  string
	Header    http.Header
	Transfer  []string // transfer codings, which net/http takes out of Header
	Body      []byte
	WireBytes int64
	HeadBytes int64 // of the heads, interim ones left out
	Request   []byte
	Again     int           // requests beyond the first: 1 where a kept connection brought no answer
	Took      time.Duration // without what our own bounds took
}

// exchange is what is asked for and what it may cost.
type exchange struct {
	url         canon.URL
	header      http.Header
	secret      map[string]bool // fields that are not archived
	time        time.Duration
	headerBytes int64
	caps        bodyCaps
}

// Causes of an exchange's end that are ours.
var (
	errPageTime = errors.New("the page's time limit is over")
	errTooSlow  = errors.New("the body comes too slowly")
	errRetried  = errors.New("the server refuses the request stream again and again")
)

// do makes the exchange. Its error is a *crowdedError where nothing was asked because others are visited at the host's
// address, the context's where that ended, and else a *fetchError. The answer is filled as far as it came.
func (f *fetcher) do(ctx context.Context, x exchange) (answer, error) {
	var a answer
	place, err := f.dialer.enter(ctx, x.url.Hostname())
	if err != nil {
		return a, err
	}
	defer place.leave()
	began := machineNow()
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer clock.AfterFunc(x.time, func() { cancel(errPageTime) })()

	at := &progress{cancel: cancel}
	request := newRequest(httptrace.WithClientTrace(limited, at.trace(limited)), x)
	err = f.roundTrip(request, at, x, &a)
	if limited.Err() == nil && at.mistook(err) {
		a.Again++
		at.demandFresh()
		err = f.roundTrip(request, at, x, &a)
	}
	now := machineNow()
	took, waited := now.Sub(began), at.waited(now)
	a.Took = max(took-waited, time.Microsecond)
	if a.Status == http.StatusOK { // nothing else is archived
		a.RemoteIP = at.remoteIP()
	}
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		return a, ctx.Err()
	}
	if err = causeOf(limited, err); isTimeout(err) && waited > took/2 {
		err = &classedError{class: models.OwnLimit, err: errOwnWaits}
	}
	return a, &fetchError{stage: at.stage(), err: err}
}

// causeOf prefers our own reason for ending an exchange over the error that it led to.
func causeOf(ctx context.Context, err error) error {
	if errors.Is(err, errBodiesFull) {
		return err
	}
	switch cause := context.Cause(ctx); cause {
	case errPageTime, errTooSlow, errRetried:
		return cause
	}
	return err
}

func (f *fetcher) roundTrip(r *http.Request, at *progress, x exchange, a *answer) error {
	response, err := f.transport(x.headerBytes).RoundTrip(r)
	at.answered(response)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	at.at.Store(stageBody)
	a.Status, a.Proto, a.Header = response.StatusCode, response.Proto, response.Header
	a.HeadBytes += headBytes(response)
	a.Transfer = response.TransferEncoding
	wire := &counter{from: response.Body, limit: x.caps.wire}
	defer func() { a.WireBytes = wire.n.Load() }()
	if response.StatusCode == http.StatusSwitchingProtocols {
		return nil // the body is the bare connection: nothing ends it
	}
	if response.StatusCode != http.StatusOK && response.Body == http.NoBody {
		return nil
	}
	defer f.watchRate(at, wire)()
	if response.StatusCode != http.StatusOK {
		drain(wire)
		return nil
	}
	a.Request = requestHead(r, x.secret)
	list, err := codings(response.Header)
	if err != nil {
		return err
	}
	x.caps.expected = response.ContentLength
	if err := x.caps.refuse(len(list) > 0); err != nil {
		return err
	}
	if len(list) > 0 || x.caps.expected < 0 || x.caps.expected > freeBody {
		leave := f.bodies.grant(response, list, x.caps, &at.leave)
		defer leave.end()
		x.caps.more = func() error { return leave.ask(r.Context()) }
	}
	a.Body, err = readBody(wire, list, x.caps)
	return err
}

// headBytes is how long the head of an answer is as HTTP/1.1 writes it: what one without a body costs.
func headBytes(r *http.Response) int64 {
	n := len("HTTP/1.1 ") + len(r.Status) + len("\r\n\r\n")
	for name, values := range r.Header {
		for _, value := range values {
			n += len(name) + len(value) + len(": \r\n")
		}
	}
	return int64(n)
}

// drainBytes is how much of a body that nobody wants is read to keep the connection for the next request.
const drainBytes = 64 << 10

func drain(body io.Reader) {
	// An error costs the connection and nothing else.
	_, _ = io.CopyN(io.Discard, body, drainBytes)
}

// readBuffer is how much of an answer is read at once: with the library's 4 KiB most pages take a second turn.
const readBuffer = 16 << 10

// transport is the one for answers with at most so many bytes of headers. All of them share the guarded dialer.
func (f *fetcher) transport(headerBytes int64) *http.Transport {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t, ok := f.transports[headerBytes]; ok {
		return t
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	t := &http.Transport{
		Proxy:                  nil, // a proxy would be dialled in place of the address that was judged
		DialContext:            f.dialer.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: f.roots, ClientSessionCache: f.known},
		TLSHandshakeTimeout:    f.limits.TLS,
		ResponseHeaderTimeout:  f.limits.Header,
		MaxResponseHeaderBytes: headerBytes,
		DisableCompression:     true, // decoded here, under caps
		Protocols:              &protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    64, // as many as may be in flight to a host
		IdleConnTimeout:        60 * time.Second,
		ReadBufferSize:         readBuffer,
	}
	f.transports[headerBytes] = t
	return t
}

// close lets go of the idle connections.
func (f *fetcher) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.transports {
		t.CloseIdleConnections()
	}
}

// newRequest asks for the URL as it is spelled: net/url would refuse or re-encode some paths that the standard keeps.
func newRequest(ctx context.Context, x exchange) *http.Request {
	_, host, _ := strings.Cut(x.url.Origin(), "://")
	target := &url.URL{Scheme: x.url.Scheme(), Host: host, Opaque: x.url.RequestURI()}
	if strings.HasPrefix(target.Opaque, "//") { // as Opaque it would be sent as an absolute URL
		target = slashed(x.url, host)
	}
	r := &http.Request{Method: http.MethodGet, URL: target, Host: host, Header: x.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	return r.WithContext(ctx)
}

// slashed is the target where the path begins with two slashes. What net/url would refuse or re-encode is sent as an absolute
// URL, which servers take as well (RFC 9112 section 3.2.2).
func slashed(u canon.URL, host string) *url.URL {
	path, err := url.PathUnescape(u.Path())
	target := &url.URL{Scheme: u.Scheme(), Host: host, Path: path, RawPath: u.Path(), RawQuery: u.Query(),
		ForceQuery: len(u.Path()) < len(u.RequestURI())}
	if err == nil && target.RequestURI() == u.RequestURI() {
		return target
	}
	return &url.URL{Scheme: u.Scheme(), Host: host, Opaque: "//" + host + u.RequestURI()}
}
