package recrawl

import (
	"context"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
)

// openSocket is a socket over one end of a connection.
func openSocket(t *testing.T, conn net.Conn) *socket {
	t.Helper()
	c, err := newSockets(0, 0).connect(t.Context(), "tcp", "", func(context.Context, string, string) (net.Conn, error) {
		return conn, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.(*socket)
}

// TestKeptConnectionIsTakenWhenAllIsRead: as long as nobody waits for more, there may be something in the buffers.
func TestKeptConnectionIsTakenWhenAllIsRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		then func(c *socket, cancel func())
		want []bool // what those who want it got, once something was done
	}{
		"nothing":         {func(*socket, func()) {}, nil},
		"reads":           {func(c *socket, _ func()) { go c.Read(make([]byte, 1)) }, []bool{true}},
		"reads, let go":   {func(c *socket, _ func()) { go c.Read(make([]byte, 1)); synctest.Wait(); c.release() }, []bool{true, true}},
		"closes":          {func(c *socket, _ func()) { c.Close() }, []bool{false, false}},
		"nobody wants it": {func(_ *socket, cancel func()) { cancel() }, []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				defer far.Close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c := openSocket(t, near)
				defer c.Close()
				if !c.hold(ctx, false) {
					t.Fatal("a fresh connection cannot be had")
				}
				go far.Write([]byte("x"))
				if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
					t.Fatal(n, err)
				}
				c.release()
				got := make(chan bool, 2)
				for range 2 {
					go func() { got <- c.hold(ctx, true) }()
				}
				synctest.Wait()
				if len(got) > 0 {
					t.Errorf("hold before all was read = %v", <-got)
				}
				test.then(c, cancel)
				synctest.Wait()
				if len(got) != len(test.want) {
					t.Fatalf("%d of 2 were answered, want %d", len(got), len(test.want))
				}
				for _, want := range test.want {
					if held := <-got; held != want {
						t.Errorf("hold = %v, want %v", held, want)
					}
				}
			})
		})
	}
}

// TestKeptConnectionIsTakenInSilence: what has come and was not read yet is no answer to what is asked next, and closes the
// connection as its end does.
func TestKeptConnectionIsTakenInSilence(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(far net.Conn) error{
		"surplus": func(far net.Conn) error { _, err := far.Write([]byte(forged)); return err },
		"end":     func(far net.Conn) error { return far.Close() },
	} {
		near, far := tcpPair(t)
		c := openSocket(t, near)
		if !silent(near) {
			t.Errorf("%s: a connection that nothing came on is not silent", name)
		}
		if err := happens(far); err != nil {
			t.Fatal(err)
		}
		arrives(t, near)
		if c.hold(t.Context(), true) || c.of.open.Load() != 0 {
			t.Errorf("%s: the connection is used again", name)
		}
	}
}

// arrives waits until there is something to read, and leaves it there.
func arrives(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err == nil {
		err = raw.Read(func(uintptr) bool { return !silent(conn) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tcpPair is both ends of a connection over loopback.
func tcpPair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if near, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}
