package recrawl

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

// connections is how many connections the requests to an origin came over.
func connections(o *hostile.Origin) int {
	over := make(map[int]bool)
	for _, r := range o.Requests() {
		over[r.Conn] = true
	}
	return len(over)
}

func TestPlainKeepsItsConnection(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/whole":   hostile.Whole(http.StatusOK, nil, "<p>whole"),
		"/chunked": says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n<p>chunked\r\n0\r\n\r\n"),
		"/error":   hostile.Whole(http.StatusInternalServerError, nil, "<p>error"),
		"/empty":   hostile.Whole(http.StatusNotFound, nil, ""),
		"/interim": hostile.Interim(http.StatusEarlyHints, 2),
	})
	r := newRig(t, nil)
	wantBody(t, r.fetch(o.URL("/whole")), "<p>whole")
	wantBody(t, r.fetch(o.URL("/chunked")), "<p>chunked")
	wantFailed(t, r.fetch(o.URL("/error")), models.ServerError)
	r.fetch(o.URL("/empty"))
	r.fetch(o.URL("/interim"))
	if got := connections(o); got != 1 {
		t.Errorf("5 visits took %d connections, want 1", got)
	}
}

func TestPlainLeavesConnectionsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]hostile.Answer{
		"told to close":    says("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\n\r\n<p>one"),
		"more than asked":  says("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<p>oneHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<p>two"),
		"HTTP/1.0":         says("HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\n<p>one"),
		"until its end":    hostile.HalfClose(false),
		"switches over":    says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: foo\r\nConnection: Upgrade\r\n\r\n"),
		"cut off too soon": hostile.HalfClose(true),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := listen(t, map[string]hostile.Answer{"/": answer, "/next": hostile.Whole(http.StatusOK, nil, "<p>next")})
			r := newRig(t, nil)
			r.fetch(o.URL("/"))
			wantBody(t, r.fetch(o.URL("/next")), "<p>next")
			if got := connections(o); got != 2 {
				t.Errorf("2 visits took %d connections, want 2", got)
			}
		})
	}
}

// TestPlainAsksNobodyWhoLeft: what the server closed, or wrote to unasked, while the connection was idle is seen before it is
// used again.
func TestPlainAsksNobodyWhoLeft(t *testing.T) {
	t.Parallel()
	here, there := pairOverTCP(t)
	if !quiet(here) {
		t.Error("an open connection is not quiet")
	}
	if _, err := there.Write([]byte("HTTP/1.1 408 Request Timeout\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if awaitInput(t, here); quiet(here) {
		t.Error("a connection with an answer that nobody asked for is quiet")
	}
	here, there = pairOverTCP(t)
	there.Close()
	if awaitInput(t, here); quiet(here) {
		t.Error("a connection that the other side has closed is quiet")
	}
}

func TestPlainBoundsWhatIsIdle(t *testing.T) {
	t.Parallel()
	p := &plain{idle: make(map[string][]*line)}
	open := func(address string) *line {
		here, _ := pairOverTCP(t)
		return newLine(p, here, address)
	}
	first := open("a:80")
	p.keep(first)
	for range mostIdleHost {
		p.keep(open("a:80"))
	}
	if _, err := first.conn.Write([]byte("x")); err == nil || len(p.idle["a:80"]) != mostIdleHost {
		t.Errorf("%d connections to a host are kept, the first one open: %v; want %d without it", len(p.idle["a:80"]), err == nil, mostIdleHost)
	}
	for n := range mostIdle {
		p.keep(open("b" + strconv.Itoa(n) + ":80"))
	}
	if len(p.idle["a:80"]) != 0 || p.order.Len() != mostIdle {
		t.Errorf("%d connections are kept, %d of them to the host that was used first, want %d and 0", p.order.Len(), len(p.idle["a:80"]), mostIdle)
	}
	if got := len(p.stale(machineNow().Add(longestIdle))); got != mostIdle || len(p.idle) != 0 {
		t.Errorf("%d connections are idle for too long and %d hosts have others, want %d and 0", got, len(p.idle), mostIdle)
	}
}

// TestPlainEndsWithItsContext: a visit that is given up waits for nobody, and its connection is not used again.
func TestPlainEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]hostile.Answer{"before the headers": hostile.Silent(), "in the body": hostile.StalledBody()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan struct{})
			o := listen(t, map[string]hostile.Answer{"/next": hostile.Whole(http.StatusOK, nil, "<p>next"), "/": func(c *hostile.Conn) {
				close(asked)
				answer(c)
			}})
			r := newRig(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			var visit sync.WaitGroup
			visit.Go(func() {
				page := pageOf(t, o.URL("/"))
				if out := r.turn(ctx, page, allowAll(t, page)); out.Kind != models.Interrupted {
					t.Errorf("a visit that was given up is %v, want interrupted", out.Kind)
				}
			})
			<-asked
			cancel()
			visit.Wait()
			wantBody(t, r.fetch(o.URL("/next")), "<p>next")
			if got := connections(o); got != 2 {
				t.Errorf("2 visits took %d connections, want 2", got)
			}
		})
	}
}

func TestPlainHoldsToTheBytesOfHeaders(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Interim(http.StatusEarlyHints, 10_000)})
	r := newRig(t, func(_ *Config, s *config.Settings) { s.HeaderBytes = 4 << 10 })
	wantFailed(t, r.fetch(o.URL("/")), models.HeaderTooLarge)
}

// says is an answer as it is written, after which the connection stays open.
func says(answer string) hostile.Answer {
	return func(c *hostile.Conn) { c.Send(answer) }
}

// awaitInput waits until there is something to be read, or the end.
func awaitInput(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return err == nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// pairOverTCP is the two ends of a connection over loopback.
func pairOverTCP(t *testing.T) (here, there net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if here, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if there, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close(); there.Close() })
	return here, there
}
