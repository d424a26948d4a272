package recrawl

import (
	"bufio"
	"bytes"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"syscall"
	"time"
)

// line is a connection of plain. It belongs to one exchange at a time.
type line struct {
	of      *plain
	address string
	conn    net.Conn
	in      *bufio.Reader // of the line itself
	out     bytes.Buffer
	room    int64 // bytes that may still be read
	broken  error // why nothing more can be read; nil: it can
	unheard bool  // nothing came of the present answer
	used    bool  // an exchange was made over it before

	since time.Time     // guarded by of.mu; when it became idle
	place *list.Element // guarded by of.mu; nil: not idle
}

func newLine(p *plain, conn net.Conn, address string) *line {
	l := &line{of: p, address: address, conn: conn}
	l.in = bufio.NewReader(l)
	return l
}

// Read implements io.Reader for l.in.
func (l *line) Read(b []byte) (int, error) {
	if l.room <= 0 {
		return 0, errHeadersFull
	}
	n, err := l.conn.Read(b[:min(int64(len(b)), l.room)])
	l.room -= int64(n)
	if err != nil {
		l.broken = err
	}
	return n, err
}

// errHeadersFull is what net/http says in other words (headerClass).
var errHeadersFull = errors.New("response headers exceeded their bound")

func (l *line) close() {
	_ = l.conn.Close() // there is nothing left to be done with it
}

// briefly is for how long a connection may be idle without a look whether the server has closed it, or has sent what nobody
// asked for.
const briefly = 10 * time.Millisecond

// usable tells whether a connection that was idle can be used again.
func (l *line) usable(now time.Time) bool {
	return now.Sub(l.since) < briefly || quiet(l.conn)
}

// quiet tells whether a connection is open, as far as can be told, and nothing waits to be read.
func quiet(conn net.Conn) bool {
	if counted, ok := conn.(*socket); ok {
		conn = counted.Conn
	}
	system, ok := conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := system.SyscallConn()
	if err != nil {
		return false
	}
	var peeked error
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, peeked = syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true
	})
	return err == nil && (errors.Is(peeked, syscall.EAGAIN) || errors.Is(peeked, syscall.EWOULDBLOCK))
}

// past is a deadline that is over.
var past = time.Unix(1, 0)

// roundTrip makes an exchange up to the end of the answer's headers. The answer's body is to be read to its end, or closed: then
// the line is given back.
func (l *line) roundTrip(r *http.Request, wait time.Duration, headerBytes int64) (*http.Response, error) {
	ctx := r.Context()
	l.unheard = true
	if err := l.conn.SetDeadline(machineNow().Add(wait)); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.conn.SetDeadline(past) })
	response, err := l.answer(r, headerBytes)
	if err == nil {
		err = l.conn.SetDeadline(time.Time{})
	}
	if ended := ctx.Err(); ended != nil { // maybe before the deadline was taken back
		err = ended
	}
	if err != nil {
		stop()
		return nil, err
	}
	b := &lineBody{line: l, from: response.Body, stop: stop, keep: !response.Close && response.StatusCode >= http.StatusOK}
	if response.Body == http.NoBody {
		b.end(b.keep)
		return response, nil
	}
	response.Body = b
	return response, nil
}

// answer sends a request and reads the headers of its answer.
func (l *line) answer(r *http.Request, headerBytes int64) (*http.Response, error) {
	l.out.Reset()
	if err := r.Write(&l.out); err != nil {
		return nil, err
	}
	if _, err := l.conn.Write(l.out.Bytes()); err != nil {
		return nil, err
	}
	l.room = headerBytes
	if _, err := l.in.Peek(1); err != nil {
		return nil, err
	}
	l.unheard = false
	for {
		response, err := http.ReadResponse(l.in, r)
		switch {
		case err != nil && l.room <= 0:
			return nil, fmt.Errorf("%w of %d bytes", errHeadersFull, headerBytes)
		case err != nil && l.broken != nil && !errors.Is(l.broken, io.EOF):
			return nil, l.broken // net/http would call a line malformed that was cut off
		case err != nil:
			return nil, err
		case response.StatusCode < http.StatusOK && response.StatusCode != http.StatusSwitchingProtocols:
			continue // the answer is to come (RFC 9110, section 15.2)
		}
		l.room = math.MaxInt64
		return response, nil
	}
}

// lineBody is the body of an answer, which gives the line back when it ends.
type lineBody struct {
	line *line // nil: given back
	from io.Reader
	stop func() bool // of the watch over the context
	keep bool        // the line may be used again
}

// Read implements io.Reader.
func (b *lineBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if err != nil {
		b.end(b.keep && errors.Is(err, io.EOF))
	}
	return n, err
}

// Close implements io.Closer. What was not read goes with the connection.
func (b *lineBody) Close() error {
	b.end(false)
	return nil
}

func (b *lineBody) end(keep bool) {
	l := b.line
	if l == nil {
		return
	}
	b.line = nil
	if b.stop() && keep && l.broken == nil && l.in.Buffered() == 0 {
		l.of.keep(l)
		return
	}
	l.close()
}
