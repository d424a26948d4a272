package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/internal/pgtest"
)

// apartDelay is longer than a worker needs to learn that another has ended, so that it comes to that one's hosts within the delay.
const apartDelay = beatEvery + time.Second

// apartField is a few hosts, and who asked them for what and when, by a clock of their own.
type apartField struct {
	clock clock.System
	sites string

	mu    sync.Mutex
	asked map[string][]apartAsk // by host
}

type apartAsk struct {
	worker, path string
	at           time.Time
}

func newApartField(t *testing.T, hosts int) *apartField {
	t.Helper()
	f := &apartField{asked: make(map[string][]apartAsk)}
	for i := range hosts {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:0", i+2))
		if err != nil {
			t.Skipf("this machine has one loopback address alone: %v", err)
		}
		server := httptest.NewUnstartedServer(f)
		server.Listener.Close()
		server.Listener = listener
		server.Start()
		t.Cleanup(server.Close)
		f.sites += fmt.Sprintf("  - {url: \"%s/\", delay: %v}\n", server.URL, apartDelay)
		f.asked[listener.Addr().String()] = nil
	}
	return f
}

func (f *apartField) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	f.mu.Lock()
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	f.asked[r.Host] = append(f.asked[r.Host], apartAsk{agent, r.URL.Path, f.clock.Now()})
	f.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	if r.URL.Path != "/" {
		fmt.Fprintf(w, "<p>%s of %s", r.URL.Path, r.Host)
		return
	}
	for i := range 20 {
		fmt.Fprintf(w, "<a href=/p%d>page %d</a> ", i, i)
	}
}

// await waits until each host was asked so often.
func (f *apartField) await(t *testing.T, times int) {
	t.Helper()
	awaits(t, fmt.Sprintf("each host asked %d times", times), func() bool { return f.least() >= times })
}

func (f *apartField) least() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	least := -1
	for _, asks := range f.asked {
		if least < 0 || len(asks) < least {
			least = len(asks)
		}
	}
	return least
}

// work runs a worker on a machine of its own until what it returns is called.
func (f *apartField) work(t *testing.T, dsn, name string, m machine) (stop func()) {
	t.Helper()
	d, log := builtOn(t, dsn, name, m, "agent: {name: "+name+"}", "network: {allow: [127.0.0.0/8]}", "backup: {every: off}",
		"sites:", f.sites)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("worker %s: %v", name, err)
		}
		if t.Failed() {
			t.Logf("worker %s:\n%s", name, log)
		}
	})
	t.Cleanup(stop)
	return stop
}

// TestFault_061_HostsAreAskedInTimeByWorkersWhoseClocksDiffer: hosts go from one daemon to another, whose machine's clock is an hour
// and a half away, and are not asked sooner for that. One that is too far off asks none, and keeps none from the others.
func TestFault_061_HostsAreAskedInTimeByWorkersWhoseClocksDiffer(t *testing.T) {
	t.Parallel()
	f := newApartField(t, 6)
	dsn := pgtest.DSN(t)
	f.work(t, dsn, "far", &machineOff{2 * time.Hour})
	stop := f.work(t, dsn, "behind", &machineOff{-50 * time.Minute})
	f.await(t, 1)
	f.work(t, dsn, "ahead", &machineOff{40 * time.Minute})
	f.await(t, 2)
	stop() // its hosts are the other's now
	f.await(t, 4)
	f.mu.Lock()
	defer f.mu.Unlock()
	handed := 0
	for host, asks := range f.asked {
		pages := make(map[string]bool)
		for i, ask := range asks {
			if ask.worker == "far" {
				t.Errorf("a worker whose clock is two hours off asked %s", host)
			}
			if pages[ask.path] {
				t.Errorf("%s was asked twice for %s", host, ask.path)
			}
			pages[ask.path] = true
			if i == 0 {
				continue
			}
			last := asks[i-1]
			if last.worker != ask.worker {
				handed++
			}
			const late = 500 * time.Millisecond // that a request may have come here on a busy machine
			if gap := ask.at.Sub(last.at); gap < apartDelay-late {
				t.Errorf("%s was asked by worker %s %v after worker %s, want %v", host, ask.worker, gap, last.worker, apartDelay)
			}
		}
	}
	if handed == 0 {
		t.Error("no host went from one worker to another")
	}
}
