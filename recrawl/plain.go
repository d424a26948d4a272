package recrawl

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"recrawld/clock"
)

// plain makes exchanges over connections without TLS by HTTP/1.1, and keeps the connections. The goroutine that asks writes the
// request and reads the answer itself. An http.Transport has two more for each connection, and to wake them in turn costs more
// than what they do; the requests and answers are net/http's here too. It is safe for concurrent use.
type plain struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	header time.Duration // for an answer's headers

	mu    sync.Mutex
	idle  map[string][]*line // by host and port, the one used last at the end; guarded by mu
	order list.List          // of all that are idle, the one used last at the end; guarded by mu
	looks bool               // guarded by mu; there will be a look for those that are not to be kept
}

// As many connections are kept, in all and to one host, and for so long.
const (
	mostIdle     = 512
	mostIdleHost = 64 // as many as may be in flight to a host
	longestIdle  = 60 * time.Second
	lookIdle     = 5 * time.Second // from one look for those that their servers have closed to the next
)

func newPlain(d *dialer, header time.Duration) *plain {
	return &plain{dial: d.dial, header: header, idle: make(map[string][]*line)}
}

// roundTrip is that of an http.Transport, for an answer with at most so many bytes of headers. A request that a kept connection
// did not take, because the server had closed it, is made over another one.
func (p *plain) roundTrip(r *http.Request, at *progress, headerBytes int64) (*http.Response, error) {
	for {
		at.at.Store(stageDial)
		l, err := p.take(r.Context(), addressOf(r))
		if err != nil {
			return nil, err
		}
		at.at.Store(stageHeader)
		at.connected(l.conn)
		response, err := l.roundTrip(r, p.header, headerBytes)
		if err == nil {
			return response, nil
		}
		l.close()
		if !l.used || !l.unheard || isTimeout(err) || r.Context().Err() != nil {
			return nil, err
		}
	}
}

// addressOf is the host and port that a request goes to.
func addressOf(r *http.Request) string {
	if host := r.URL.Host; r.URL.Port() != "" {
		return host
	}
	return strings.TrimSuffix(r.URL.Host, ":") + ":80"
}

// take is a connection that is kept, or a new one.
func (p *plain) take(ctx context.Context, address string) (*line, error) {
	for l := p.kept(address); l != nil; l = p.kept(address) {
		if l.usable(machineNow()) {
			return l, nil
		}
		l.close()
	}
	conn, err := p.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return newLine(p, conn, address), nil
}

// kept takes out the idle connection to an address that was used last; nil where there is none.
func (p *plain) kept(address string) *line {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.idle[address]
	if len(lines) == 0 {
		return nil
	}
	l := lines[len(lines)-1]
	p.remove(l)
	return l
}

// keep takes back a connection for the next request.
func (p *plain) keep(l *line) {
	for _, old := range p.add(l) {
		old.close()
	}
}

// add makes a connection idle, and returns what is not to be kept any more.
func (p *plain) add(l *line) (over []*line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if lines := p.idle[l.address]; len(lines) >= mostIdleHost {
		over = append(over, lines[0])
		p.remove(lines[0])
	} else if p.order.Len() >= mostIdle {
		oldest := p.order.Front().Value.(*line)
		over = append(over, oldest)
		p.remove(oldest)
	}
	l.used, l.since = true, machineNow()
	p.idle[l.address] = append(p.idle[l.address], l)
	l.place = p.order.PushBack(l)
	if !p.looks {
		p.looks = true
		clock.AfterFunc(lookIdle, p.look)
	}
	return over
}

// remove takes out an idle connection. The caller holds mu.
func (p *plain) remove(l *line) {
	p.order.Remove(l.place)
	l.place = nil
	lines := p.idle[l.address]
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i] == l {
			lines = append(lines[:i], lines[i+1:]...)
			break
		}
	}
	if p.idle[l.address] = lines; len(lines) == 0 {
		delete(p.idle, l.address)
	}
}

// look closes what was idle for too long, and what its server has closed, and looks again as long as anything is idle.
func (p *plain) look() {
	for _, l := range p.stale(machineNow()) {
		l.close()
	}
}

// stale takes out the idle connections that are not to be kept.
func (p *plain) stale(now time.Time) (over []*line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at := p.order.Front(); at != nil; {
		l := at.Value.(*line)
		at = at.Next()
		if now.Sub(l.since) >= longestIdle || !quiet(l.conn) {
			over = append(over, l)
			p.remove(l)
		}
	}
	if p.looks = p.order.Len() > 0; p.looks {
		clock.AfterFunc(lookIdle, p.look)
	}
	return over
}

// close lets go of the idle connections.
func (p *plain) close() {
	for _, l := range p.all() {
		l.close()
	}
}

// all takes out all that is idle.
func (p *plain) all() (over []*line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for first := p.order.Front(); first != nil; first = p.order.Front() {
		over = append(over, first.Value.(*line))
		p.remove(first.Value.(*line))
	}
	return over
}
