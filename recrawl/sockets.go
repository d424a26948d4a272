package recrawl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// sockets bounds what all connections together take: how many are open, and how many bytes a second come in. It is safe
// for concurrent use.
type sockets struct {
	room  chan struct{} // one entry a connection; nil: no bound
	pace  *pace         // nil: no bound
	open  atomic.Int64
	spare func() // lets go of idle connections, when one is wanted and there is no room
}

func newSockets(most int, bytesPerSecond int64) *sockets {
	s := &sockets{spare: func() {}}
	if most > 0 {
		s.room = make(chan struct{}, most)
	}
	if bytesPerSecond > 0 {
		s.pace = &pace{perSecond: float64(bytesPerSecond)}
	}
	return s
}

// errNoRoom says that we are at our own bound.
var errNoRoom = errors.New("as many connections are open as network.connections allows")

// While there is no room, idle connections are looked for again after spareAgain, each time twice as long up to spareLongest:
// those that were in use at one look may be idle at the next, and nobody says so.
const (
	spareAgain   = 5 * time.Millisecond
	spareLongest = 320 * time.Millisecond
)

// reserve waits for room for another connection until ctx ends, which is our fault and not the server's.
func (s *sockets) reserve(ctx context.Context) error {
	if s.room == nil {
		return nil
	}
	for wait := spareAgain; ; wait = min(2*wait, spareLongest) {
		select {
		case s.room <- struct{}{}:
			return nil
		default:
			s.spare()
		}
		over := make(chan struct{})
		stop := clock.AfterFunc(wait, func() { close(over) })
		select {
		case s.room <- struct{}{}:
			stop()
			return nil
		case <-over:
		case <-ctx.Done():
			stop()
			return &classedError{class: models.OwnLimit, err: errNoRoom}
		}
	}
}

func (s *sockets) release() {
	if s.room != nil {
		<-s.room
	}
}

// connect opens a connection that counts until it is closed.
func (s *sockets) connect(ctx context.Context, network, address string,
	open func(ctx context.Context, network, address string) (net.Conn, error)) (net.Conn, error) {
	if err := s.reserve(ctx); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	conn, err := open(ctx, network, address)
	if err != nil {
		s.release()
		return nil, err
	}
	s.open.Add(1)
	remote, _, _ := net.SplitHostPort(conn.RemoteAddr().String()) // in tests a connection may lead to no address
	return &socket{Conn: conn, of: s, remote: remote, closed: make(chan struct{})}, nil
}

// socket is a counted connection.
type socket struct {
	net.Conn
	of     *sockets
	remote string // IP address
	once   sync.Once
	closed chan struct{}
	rests  ownWait
	upkeep upkeep
}

// Read implements net.Conn. What has come beyond the pace is paid for by waiting before more is read: the window of TCP
// fills, and the server waits as well.
func (c *socket) Read(p []byte) (int, error) {
	c.upkeep.set(&c.upkeep.reading, true)
	n, err := c.Conn.Read(p)
	c.upkeep.set(&c.upkeep.reading, false)
	if c.of.pace != nil && n > 0 {
		if wait := c.of.pace.take(n, machineNow()); wait > 0 {
			c.rest(wait)
		}
	}
	return n, err
}

// rest waits so long, or until the connection is closed.
func (c *socket) rest(wait time.Duration) {
	c.rests.begin(machineNow())
	defer func() { c.rests.end(machineNow()) }()
	over := make(chan struct{})
	stop := clock.AfterFunc(wait, func() { close(over) })
	defer stop()
	select {
	case <-over:
	case <-c.closed:
	}
}

// Close implements net.Conn.
func (c *socket) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		close(c.closed)
		c.of.open.Add(-1)
		c.of.release()
	})
	return err
}

// pace is a bucket that leaks so many bytes a second (the generic cell rate algorithm): what comes faster waits its turn.
// It is safe for concurrent use.
type pace struct {
	perSecond float64

	mu   sync.Mutex
	next time.Time // guarded by mu; when all that has come is paid for
}

// paceBurst is how much may come at once after a pause, in time.
const paceBurst = 250 * time.Millisecond

// take counts bytes that came, and tells how long to wait before more is read.
func (p *pace) take(bytes int, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if idle := now.Add(-paceBurst); p.next.Before(idle) {
		p.next = idle
	}
	p.next = p.next.Add(time.Duration(float64(bytes) / p.perSecond * float64(time.Second)))
	return p.next.Sub(now)
}
