package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
)

// field is a web server of many small hosts, each at an address of its own on loopback, that notes who asked for what.
type field struct {
	hosts []string // "127.0.1.7:43210"
	pages int      // of each host
	clock clock.System

	mu       sync.Mutex
	asked    []ask          // guarded by mu, in the order in which they began
	inFlight map[string]int // guarded by mu; requests by host
	clashes  []string       // guarded by mu; requests to a host that another worker was asking
}

// ask is a request that a field was asked.
type ask struct {
	host, path, agent string
	at                time.Time
}

// answerTime is how long a field takes to answer: long enough to see two that ask at once.
const answerTime = 50 * time.Millisecond

// newField listens until the test ends.
func newField(t *testing.T, hosts, pages int) *field {
	t.Helper()
	f := &field{pages: pages, inFlight: make(map[string]int)}
	server := &http.Server{Handler: f}
	var serving sync.WaitGroup
	for i := range hosts {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.1.%d:0", i+1))
		if err != nil {
			t.Fatal(err)
		}
		f.hosts = append(f.hosts, listener.Addr().String())
		serving.Go(func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				t.Errorf("serve: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		_ = server.Close() // what is under way at the end is nobody's
		serving.Wait()
	})
	return f
}

// ServeHTTP implements http.Handler: every page has one version for ever, and the first links to the others.
func (f *field) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.begin(r)
	defer f.end(r.Host)
	if f.clock.SleepUntil(context.WithoutCancel(r.Context()), f.clock.Now().Add(answerTime)) != nil {
		return
	}
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	const tag = `"one"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<!doctype html><title>%s%s</title><p>This is %[1]s%s.", r.Host, r.URL.Path)
	for i := 1; i < f.pages && r.URL.Path == "/"; i++ {
		fmt.Fprintf(w, `<a href="/%d">%[1]d</a>`, i)
	}
}

// begin notes a request, and whether another of the host is under way.
func (f *field) begin(r *http.Request) {
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inFlight[r.Host]++; f.inFlight[r.Host] > 1 {
		f.clashes = append(f.clashes, fmt.Sprintf("%s%s by %s", r.Host, r.URL.Path, agent))
	}
	if r.URL.Path != "/robots.txt" {
		f.asked = append(f.asked, ask{r.Host, r.URL.Path, agent, f.clock.Now()})
	}
}

func (f *field) end(host string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight[host]--
}

// log is what was asked so far.
func (f *field) log() ([]ask, []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]ask(nil), f.asked...), append([]string(nil), f.clashes...)
}
