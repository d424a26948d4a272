package recrawl

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"recrawld/models"
)

// Stages of an exchange, in order.
const (
	stageDial int32 = iota
	stageTLS
	stageHeader
	stageBody
)

// progress follows an exchange, from whichever goroutines the transport uses.
type progress struct {
	cancel   context.CancelCauseFunc
	at       atomic.Int32
	attempts atomic.Int32

	leave ownWait // for a large body

	mu     sync.Mutex
	conn   *socket       // guarded by mu; nil: not connected
	before time.Duration // guarded by mu; what conn had waited for the bandwidth when it was taken, less what those before it did
	kept   bool          // guarded by mu; it carried other answers, of HTTP/1.1
	fresh  bool          // guarded by mu; no such connection will do
	held   *socket       // guarded by mu; which others wait for
}

// maxStreams is how often one request is sent over HTTP/2. By itself net/http would repeat one whose stream is reset up
// to seven times, which is neither polite nor quick; once is what a dying connection calls for.
const maxStreams = 2

func (p *progress) stage() int32 { return p.at.Load() }

func (p *progress) remoteIP() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return ""
	}
	return p.conn.remote
}

// connected notes the connection that the exchange has got.
func (p *progress) connected(c net.Conn, kept bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = kept
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	now := machineNow()
	p.before = -p.rested(now)
	if p.conn, _ = c.(*socket); p.conn != nil {
		p.before += p.conn.rests.total(now)
	}
}

// rested is how long the exchange's connections waited for the bandwidth. The caller holds mu.
func (p *progress) rested(now time.Time) time.Duration {
	if p.conn == nil {
		return -p.before
	}
	return p.conn.rests.total(now) - p.before
}

// waited is how long the exchange waited for bounds of ours since it has a connection.
func (p *progress) waited(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rested(now) + p.leave.total(now)
}

// hold takes the connection for a request of HTTP/1.1. Where that is refused the connection is closed: net/http finds that
// nothing of the request was written, and goes on to the next.
func (p *progress) hold(ctx context.Context) {
	p.mu.Lock()
	conn, kept, fresh := p.conn, p.kept, p.fresh
	p.mu.Unlock()
	switch {
	case conn == nil:
	case kept && fresh:
		conn.Close()
	case conn.hold(ctx, kept):
		p.mu.Lock()
		p.held = conn
		p.mu.Unlock()
	}
}

// answered lets go of the connection, and of its future where another answer may hide in it; response is nil where there is
// none.
func (p *progress) answered(response *http.Response) {
	p.mu.Lock()
	conn := p.held
	p.held = nil
	p.mu.Unlock()
	if conn == nil {
		return
	}
	if response != nil && namesBody(response) {
		conn.Close()
	}
	conn.release()
}

// mistook tells whether err is that a kept connection brought something that is no answer. It may be what is left over of
// another's, and is no word on the page.
func (p *progress) mistook(err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil || !p.kept || p.stage() != stageHeader {
		return false
	}
	class := (&fetchError{stage: stageHeader, err: err}).class()
	return class == models.HTTPProtocol || class == models.HeaderTooLarge
}

// demandFresh has the next request made on a connection that carried no other.
func (p *progress) demandFresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fresh = true
}

func (p *progress) trace(ctx context.Context) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { p.at.Store(stageDial) },
		// A connection that was begun goes on when another is free before it, and says so here.
		TLSHandshakeStart: func() { p.at.CompareAndSwap(stageDial, stageTLS) },
		GotConn: func(info httptrace.GotConnInfo) {
			p.at.Store(stageHeader)
			secured, ok := info.Conn.(*tls.Conn)
			http2 := ok && secured.ConnectionState().NegotiatedProtocol == "h2"
			if p.attempts.Add(1) > maxStreams && http2 {
				p.cancel(errRetried)
			}
			p.connected(info.Conn, info.Reused && !http2)
			if !http2 {
				p.hold(ctx)
			}
		},
	}
}
