package sink

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// since is how much of the machine's time has passed; in a bubble, of the bubble's.
func since(began time.Time) time.Duration { return clock.System{}.Now().Sub(began) }

// A receiver that takes the request and never answers is given up after ten seconds, and holds up nobody meanwhile.
func TestFault_113_HangingReceiverIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, began := newMemory(), clock.System{}.Now()
		total := happened(log, 2)
		o := hookTo("http://receiver.example/", clock.System{})
		o.Dial = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, theirs) }()
			return ours, nil
		}
		w := NewWebhook(o)
		hung := make(chan error, 1)
		go func() {
			_, err := drainTo(log, w, clock.System{}, new(logged)).Once(t.Context())
			hung <- err
		}()
		synctest.Wait()
		other := &recorder{}
		if n, err := drainTo(log, other, clock.System{}, new(logged)).Once(t.Context()); n != total || err != nil || since(began) > 0 {
			t.Errorf("another sink: %d, %v after %v, want %d at once", n, err, since(began), total)
		}
		err := <-hung
		if _, later := errors.AsType[*Later](err); !later || since(began) != hookTime {
			t.Errorf("given up after %v with %v, want %v", since(began), err, hookTime)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A receiver whose answer comes drop by drop has taken the events all the same.
func TestFault_113_SlowAnswerOf2xxIsADelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := newMemory()
		total := happened(log, 1)
		o := hookTo("http://receiver.example/", clock.System{})
		var drops sync.WaitGroup
		o.Dial = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			drops.Go(func() {
				request, err := http.ReadRequest(bufio.NewReader(theirs))
				if err == nil {
					_, _ = io.Copy(io.Discard, request.Body)
				}
				_, err = io.WriteString(theirs, "HTTP/1.1 202 Accepted\r\nContent-Length: 1000\r\n\r\n")
				for err == nil {
					now := clock.System{}.Now()
					_ = clock.System{}.SleepUntil(context.Background(), now.Add(time.Second)) // of the bubble's time
					_, err = io.WriteString(theirs, "x")
				}
			})
			return ours, nil
		}
		w := NewWebhook(o)
		if n, err := drainTo(log, w, clock.System{}, new(logged)).Once(t.Context()); n != total || err != nil {
			t.Errorf("Once = %d, %v, want %d", n, err, total)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		drops.Wait()
	})
}

func TestFault_113_RedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := receive(t, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		log, c := newMemory(), clock.NewVirtual(noon)
		happened(log, 1)
		r := receive(t, func(w http.ResponseWriter, _ int) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(status)
		})
		_, err := drainTo(log, NewWebhook(hookTo(r.URL, c)), c, new(logged)).Once(t.Context())
		if _, later := errors.AsType[*Later](err); !later || !strings.Contains(err.Error(), "redirects are not followed") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if n := len(elsewhere.requests()); n > 0 {
		t.Errorf("%d requests went where the receiver pointed", n)
	}
}

// Whatever follows a status of 2xx: the connection's end, less than was promised, or more than anybody reads.
func TestFault_113_WhateverFollows2xxIsADelivery(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter){
		"less than was promised": func(w http.ResponseWriter) {
			w.WriteHeader(200)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		"the end of the connection": func(w http.ResponseWriter) {
			conn, buffered, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = buffered.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc")
			_ = buffered.Flush()
			_ = conn.Close()
		},
		"a flood": func(w http.ResponseWriter) {
			for sent := 0; sent < 100<<20; sent += 1 << 16 {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
			t.Error("all of a flood was read")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				answer(w)
			}))
			defer server.Close()
			log, c := newMemory(), clock.NewVirtual(noon)
			w := NewWebhook(hookTo(server.URL, c))
			for range 3 { // the next delivery is not held up by what is left of the last
				total := happened(log, 1)
				_, err := drainTo(log, w, c, new(logged)).Once(t.Context())
				if left, _ := log.News(t.Context(), w.Name()); err != nil || len(left) > 0 {
					t.Errorf("Once: %v, of %d events some in %v are left", err, total, left)
				}
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// One that says 410 is left alone, as sink list says, until it is asked for anew.
func TestFault_113_GoneReceiverIsParkedUntilAReplay(t *testing.T) {
	t.Parallel()
	r, log, c, out := receive(t, nil), newMemory(), clock.NewVirtual(noon), new(logged)
	gone := true
	r.answers = func(w http.ResponseWriter, _ int) { w.WriteHeader(map[bool]int{true: 410, false: 200}[gone]) }
	total := happened(log, 2)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	d := drainTo(log, NewWebhook(hookTo(r.URL, c)), &ending{Clock: c, at: noon.Add(48 * time.Hour), end: end}, out)
	if err := d.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := d.Once(t.Context()); err == nil {
		t.Error("the last look before the end says that all is delivered")
	}
	if now := troubleNow(t, log); len(r.requests()) != 1 || !now.Parked() || !strings.Contains(now.Why, "410") || out.count("parked") != 1 {
		t.Fatalf("in two days it was asked %d times, sink list would say %+v, the log said it %d times; want once, parked",
			len(r.requests()), now, out.count("parked"))
	}
	log.current = []models.Event{{Kind: models.EventNew, URL: "https://a.org/0/0", PageID: 7, Bucket: 2, At: models.At(noon)}}
	if err := d.Replay(t.Context(), log); err == nil { // it is still gone, and whoever asks is told so
		t.Error("a replay to a receiver that is gone succeeds")
	}
	gone = false
	if err := d.Replay(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	told := r.events()
	if len(told) != 1 || !strings.HasSuffix(told[0].ID, "-2-7-new") || !strings.HasPrefix(told[0].ID, "log-0-all") {
		t.Errorf("a replay tells %v, want the one page that there is", told)
	}
	if news, err := log.News(t.Context(), "webhook:w"); len(news) > 0 || err != nil || troubleNow(t, log).Since != 0 {
		t.Errorf("after a replay %v is left of %d events (%v)", news, total, err)
	}
}

// A 5xx names when to come again, and is heard within a day.
func TestFault_113_RetryAfterIsObeyedWithinBounds(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]time.Duration{"7200": 2 * time.Hour, "864000": 24 * time.Hour, "0": time.Second} {
		r := receive(t, func(w http.ResponseWriter, _ int) {
			w.Header().Set("Retry-After", said)
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		log, c := newMemory(), clock.NewVirtual(noon)
		happened(log, 1)
		w := NewWebhook(hookTo(r.URL, c))
		d := drainTo(log, w, c, new(logged))
		for range 2 { // the second look is too early and asks nobody
			_, err := d.Once(t.Context())
			if later, ok := errors.AsType[*Later](err); !ok || later.At.Sub(noon).Round(time.Second) != want {
				t.Errorf("Retry-After %s: %v, want %v later", said, err, want)
			}
		}
		if n := len(r.requests()); n != 1 {
			t.Errorf("Retry-After %s: asked %d times", said, n)
		}
	}
}

func TestWebhookGapsGrowToAnHour(t *testing.T) {
	t.Parallel()
	for failed, most := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 12: 2048 * time.Second, 13: time.Hour,
		64: time.Hour, 1000: time.Hour} {
		different := map[time.Duration]bool{}
		for range 20 {
			got := gap(failed)
			if different[got] = true; got < most/2 || got >= most {
				t.Errorf("gap(%d) = %v, want %v to %v", failed, got, most/2, most)
			}
		}
		if len(different) < 2 {
			t.Errorf("gap(%d) is always the same", failed)
		}
	}
}

// While it is told of all pages a receiver that fails is tried again, from where it was.
func TestWebhookIsToldOfAllPagesDespiteFailures(t *testing.T) {
	t.Parallel()
	log, c, out := newMemory(), clock.NewVirtual(noon), new(logged)
	r := receive(t, func(w http.ResponseWriter, n int) { w.WriteHeader(map[bool]int{true: 200, false: 502}[n%3 == 0]) })
	happened(log, 1)
	for i := range 450 {
		log.current = append(log.current, models.Event{Kind: models.EventNew, URL: fmt.Sprint("https://a.org/", i), PageID: int64(i), At: models.At(noon)})
	}
	if err := drainTo(log, NewWebhook(hookTo(r.URL, c)), c, out).Replay(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	told := r.events()
	if len(told) != 450 || len(r.requests()) != 15 || out.count("takes nothing") != 5 {
		t.Errorf("%d pages told by %d requests, %d failures; want 450 by 15 with 5", len(told), len(r.requests()), out.count("takes nothing"))
	}
	for i, e := range told {
		if e.Subject != fmt.Sprint("https://a.org/", i) {
			t.Fatalf("page %d is %s", i, e.Subject)
		}
	}
}

// A receiver at another URL knows nothing: it is told of all pages.
func TestWebhookToAnotherURLIsToldOfAllPages(t *testing.T) {
	t.Parallel()
	log, c := newMemory(), clock.NewVirtual(noon)
	first, second := receive(t, nil), receive(t, nil)
	log.current = []models.Event{{Kind: models.EventNew, URL: "https://a.org/kept"}}
	for _, r := range []*receiver{first, second} {
		happened(log, 1)
		if _, err := drainTo(log, NewWebhook(hookTo(r.URL, c)), c, new(logged)).Once(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(first.events()); n != 3 {
		t.Errorf("the first was told %d events, want 3", n)
	}
	if told := second.events(); len(told) != 1 || told[0].Subject != "https://a.org/kept" {
		t.Errorf("the second was told %v, want the page that there is", told)
	}
}

// It is told of them at once, and not with the next thing that happens, which may be a long time away.
func TestWebhookToAnotherURLNeedsNoEventToBeToldOfAllPages(t *testing.T) {
	t.Parallel()
	log, c := newMemory(), clock.NewVirtual(noon)
	first, second := receive(t, nil), receive(t, nil)
	log.current = []models.Event{{Kind: models.EventNew, URL: "https://a.org/kept"}}
	happened(log, 1)
	for _, r := range []*receiver{first, second, second} {
		if _, err := drainTo(log, NewWebhook(hookTo(r.URL, c)), c, new(logged)).Once(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if told := second.events(); len(first.events()) != 3 || len(told) != 1 || told[0].Subject != "https://a.org/kept" {
		t.Errorf("the first was told %d events, the second %v; want 3, and once the page that there is", len(first.events()), told)
	}
}

// Where events were pruned before the receiver was told of them it is told of all pages.
func TestWebhookThatMissedEventsIsToldOfAllPages(t *testing.T) {
	t.Parallel()
	log, c, r := newMemory(), clock.NewVirtual(noon), receive(t, nil)
	happened(log, 4)
	log.current = []models.Event{{Kind: models.EventNew, URL: "https://a.org/0/0", PageID: 1}, {Kind: models.EventGone, URL: "https://a.org/0/1", PageID: 2}}
	lost := pruned{log, 2}
	d := NewDrain(lost, NewWebhook(hookTo(r.URL, c)), c, Options{Owner: "w", Batch: HookBatch, Source: log, Log: new(logged).logger()})
	if _, err := d.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range r.events() {
		told = append(told, e.Type+" "+e.Subject)
	}
	if got := strings.Join(told, ", "); got != "recrawld.page.new https://a.org/0/0, recrawld.page.gone https://a.org/0/1" {
		t.Errorf("told %s, want the two pages as they are", got)
	}
}
