package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
)

// TestFault_103_AnotherSiteCanDoNothing: a page of another site sends what a browser lets it send, even with the cookie of one that was
// let in, which it does not get. Nothing here changes anything, whatever the method, and the page may not read the answer.
func TestFault_103_AnotherSiteCanDoNothing(t *testing.T) {
	t.Parallel()
	base := startFull(t, Options{Checks: []Check{{"store", well}}, Sheets: []Sheet{sheetOf("status", "all is well")}})
	for _, path := range []string{"/", "/healthz", "/metrics", "/v1/changes?after=now", "/v1/pages?url=x", "/v1/visits?url=x", "/status", "/feed"} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader("pause=all"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Origin", "https://attacker.example")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Cookie", cookieOf(base)+"="+token)
			answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			want := http.StatusMethodNotAllowed
			switch {
			case strings.HasPrefix(path, "/v1/"), path == "/status", path == "/feed":
				want = http.StatusForbidden
			case method == "GET":
				want = http.StatusOK
			}
			if answer.StatusCode != want {
				t.Errorf("%s %s = %d, want %d", method, path, answer.StatusCode, want)
			}
			for name := range answer.Header {
				if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" {
					t.Errorf("%s %s answers with %s: %s", method, path, name, answer.Header.Get(name))
				}
			}
		}
	}
}

// TestFault_106_MarkupIsShownAsText: what a check complains of may quote a site.
func TestFault_106_MarkupIsShownAsText(t *testing.T) {
	t.Parallel()
	const markup = `</td><script>alert("x")</script><a href="javascript:alert(1)" onclick='x'>`
	quoted := func(context.Context) error { return errors.New(markup) }
	base := start(t, Check{markup, quoted})
	for _, path := range []string{"/", "/healthz"} {
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || strings.Contains(string(body), "<script") || strings.Contains(string(body), "<a href=\"javascript") {
			t.Errorf("%s = %q, %v, want no markup of others", path, body, err)
		}
		for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff"} {
			if got := answer.Header.Get(name); !strings.Contains(got, want) {
				t.Errorf("%s: %s = %q, want %q in it", path, name, got, want)
			}
		}
	}
}

// TestFault_107_ALargeBodyIsNotRead: who does not have the token fills neither memory nor disk, whatever it sends to be let in.
func TestFault_107_ALargeBodyIsNotRead(t *testing.T) {
	t.Parallel()
	base := startFull(t, Options{})
	part := "--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n" + token + "\r\n--x--\r\n"
	for kind, test := range map[string]struct {
		body string
		want int
	}{
		"application/x-www-form-urlencoded":                {"a=" + strings.Repeat("a", 64<<10) + "&token=" + token, http.StatusRequestEntityTooLarge},
		"application/x-www-form-urlencoded; charset=utf-8": {"token=" + token + "&a=" + strings.Repeat("a", 64<<10), http.StatusRequestEntityTooLarge},
		"multipart/form-data; boundary=x":                  {part, http.StatusUnauthorized}, // which could have files that are put on disk
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", base+"/open", strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != test.want || answer.Header.Get("Set-Cookie") != "" {
			t.Errorf("%d bytes of %s = %d, %v, want %d", len(test.body), kind, answer.StatusCode, answer.Header, test.want)
		}
	}
}

// pipes is a listener without a network, for a bubble. It counts the connections that were taken and are not closed.
type pipes struct {
	coming chan net.Conn
	closed chan struct{}

	mu        sync.Mutex
	now, most int // guarded by mu
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.coming:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.now++
		p.most = max(p.most, p.now)
		return &piped{Conn: c, of: p}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error { close(p.closed); return nil }

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// piped is one of them.
type piped struct {
	net.Conn
	of   *pipes
	once sync.Once
}

// Close implements net.Conn.
func (c *piped) Close() error {
	c.once.Do(func() {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.of.now--
	})
	return c.Conn.Close()
}

// connect is a client's end of a new connection; it is closed when the test ends.
func (p *pipes) connect(t *testing.T) net.Conn {
	near, far := net.Pipe()
	go func() {
		select {
		case p.coming <- far:
		case <-p.closed:
		}
	}()
	t.Cleanup(func() { near.Close() })
	return near
}

// serveInBubble has a server answer over pipes until the returned function is called.
func serveInBubble(t *testing.T, library Library) (*pipes, func()) {
	t.Helper()
	server, err := Listen(Options{Listen: "127.0.0.1:0", Checks: []Check{{"store", well}}, Metrics: prometheus.NewRegistry(),
		Library: library, Token: token, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server.listener.Close()
	p := &pipes{coming: make(chan net.Conn), closed: make(chan struct{})}
	server.listener = p
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	return p, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v, want nil after the end of its context", err)
		}
	}
}

// get asks for the health over a connection.
func get(t *testing.T, c net.Conn) {
	t.Helper()
	if status, body := over(t, c, "/healthz"); status != http.StatusOK {
		t.Errorf("health = %d, %s", status, body)
	}
}

// over asks for something over a connection.
func over(t *testing.T, c net.Conn, path string) (int, string) {
	t.Helper()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+token+"\r\n\r\n"); err != nil {
		t.Error(err)
		return 0, ""
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return answer.StatusCode, string(body)
}

// twenty asks for a path over twenty connections at once, and counts the answers by status.
func (p *pipes) twenty(t *testing.T, path string) map[int]int {
	t.Helper()
	statuses := make(chan int, 20)
	for range cap(statuses) {
		c := p.connect(t)
		go func() { status, _ := over(t, c, path); statuses <- status }()
	}
	got := map[int]int{}
	for range cap(statuses) {
		got[<-statuses]++
	}
	return got
}

// TestFault_108_SlowAskers: one drips a header for ever, one asks and then says nothing more. Both are hung up on, and who
// asks meanwhile has an answer at once.
func TestFault_108_SlowAskers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, stop := serveInBubble(t, nil)
		defer stop()
		began := time.Now()
		slow, idle := p.connect(t), p.connect(t)
		gone := make(chan time.Duration, 2)
		go func() {
			for line := "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "; ; line = "x" {
				if _, err := io.WriteString(slow, line); err != nil {
					gone <- time.Since(began)
					return
				}
				time.Sleep(time.Second)
			}
		}()
		get(t, idle)
		if took := time.Since(began); took > 0 {
			t.Errorf("an answer beside a slow asker took %v", took)
		}
		if took := <-gone; took > 6*time.Second {
			t.Errorf("a header that never ends was read for %v, want 5 s", took)
		}
		if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a connection without a request ended with %v, want %v", err, io.EOF)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("a connection without a request was kept for %v, want a minute", took)
		}
	})
}

// TestFault_108_ManyConnections: ten thousand connections on which nobody asks anything take no more descriptors from the
// crawl than are set aside for them, and hold up others for no longer than it takes to hang up on each.
func TestFault_108_ManyConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, stop := serveInBubble(t, nil)
		defer stop()
		const many = 10_000
		for range many {
			p.connect(t)
		}
		synctest.Wait()
		began := time.Now()
		get(t, p.connect(t))
		if took := time.Since(began); took > (many/connections+1)*6*time.Second {
			t.Errorf("an answer behind %d idle connections took %v", many, took)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.most > connections {
			t.Errorf("%d connections were open at a time, want at most %d", p.most, connections)
		}
	})
}
