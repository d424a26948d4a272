package sink

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

var hookKey = []byte("0123456789abcdef01234567")

// receiver is a server that keeps what it is told and answers as it is told to.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	told    []cloudEvent // those answered with 2xx
	asked   []received
	answers func(w http.ResponseWriter, n int) // the n-th request, from 1; nil: 204
}

// received is a request.
type received struct {
	header http.Header
	body   []byte
}

func receive(t *testing.T, answers func(w http.ResponseWriter, n int)) *receiver {
	t.Helper()
	r := &receiver{answers: answers}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var events []cloudEvent
	if err != nil || json.Unmarshal(body, &events) != nil {
		http.Error(w, "not a batch", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.asked = append(r.asked, received{request.Header, body})
	n := len(r.asked)
	r.mu.Unlock()
	status := http.StatusNoContent
	if r.answers != nil {
		recorded := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		r.answers(recorded, n)
		status = recorded.status
	} else {
		w.WriteHeader(status)
	}
	if status/100 == 2 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told = append(r.told, events...)
	}
}

// statusWriter notes the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (r *receiver) events() []cloudEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]cloudEvent(nil), r.told...)
}

func (r *receiver) requests() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.asked...)
}

// describeAll tells of all events, as their kind and URL.
func describeAll(_ context.Context, events []models.Event) (string, []json.RawMessage, error) {
	objects := make([]json.RawMessage, len(events))
	for i, e := range events {
		objects[i] = fmt.Appendf(nil, `{"kind": %q, "url": %q}`, e.Kind, e.URL)
	}
	return "log-0", objects, nil
}

// retryAfter reads seconds.
func retryAfter(header http.Header, now time.Time, most time.Duration) time.Time {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil {
		return time.Time{}
	}
	return now.Add(min(time.Duration(seconds)*time.Second, most))
}

func hookTo(url string, c clock.Clock) WebhookOptions {
	return WebhookOptions{Name: "webhook:w", URL: url, Keys: func() ([][]byte, error) { return [][]byte{hookKey}, nil },
		Dial: new(net.Dialer).DialContext, Describe: describeAll, RetryAfter: retryAfter, Clock: c}
}

// logged is a log, as text.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func drainTo(log *memory, s Sink, c clock.Clock, out *logged) *Drain {
	return NewDrain(log, s, c, Options{Owner: "w", Batch: HookBatch, Source: log, Log: out.logger()})
}

// troubleNow is what the database says of the webhook.
func troubleNow(t *testing.T, log *memory) Trouble {
	t.Helper()
	row, err := log.Meta(t.Context(), TroubleKey("webhook:w"))
	if err != nil {
		t.Fatal(err)
	}
	now, err := TroubleIn(row)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// happened adds some events of a few pages in some buckets.
func happened(log *memory, rounds int) (total int) {
	for i := range rounds {
		for bucket := range int16(3) {
			kind := models.EventChanged
			if i == 0 {
				kind = models.EventNew
			}
			log.add(bucket, models.Event{Kind: kind, URL: fmt.Sprintf("https://a.org/%d/%d", bucket, i%2), At: models.At(noon), PageID: int64(i % 2)})
			total++
		}
	}
	return total
}

// inOrder tells whether the events of each bucket came in their order, and how many came.
func inOrder(t *testing.T, events []cloudEvent) int {
	t.Helper()
	last, seen := map[string]int{}, map[string]bool{}
	for _, e := range events {
		parts := strings.Split(e.ID, "-") // the last is the mark
		seq, err := strconv.Atoi(parts[len(parts)-2])
		if err != nil {
			t.Fatalf("id %q has no number", e.ID)
		}
		bucket := parts[len(parts)-3]
		if !seen[e.ID] && seq != last[bucket]+1 {
			t.Errorf("event %s came after number %d of its bucket", e.ID, last[bucket])
		}
		seen[e.ID], last[bucket] = true, seq
	}
	return len(seen)
}

func TestWebhookTellsBatchesOfCloudEvents(t *testing.T) {
	t.Parallel()
	r, log, c := receive(t, nil), newMemory(), clock.NewVirtual(noon)
	total := happened(log, 80) // more than two requests
	if n, err := drainTo(log, NewWebhook(hookTo(r.URL, c)), c, new(logged)).Once(t.Context()); n != total || err != nil {
		t.Fatalf("Once = %d, %v, want %d", n, err, total)
	}
	if n := inOrder(t, r.events()); n != total {
		t.Errorf("%d events came, want %d", n, total)
	}
	if n := len(r.requests()); n != 3 {
		t.Errorf("%d requests for %d events, want 3", n, total)
	}
	first := r.events()[0]
	want := cloudEvent{"1.0", "log-0-0-1-1", "urn:recrawld:log-0", "recrawld.page.new", "https://a.org/0/0", noon.Format(time.RFC3339Nano),
		"application/json", json.RawMessage(`{"kind":"new","url":"https://a.org/0/0"}`)}
	if fmt.Sprintf("%s", first) != fmt.Sprintf("%s", want) {
		t.Errorf("first event %s, want %s", first, want)
	}
	if got := r.requests()[0].header.Get("Content-Type"); !strings.HasPrefix(got, "application/cloudevents-batch+json") {
		t.Errorf("Content-Type %q", got)
	}
}

// Requests are of a megabyte or so at most, and an event that is longer goes alone.
func TestWebhookRequestsAreBounded(t *testing.T) {
	t.Parallel()
	r, log, c := receive(t, nil), newMemory(), clock.NewVirtual(noon)
	for _, size := range []int{400_000, 10, 400_000, 2_000_000, 10} {
		log.add(1, models.Event{Kind: models.EventNew, URL: "https://a.org/" + strings.Repeat("x", size/2)})
	}
	if _, err := drainTo(log, NewWebhook(hookTo(r.URL, c)), c, new(logged)).Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	var counts []int
	for _, q := range r.requests() {
		var events []cloudEvent
		if err := json.Unmarshal(q.body, &events); err != nil {
			t.Fatal(err)
		}
		if counts = append(counts, len(events)); len(q.body) > hookBytes+1 && len(events) > 1 {
			t.Errorf("a request of %d bytes has %d events", len(q.body), len(events))
		}
	}
	if inOrder(t, r.events()) != 5 || fmt.Sprint(counts) != "[3 1 1]" {
		t.Errorf("requests of %v events, want [3 1 1]", counts)
	}
}

// What is not to be told is passed over, and asks nobody.
func TestWebhookPassesOverWhatItDoesNotTell(t *testing.T) {
	t.Parallel()
	r, log, c := receive(t, nil), newMemory(), clock.NewVirtual(noon)
	total := happened(log, 3)
	o := hookTo(r.URL, c)
	o.Describe = func(_ context.Context, events []models.Event) (string, []json.RawMessage, error) {
		return "log", make([]json.RawMessage, len(events)), nil
	}
	if n, err := drainTo(log, NewWebhook(o), c, new(logged)).Once(t.Context()); n != total || err != nil || len(r.requests()) > 0 {
		t.Errorf("Once = %d, %v with %d requests, want %d and none", n, err, len(r.requests()), total)
	}
}

func TestFault_112_ReceiverThatIsDownForDaysMissesNothing(t *testing.T) {
	t.Parallel()
	r, log, c, out := receive(t, nil), newMemory(), clock.NewVirtual(noon), new(logged)
	total := happened(log, 2)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	up := noon.Add(72 * time.Hour)
	tries, last, widest := 0, noon, time.Duration(0)
	o := hookTo(r.URL, c)
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		now := c.Now()
		widest, last = max(widest, now.Sub(last)), now
		if tries++; !now.Before(up) {
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		if tries == 2 { // meanwhile visits go on, and so does another sink
			total += happened(log, 100)
			other := &recorder{}
			n, err := NewDrain(log, other, clock.NewVirtual(noon), Options{Owner: "w", Log: out.logger()}).Once(ctx)
			if n != total || err != nil {
				t.Errorf("another sink: %d, %v, want %d", n, err, total)
			}
			if now := troubleNow(t, log); now.Since != models.At(noon) || now.Parked() || !strings.Contains(now.Why, "refused") {
				t.Errorf("sink list would say %+v", now)
			}
		}
		return nil, errors.New("connection refused")
	}
	watched := &ending{Clock: c, at: up.Add(3 * time.Hour), end: end, look: func() {
		if row, err := log.Meta(t.Context(), LeaseKey("webhook:w")); err != nil || HeldBy(row, c.Now()) != "w" {
			t.Errorf("at %v the lease is %q: another process would try meanwhile, and nobody answers a wish for a replay", c.Now(), row)
		}
	}}
	d := drainTo(log, NewWebhook(o), watched, out)
	if err := d.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := inOrder(t, r.events()); n != total {
		t.Errorf("%d events came after three days, want %d", n, total)
	}
	if tries < 72 || tries > 200 || widest > time.Hour+time.Minute {
		t.Errorf("%d tries in 72 h, at most %v apart; want one an hour or two", tries, widest)
	}
	if began, ended := out.count("sink takes nothing"), out.count("takes events again"); began != 1 || ended != 1 {
		t.Errorf("the log says %d times that it fails and %d that it is back, want once each:\n%s", began, ended, out.text.String())
	}
	if now := troubleNow(t, log); now.Since != 0 {
		t.Errorf("sink list would still say %+v", now)
	}
}

// ending is a clock that ends a context at a moment, and looks at something before each sleep.
type ending struct {
	clock.Clock
	at   time.Time
	end  func()
	look func() // may be nil
}

// SleepUntil implements clock.Clock.
func (e *ending) SleepUntil(ctx context.Context, t time.Time) error {
	if e.look != nil {
		e.look()
	}
	if !e.Now().Before(e.at) {
		e.end()
	}
	return e.Clock.SleepUntil(ctx, t)
}

// A moment that the clock comes to only much later, since it was ahead when that was said, is not waited for.
func TestWebhookIsTriedWhereTheClockStepsBack(t *testing.T) {
	t.Parallel()
	r := receive(t, func(w http.ResponseWriter, n int) { w.WriteHeader(map[bool]int{true: 503, false: 204}[n == 1]) })
	w := NewWebhook(hookTo(r.URL, clock.NewVirtual(noon.AddDate(1, 0, 0))))
	events := []models.Event{{Bucket: 1, Seq: 1, Kind: models.EventNew, URL: "https://a.example/", At: models.At(noon)}}
	err := w.Deliver(t.Context(), events)
	later, ok := errors.AsType[*Later](err)
	if !ok {
		t.Fatalf("a receiver that fails: %v, want one that is tried again later", err)
	}
	back := clock.NewVirtual(noon)
	w.clock = back
	if err := w.Deliver(t.Context(), events); err != nil || len(r.requests()) != 2 {
		t.Errorf("Deliver after the clock stepped back = %v, %d requests, want the second", err, len(r.requests()))
	}
	if err := drainTo(newMemory(), w, back, new(logged)).rest(t.Context(), later); err != nil || back.Now() != noon {
		t.Errorf("it rests until %s, %v, want no rest", back.Now(), err)
	}
}

// The vector is of the specification's own libraries, and was computed by another implementation too.
func TestFault_115_SignatureIsThatOfTheSpecification(t *testing.T) {
	t.Parallel()
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("signature = %s, want %s", got, want)
	}
}

// genuine is the check of a receiver, as docs/feeding.md has it.
func genuine(key []byte, q received, now time.Time) bool {
	seconds, err := strconv.ParseInt(q.header.Get("webhook-timestamp"), 10, 64)
	if age := now.Sub(time.Unix(seconds, 0)); err != nil || age.Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(q.header.Get("webhook-id") + "." + q.header.Get("webhook-timestamp") + "." + string(q.body)))
	for word := range strings.FieldsSeq(q.header.Get("webhook-signature")) {
		text, ok := strings.CutPrefix(word, "v1,")
		sum, err := base64.StdEncoding.DecodeString(text)
		if ok && err == nil && hmac.Equal(sum, mac.Sum(nil)) {
			return true
		}
	}
	return false
}

func TestFault_115_ForgedAndReplayedRequestsAreKnown(t *testing.T) {
	t.Parallel()
	r, log, c := receive(t, func(w http.ResponseWriter, n int) { w.WriteHeader(map[bool]int{true: 503, false: 204}[n == 1]) }), newMemory(), clock.NewVirtual(noon)
	happened(log, 1)
	newKey := []byte("another key, of 24 bytes or more")
	o := hookTo(r.URL, c)
	o.Keys = func() ([][]byte, error) { return [][]byte{newKey, hookKey}, nil }
	w := NewWebhook(o)
	d := drainTo(log, w, c, new(logged))
	if _, err := d.Once(t.Context()); err == nil {
		t.Fatal("a 503 was taken for a delivery")
	}
	w.Revive()
	if _, err := d.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, second := r.requests()[0], r.requests()[1]
	if first.header.Get("webhook-id") != second.header.Get("webhook-id") || !bytes.Equal(first.body, second.body) {
		t.Errorf("tried again the batch has the id %s, before %s", second.header.Get("webhook-id"), first.header.Get("webhook-id"))
	}
	now := clock.System{}.Now()
	if !genuine(hookKey, second, now) || !genuine(newKey, second, now) {
		t.Errorf("not genuine by each of the two keys: %v", second.header)
	}
	forge := func(name string, by func(q *received)) {
		q := received{second.header.Clone(), bytes.Clone(second.body)}
		by(&q)
		if genuine(hookKey, q, now) {
			t.Errorf("%s is taken for genuine", name)
		}
	}
	forge("another body", func(q *received) { q.body[len(q.body)-3] ^= 1 })
	forge("another id", func(q *received) { q.header.Set("webhook-id", "msg_0") })
	forge("another time", func(q *received) { q.header.Set("webhook-timestamp", fmt.Sprint(now.Unix()-200)) })
	forge("no signature", func(q *received) { q.header.Del("webhook-signature") })
	if genuine(hookKey, second, now.Add(10*time.Minute)) {
		t.Error("what is replayed ten minutes later is taken for genuine")
	}
	if genuine([]byte("a key that was taken away, here"), second, now) {
		t.Error("genuine by a key that does not sign")
	}
}

// Nothing is sent unsigned.
func TestFault_115_WithoutAKeyNothingIsSent(t *testing.T) {
	t.Parallel()
	r, log, c := receive(t, nil), newMemory(), clock.NewVirtual(noon)
	happened(log, 1)
	o := hookTo(r.URL, c)
	o.Keys = func() ([][]byte, error) { return nil, errors.New("permission denied") }
	_, err := drainTo(log, NewWebhook(o), c, new(logged)).Once(t.Context())
	if later, ok := errors.AsType[*Later](err); !ok || later.parked() || len(r.requests()) > 0 {
		t.Errorf("Once: %v with %d requests, want that it is tried later", err, len(r.requests()))
	}
}
