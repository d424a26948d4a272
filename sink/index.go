package sink

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

const (
	// IndexBatch is how many events a Drain hands to an Index at a time.
	IndexBatch = 256

	indexBytes = 4 << 20          // of the documents of one request, unless a single one is longer
	indexTime  = 25 * time.Second // for all requests of one delivery, which is less than half of a lease
	indexSaid  = 4 << 20          // bytes of an answer that are read: a line or so a document
)

// Document is what a search server is to have of a page.
type Document struct {
	ID     string          // of the page, digits and letters from a to f; "": the server is not told of it
	Fields json.RawMessage // an object with the ID as its "id"; nil: the server is to have none of this page
	Why    error           // why it is not known now what the page says; it waits
}

// IndexOptions sets up an Index. All are required.
type IndexOptions struct {
	Name  string                                                               // of the sink
	Form  IndexForm                                                            // what server it is
	URL   string                                                               // where that is
	Index string                                                               // what the server calls it
	Token func() (string, error)                                               // that lets write, "" for none, asked for before each delivery
	Dial  func(ctx context.Context, network, address string) (net.Conn, error) // to addresses that a receiver may be at

	// Describe gives for each of some events, of which no two are of one page, what the server is to have of the page by now.
	Describe func(ctx context.Context, events []models.Event) ([]Document, error)

	RetryAfter func(header http.Header, now time.Time, most time.Duration) time.Time // see WebhookOptions

	Clock clock.Clock
}

// Index is a Sink that keeps the documents of a search server as the pages are. What a document says is what the page says when it is
// sent, so an event that comes twice, or late, does no harm. A page that the server refuses by itself waits (Refused); whatever else the
// server does not take is tried again ever less often, with everything behind it.
type Index struct {
	options IndexOptions
	client  *http.Client
	pending []int64 // tasks that the server was given and had not ended when it was left; see meilisearch
	setbacks
}

// NewIndex returns an Index. It asks for nothing before there are events.
func NewIndex(o IndexOptions) *Index {
	return &Index{options: o, client: receiverClient(o.Dial, indexTime), setbacks: setbacks{clock: o.Clock}}
}

// Name implements Sink.
func (x *Index) Name() string { return x.options.Name }

// Place implements placed: another index knows nothing yet.
func (x *Index) Place() string {
	return hashOf(fmt.Sprintf("%s %s %s", x.options.Form.Name, x.options.URL, x.options.Index))
}

// Close gives up the connection.
func (x *Index) Close() error {
	x.client.CloseIdleConnections()
	return nil
}

// Tell implements teller.
func (x *Index) Tell(ctx context.Context, _ time.Time, pages []models.Event) error {
	return x.Deliver(ctx, pages)
}

// Deliver implements Sink.
func (x *Index) Deliver(ctx context.Context, events []models.Event) error {
	if err := x.waits(); err != nil {
		return err
	}
	pages := lastOfEach(events)
	documents, err := x.options.Describe(ctx, pages)
	if err != nil {
		return fmt.Errorf("describe pages: %w", err)
	}
	why := make(map[string]error) // by URL, of the pages that wait
	var send []Document
	urls := make(map[string]string) // by ID
	for i, d := range documents {
		switch {
		case d.Why != nil:
			why[pages[i].URL] = d.Why
		case d.ID != "":
			send, urls[d.ID] = append(send, d), pages[i].URL
		}
	}
	refused, err := x.send(ctx, send)
	if err != nil {
		return err
	}
	for id, reason := range refused {
		why[urls[id]] = reason
	}
	return refusalOf(events, why)
}

// send brings documents to the server, and returns why it refuses those that it does, by ID.
func (x *Index) send(ctx context.Context, documents []Document) (map[string]error, error) {
	refused := make(map[string]error)
	if len(documents) == 0 {
		return refused, nil
	}
	inTime, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	token, err := x.options.Token()
	if err != nil {
		return nil, x.failedBy(ctx, fmt.Errorf("nothing is sent without the token: %w", err), 0)
	}
	call := &indexCall{index: x, token: token, pending: x.pending}
	for len(documents) > 0 && err == nil {
		n, bytes := 1, len(documents[0].Fields)
		for n < len(documents) && bytes+len(documents[n].Fields) <= indexBytes {
			bytes += len(documents[n].Fields)
			n++
		}
		err = x.options.Form.send(inTime, call, documents[:n], refused)
		documents = documents[n:]
	}
	x.pending = call.pending
	if err != nil {
		return nil, x.failedBy(ctx, err, call.retry)
	}
	x.Revive()
	return refused, nil
}

// lastOfEach is the last event of each page, in the order of these.
func lastOfEach(events []models.Event) []models.Event {
	last := make(map[string]int, len(events))
	for i := range events {
		last[events[i].URL] = i
	}
	pages := make([]models.Event, 0, len(last))
	for i := range events {
		if last[events[i].URL] == i {
			pages = append(pages, events[i])
		}
	}
	return pages
}

// refusalOf is the Refused of the pages that wait, nil where there are none.
func refusalOf(events []models.Event, why map[string]error) error {
	if len(why) == 0 {
		return nil
	}
	r := &Refused{}
	at := make(map[string]int)
	for _, e := range events {
		if why[e.URL] == nil {
			continue
		}
		i, known := at[e.URL]
		if !known {
			i = len(r.Pages)
			at[e.URL] = i
			r.Pages = append(r.Pages, Refusal{URL: e.URL, Why: why[e.URL]})
		}
		r.Pages[i].Events = append(r.Pages[i].Events, e)
	}
	return r
}
