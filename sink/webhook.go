package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

const (
	hookEvents = 100       // told at a time at most
	hookBytes  = 1_000_000 // of one request, unless a single event is longer

	hookTime  = 10 * time.Second // for one request with its answer
	hookDrain = 64 << 10         // bytes of an answer that are read: its connection may then be used again

	hookGapMin   = time.Second    // until a receiver that failed is tried again, and then twice as long each time, up to
	hookGapMax   = time.Hour      // this;
	hookRetryMax = 24 * time.Hour // a Retry-After is obeyed up to this
)

// HookBatch is how many events a Drain hands to a Webhook at a time.
const HookBatch = hookEvents

// WebhookOptions sets up a Webhook. All are required.
type WebhookOptions struct {
	Name string                                                               // of the sink
	URL  string                                                               // of the receiver
	Keys func() ([][]byte, error)                                             // that sign, asked for before each request
	Dial func(ctx context.Context, network, address string) (net.Conn, error) // to addresses that a receiver may be at

	// Describe gives for each event the JSON object that it is told as, or nil where the receiver is not told of it, and what tells the
	// log that they are of from all others.
	Describe func(ctx context.Context, events []models.Event) (log string, objects []json.RawMessage, err error)

	// RetryAfter is when the receiver of an answer's header wants to be asked again, at most so much later; zero: it does not say.
	RetryAfter func(header http.Header, now time.Time, most time.Duration) time.Time

	Clock clock.Clock
}

// Webhook is a Sink that tells a receiver by POST what happened to pages: batches of CloudEvents 1.0, signed as Standard Webhooks has
// it. Any answer with a status of 2xx means that the receiver has taken all of them.
type Webhook struct {
	options WebhookOptions
	client  *http.Client
	setbacks
}

// NewWebhook returns a Webhook. It asks for nothing before there are events.
func NewWebhook(o WebhookOptions) *Webhook {
	return &Webhook{options: o, client: receiverClient(o.Dial, hookTime), setbacks: setbacks{clock: o.Clock}}
}

// receiverClient asks who is told by HTTP.
func receiverClient(dial func(ctx context.Context, network, address string) (net.Conn, error), patience time.Duration) *http.Client {
	transport := &http.Transport{DialContext: dial, TLSHandshakeTimeout: hookTime, IdleConnTimeout: time.Minute, MaxIdleConns: 1,
		MaxResponseHeaderBytes: 64 << 10, DisableCompression: true} // of an answer that unpacks to nothing no end is seen
	return &http.Client{Transport: transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Name implements Sink.
func (w *Webhook) Name() string { return w.options.Name }

// Place implements placed: at another URL is another receiver, which knows nothing yet.
func (w *Webhook) Place() string {
	return hashOf(w.options.URL) // it may have a password in it
}

// Close gives up the connection.
func (w *Webhook) Close() error {
	w.client.CloseIdleConnections()
	return nil
}

// Deliver implements Sink. An event has the same id each time it comes.
func (w *Webhook) Deliver(ctx context.Context, events []models.Event) error {
	return w.tell(ctx, events, func(log string, e *models.Event) string { return e.ID(log) })
}

// Tell implements teller.
func (w *Webhook) Tell(ctx context.Context, began time.Time, pages []models.Event) error {
	return w.tell(ctx, pages, func(log string, e *models.Event) string {
		return fmt.Sprintf("%s-all%d-%d-%d-%s", log, models.At(began), e.Bucket, e.PageID, e.Kind)
	})
}

// tell sends events in as many requests as it takes.
func (w *Webhook) tell(ctx context.Context, events []models.Event, id func(log string, e *models.Event) string) error {
	if err := w.waits(); err != nil {
		return err
	}
	log, objects, err := w.options.Describe(ctx, events)
	if err != nil {
		return fmt.Errorf("describe events: %w", err)
	}
	body, told := []byte{'['}, 0
	for i, object := range objects {
		if object == nil {
			continue
		}
		e := &events[i]
		event, err := json.Marshal(cloudEvent{"1.0", id(log, e), "urn:recrawld:" + log, "recrawld.page." + e.Kind.String(), e.URL,
			e.At.Time().UTC().Format(time.RFC3339Nano), "application/json", object})
		if err != nil {
			return fmt.Errorf("describe an event of %s: %w", e.URL, err)
		}
		if told == hookEvents || told > 0 && len(body)+len(event) > hookBytes {
			if err := w.send(ctx, append(body, ']')); err != nil {
				return err
			}
			body, told = []byte{'['}, 0
		}
		if told++; told > 1 {
			body = append(body, ',')
		}
		body = append(body, event...)
	}
	if told == 0 {
		return nil
	}
	if err := w.send(ctx, append(body, ']')); err != nil {
		return err
	}
	w.Revive() // not before: one that refuses the last of some requests is to be asked ever less often, too
	return nil
}

// cloudEvent is an event as CloudEvents 1.0 has it in JSON.
type cloudEvent struct {
	Version     string          `json:"specversion"`
	ID          string          `json:"id"`
	Source      string          `json:"source"`
	Type        string          `json:"type"`
	Subject     string          `json:"subject"`
	Time        string          `json:"time"`
	ContentType string          `json:"datacontenttype"`
	Data        json.RawMessage `json:"data"`
}

// send posts one batch, and says when to try again where the receiver does not take it.
func (w *Webhook) send(ctx context.Context, body []byte) error {
	retry, err := w.post(ctx, body)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errGone):
		return w.parkedBy(ctx, err)
	}
	return w.failedBy(ctx, err, retry)
}

// errGone is a receiver that wants nothing any more.
var errGone = errors.New("the receiver answers 410 Gone: it wants nothing any more")

// post makes one request. Where it fails, retry is how long the receiver wants to be left alone; 0: it does not say.
func (w *Webhook) post(ctx context.Context, body []byte) (retry time.Duration, err error) {
	keys, err := w.options.Keys()
	if err != nil {
		return 0, fmt.Errorf("nothing is sent unsigned: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.options.URL, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("make a request: %w", err)
	}
	now := clock.System{}.Now() // the receiver's clock goes as the machine's does, not as a rehearsal's
	request.Header.Set("Content-Type", "application/cloudevents-batch+json; charset=utf-8")
	request.Header.Set("User-Agent", "recrawld")
	sign(request.Header, keys, now, body)
	answer, err := w.client.Do(request)
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err // the URL may have a password in it
		}
		return 0, fmt.Errorf("the receiver cannot be asked: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSwitchingProtocols { // whose body is the bare connection, which no time-out ends
		_, _ = io.CopyN(io.Discard, answer.Body, hookDrain) // whatever it says and however that ends
	}
	said := statusWords(answer.StatusCode) // its own words may be anything
	switch status := answer.StatusCode; {
	case status/100 == 2:
		return 0, nil
	case status == http.StatusGone:
		return 0, errGone
	case status/100 == 3:
		return 0, fmt.Errorf("the receiver answers %s; redirects are not followed: write where it is as its url", said)
	default:
		if at := w.options.RetryAfter(answer.Header, now, hookRetryMax); !at.IsZero() {
			retry = max(at.Sub(now), hookGapMin)
		}
		return retry, fmt.Errorf("the receiver answers %s", said)
	}
}

// statusWords are the standard's words for a status, where it has some.
func statusWords(status int) string {
	return strings.TrimSpace(fmt.Sprint(status, " ", http.StatusText(status)))
}
