package sink

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// saying is a dial to a server that reads a request, writes some text, and keeps the connection open.
func saying(text string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			in := bufio.NewReader(theirs)
			if request, err := http.ReadRequest(in); err == nil {
				_, _ = io.Copy(io.Discard, request.Body)
			}
			_, _ = io.WriteString(theirs, text)
			_, _ = io.Copy(io.Discard, in)
		}()
		return ours, nil
	}
}

// An answer that would change the protocol has no end, and no time-out of a request ends it.
func TestFault_113_SwitchedProtocolIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, began := newMemory(), clock.System{}.Now()
		happened(log, 1)
		o := hookTo("http://receiver.example/", clock.System{})
		o.Dial = saying("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		w := NewWebhook(o)
		_, err := drainTo(log, w, clock.System{}, new(logged)).Once(t.Context())
		if _, later := errors.AsType[*Later](err); !later || since(began) > hookTime {
			t.Errorf("given up after %v with %v, want within %v", since(began), err, hookTime)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What unpacks to nothing is no way to send without end.
func TestFault_113_CompressedAnswerIsNotUnpacked(t *testing.T) {
	t.Parallel()
	var empty bytes.Buffer
	if err := gzip.NewWriter(&empty).Close(); err != nil {
		t.Fatal(err)
	}
	flood := bytes.Repeat(empty.Bytes(), 2000)
	const most = 100 << 20
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Encoding", "gzip")
		for sent.Load() < most {
			n, err := w.Write(flood)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	log, c := newMemory(), clock.NewVirtual(noon)
	happened(log, 1)
	w := NewWebhook(hookTo(server.URL, c))
	if _, err := drainTo(log, w, c, new(logged)).Once(t.Context()); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if sent.Load() >= most {
		t.Errorf("all of %d bytes were read", sent.Load())
	}
}

// What the receiver says beside the number of its status is repeated nowhere: it may be anything, and long.
func TestFault_111_WordsOfAReceiverAreNotRepeated(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"500 \x1b]0;owned\x07":             "the receiver answers 500 Internal Server Error",
		"302 \x1b[31m":                     "the receiver answers 302 Found; redirects are not followed",
		"599 " + strings.Repeat("x", 5000): "the receiver answers 599",
	} {
		log, c, out := newMemory(), clock.NewVirtual(noon), new(logged)
		happened(log, 1)
		o := hookTo("http://receiver.example/", c)
		o.Dial = saying("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n")
		_, _ = drainTo(log, NewWebhook(o), c, out).Once(t.Context())
		if why := troubleNow(t, log).Why; !strings.HasPrefix(why, want) || len(why) > 150 || out.count(want) != 1 {
			t.Errorf("sink list would say %.200q, the log says %.300q; want %q", why, out.text.String(), want)
		}
	}
}

// A receiver that takes the first request of a batch and never the second is asked ever less often, too.
func TestFault_112_RefusalOfASecondRequestIsTriedEverLessOften(t *testing.T) {
	t.Parallel()
	log, c := newMemory(), clock.NewVirtual(noon)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	const most = 40 // of 12 tries within an hour and one or two in each after it, two requests each
	r := receive(t, func(w http.ResponseWriter, n int) {
		if n > most {
			end()
		}
		w.WriteHeader(map[bool]int{true: 200, false: 413}[n%2 == 1])
	})
	for range 3 {
		log.add(1, models.Event{Kind: models.EventNew, URL: "https://a.org/" + strings.Repeat("x", 300_000)})
	}
	d := drainTo(log, NewWebhook(hookTo(r.URL, c)), &ending{Clock: c, at: noon.Add(4 * time.Hour), end: end}, new(logged))
	if err := d.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := len(r.requests()); n < 20 || n > most {
		t.Errorf("asked %d times until %v, want 20 to %d in four hours", n, c.Now(), most)
	}
}

// That events which the receiver is not told of are passed over says nothing of the receiver: its trouble goes on.
func TestFault_112_PassingOverIsNotTaking(t *testing.T) {
	t.Parallel()
	log, c, out := newMemory(), clock.NewVirtual(noon), new(logged)
	for bucket := range int16(4) {
		for range HookBatch {
			log.add(bucket, models.Event{Kind: models.EventNew, Bucket: bucket, URL: "https://a.org/", At: models.At(noon)})
		}
	}
	up := noon.Add(5 * time.Hour)
	r := receive(t, func(w http.ResponseWriter, _ int) {
		w.WriteHeader(map[bool]int{true: 204, false: 503}[!c.Now().Before(up)])
	})
	o := hookTo(r.URL, c)
	o.Describe = func(ctx context.Context, events []models.Event) (string, []json.RawMessage, error) {
		log, objects, err := describeAll(ctx, events)
		for i, e := range events {
			if e.Bucket != 2 {
				objects[i] = nil
			}
		}
		return log, objects, err
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	if err := drainTo(log, NewWebhook(o), &ending{Clock: c, at: up.Add(2 * time.Hour), end: end}, out).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n, began, ended := len(r.events()), out.count("takes nothing"), out.count("takes events again"); n != HookBatch || began != 1 || ended != 1 {
		t.Errorf("told %d events, and the log says %d times that it fails, %d that it is back; want %d, and once each:\n%s", n, began, ended,
			HookBatch, out.text.String())
	}
}

// One that is parked here and was asked for anew by another process is not parked any more when its turn is here again; if the other
// one was told the same it stays parked.
func TestFault_113_ReceiverRevivedElsewhereIsNotParkedHere(t *testing.T) {
	t.Parallel()
	log, c := newMemory(), clock.NewVirtual(noon)
	gone := true
	r := receive(t, func(w http.ResponseWriter, _ int) { w.WriteHeader(map[bool]int{true: 410, false: 200}[gone]) })
	drainer := func(owner string) *Drain {
		return NewDrain(log, NewWebhook(hookTo(r.URL, c)), c, Options{Owner: owner, Batch: HookBatch, Source: log, Log: new(logged).logger()})
	}
	here, elsewhere := drainer("a"), drainer("b")
	happened(log, 1)
	for _, d := range []*Drain{here, elsewhere, here} {
		if _, err := d.Once(t.Context()); err == nil {
			t.Fatal("it took events")
		}
	}
	if n := len(r.requests()); n != 2 {
		t.Errorf("asked %d times, want once by each process", n)
	}
	gone = false
	if err := elsewhere.Replay(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	happened(log, 1)
	if _, err := here.Once(t.Context()); err != nil {
		t.Errorf("parked still: %v", err)
	}
}
