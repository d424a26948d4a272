// Package hostile is a web server that misbehaves, for tests of what must withstand it: each path of an Origin answers
// with one fault, written byte by byte on the connection where net/http would not let it be made. Nothing in it is of
// use to a running daemon.
package hostile

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"recrawld/clock"
)

// Answer speaks on a connection to one request. When it returns, the connection carries the next request if the answer
// left it open.
type Answer func(c *Conn)

// Request is one request that an origin was asked.
type Request struct {
	At     time.Time
	Conn   int // number of the connection, from 1
	Path   string
	Header http.Header
}

// Origin answers on loopback. It is safe for concurrent use.
type Origin struct {
	listener net.Listener
	scheme   string
	ctx      context.Context
	stop     context.CancelFunc
	served   sync.WaitGroup

	mu       sync.Mutex
	answers  map[string]Answer     // by path with query; guarded by mu
	other    Answer                // of all other paths; guarded by mu; nil: 404
	requests []Request             // guarded by mu
	open     map[net.Conn]struct{} // guarded by mu
	accepted int                   // guarded by mu
}

// Listen starts an origin at an address such as "127.0.0.1:0" or "[::1]:0". Paths that answers does not hold are 404.
func Listen(address string, answers map[string]Answer) (*Origin, error) {
	return listen(address, "http", nil, answers)
}

// ListenTLS starts an origin that speaks TLS.
func ListenTLS(address string, c *tls.Config, answers map[string]Answer) (*Origin, error) {
	return listen(address, "https", c, answers)
}

func listen(address, scheme string, c *tls.Config, answers map[string]Answer) (*Origin, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for a hostile origin: %w", err)
	}
	if c != nil {
		listener = tls.NewListener(listener, c)
	}
	ctx, stop := context.WithCancel(context.Background())
	o := &Origin{listener: listener, scheme: scheme, ctx: ctx, stop: stop, answers: make(map[string]Answer),
		open: make(map[net.Conn]struct{})}
	for path, answer := range answers {
		o.answers[path] = answer
	}
	o.served.Go(o.accept)
	return o, nil
}

// Close ends all connections and waits for the answers.
func (o *Origin) Close() {
	o.stop()
	o.listener.Close()
	o.mu.Lock()
	for conn := range o.open {
		conn.Close()
	}
	o.mu.Unlock()
	o.served.Wait()
}

// Addr is host and port.
func (o *Origin) Addr() string { return o.listener.Addr().String() }

// URL is the address of a path, which begins with a slash.
func (o *Origin) URL(path string) string { return o.scheme + "://" + o.Addr() + path }

// Set changes the answer of a path.
func (o *Origin) Set(path string, answer Answer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers[path] = answer
}

// SetDefault changes the answer of the paths that have none of their own: a server whose missing pages are not 404.
func (o *Origin) SetDefault(answer Answer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.other = answer
}

// Requests are those asked so far, in order.
func (o *Origin) Requests() []Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]Request(nil), o.requests...)
}

func (o *Origin) accept() {
	for {
		conn, err := o.listener.Accept()
		if err != nil {
			return // the listener was closed
		}
		n, ok := o.track(conn)
		if !ok {
			conn.Close()
			return
		}
		o.served.Go(func() { o.serve(conn, n) })
	}
}

func (o *Origin) track(conn net.Conn) (n int, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ctx.Err() != nil {
		return 0, false
	}
	o.accepted++
	o.open[conn] = struct{}{}
	return o.accepted, true
}

func (o *Origin) serve(conn net.Conn, n int) {
	defer func() {
		conn.Close()
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.open, conn)
	}()
	in, owed := bufio.NewReader(conn), ""
	for {
		path, header, err := readHead(in)
		if err != nil {
			return
		}
		answer := o.note(Request{At: clock.System{}.Now(), Conn: n, Path: path, Header: header})
		c := &Conn{Conn: conn, Header: header, Path: path, in: in, ctx: o.ctx}
		if owed != "" && !c.Send(owed) {
			return
		}
		answer(c)
		owed = c.owed
		if c.closed {
			return
		}
	}
}

func (o *Origin) note(r Request) Answer {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(o.requests, r)
	if answer, ok := o.answers[r.Path]; ok {
		return answer
	}
	if o.other != nil {
		return o.other
	}
	return Whole(http.StatusNotFound, nil, "not here")
}

// maxHead is how long a request head may be: longer than any URL under test.
const maxHead = 256 << 10

var errHead = errors.New("not a request head")

// readHead reads request line and fields; unlike http.ReadRequest it takes any target.
func readHead(in *bufio.Reader) (path string, header http.Header, err error) {
	line, err := readLine(in)
	if err != nil {
		return "", nil, err
	}
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return "", nil, fmt.Errorf("%w: %.80q", errHead, line)
	}
	header = make(http.Header)
	for total := len(line); total < maxHead; total += len(line) {
		if line, err = readLine(in); err != nil || line == "" {
			return fields[1], header, err
		}
		name, value, _ := strings.Cut(line, ":")
		header.Add(name, strings.TrimSpace(value))
	}
	return "", nil, errHead
}

func readLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}

// Conn is the connection of one request. Its methods report whether the peer still listens.
type Conn struct {
	net.Conn
	Path   string
	Header http.Header

	in     *bufio.Reader
	ctx    context.Context // of the origin: ends with it
	owed   string
	closed bool
}

// Owe sends s late: before the answer to the connection's next request, once that has come.
func (c *Conn) Owe(s string) { c.owed = s }

// Send writes the parts.
func (c *Conn) Send(parts ...string) bool {
	for _, part := range parts {
		if _, err := io.WriteString(c.Conn, part); err != nil {
			c.closed = true
			return false
		}
	}
	return true
}

// Drip writes s byte by byte, one each interval.
func (c *Conn) Drip(s string, interval time.Duration) bool {
	var machine clock.System
	for i := range len(s) {
		if !c.Send(s[i:i+1]) || machine.SleepUntil(c.ctx, machine.Now().Add(interval)) != nil {
			return false
		}
	}
	return true
}

// Hangup closes the connection.
func (c *Conn) Hangup() {
	c.closed = true
	c.Conn.Close()
}

// Stall says nothing more until the peer goes away.
func (c *Conn) Stall() {
	// Whatever ends the reading, the peer is gone.
	_, _ = io.Copy(io.Discard, c.in)
	c.Hangup()
}

// Reset closes the connection with a TCP reset.
func (c *Conn) Reset() {
	if raw, ok := c.raw().(*net.TCPConn); ok {
		_ = raw.SetLinger(0) // a failure shows as an orderly close, which the test notices
	}
	c.closed = true
	c.raw().Close()
}

// HalfClose ends our direction and stays.
func (c *Conn) HalfClose() {
	if raw, ok := c.raw().(*net.TCPConn); ok {
		_ = raw.CloseWrite()
	}
	c.Stall()
}

func (c *Conn) raw() net.Conn {
	if t, ok := c.Conn.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c.Conn
}
