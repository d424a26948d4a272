package sink

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

const (
	// IndexBatch is how many events a Drain hands to an Index at a time.
	IndexBatch = 256

	indexSlice = 32               // pages that are described before the lease is renewed
	indexBytes = 4 << 20          // of the documents of one request, unless a single one is longer
	indexTime  = 25 * time.Second // for a request, or a task of Meilisearch, which is less than what is left of a lease just renewed
	indexSaid  = 16 << 20         // bytes of an answer that are read: older Typesenses put each document that they refuse into it
)

// Document is what a search server is to have of a page.
type Document struct {
	ID     string          // of the page, digits and letters from a to f; "": the server is not told of it
	Fields json.RawMessage // an object with the ID as its "id"; nil: the server is to have none of this page
	Why    error           // why it is not known now what the page says; it waits
}

// IndexOptions sets up an Index. All but Sites are required.
type IndexOptions struct {
	Name  string                                                               // of the sink
	Form  IndexForm                                                            // what server it is
	URL   string                                                               // where that is
	Index string                                                               // what the server calls it
	Sites []string                                                             // whose pages it is given; none: all
	Token func() (string, error)                                               // that lets write, "" for none, asked for before something is sent
	Dial  func(ctx context.Context, network, address string) (net.Conn, error) // to addresses that a receiver may be at

	// Describe gives for each of some events, of which no two are of one page, what the server is to have of the page by now. Where it is
	// made anew it may still have pages of sites that it is given no more: those are to be dropped, of which it is not told else.
	Describe func(ctx context.Context, events []models.Event, anew bool) ([]Document, error)

	RetryAfter func(header http.Header, now time.Time, most time.Duration) time.Time // see WebhookOptions

	Clock clock.Clock
}

// Index is a Sink that keeps the documents of a search server as the pages are. What a document says is what the page says when it is
// sent, so an event that comes twice, or late, does no harm. A page that the server refuses by itself waits (Refused); whatever else the
// server does not take is tried again ever less often, with everything behind it.
type Index struct {
	options IndexOptions
	client  *http.Client
	pending []int64                         // tasks that the server was given and had not ended when it was left; see meilisearch
	renew   func(ctx context.Context) error // see keeper
	setbacks
}

// NewIndex returns an Index. It asks for nothing before there are events.
func NewIndex(o IndexOptions) *Index {
	return &Index{options: o, client: receiverClient(o.Dial, indexTime), setbacks: setbacks{clock: o.Clock},
		renew: func(context.Context) error { return nil }}
}

// Name implements Sink.
func (x *Index) Name() string { return x.options.Name }

// Place implements placed: another index knows nothing yet, and where it is to have pages of other sites it knows nothing of these.
func (x *Index) Place() string {
	return hashOf(fmt.Sprintf("%s %s %s %q", x.options.Form.Name, x.options.URL, x.options.Index, slices.Sorted(slices.Values(x.options.Sites))))
}

// Keep implements keeper.
func (x *Index) Keep(renew func(ctx context.Context) error) { x.renew = renew }

// Close gives up the connection.
func (x *Index) Close() error {
	x.client.CloseIdleConnections()
	return nil
}

// Tell implements teller.
func (x *Index) Tell(ctx context.Context, _ time.Time, pages []models.Event) error {
	return x.give(ctx, pages, true)
}

// Deliver implements Sink.
func (x *Index) Deliver(ctx context.Context, events []models.Event) error {
	return x.give(ctx, events, false)
}

func (x *Index) give(ctx context.Context, events []models.Event, anew bool) error {
	if err := x.waits(); err != nil {
		return err
	}
	why := make(map[string]error) // by URL, of the pages that wait
	urls := make(map[string]string)
	refuse := func(id string, reason error) { why[urls[id]] = reason }
	var send []Document
	bytes := 0
	for pages := range slices.Chunk(lastOfEach(slices.DeleteFunc(slices.Clone(events), idle)), indexSlice) {
		if err := x.renew(ctx); err != nil {
			return err
		}
		documents, err := x.options.Describe(ctx, pages, anew)
		if err != nil {
			return fmt.Errorf("describe pages: %w", err)
		}
		for i, d := range documents {
			switch {
			case d.Why != nil:
				why[pages[i].URL] = missingCopy{d.Why}
			case d.ID != "":
				send, urls[d.ID] = append(send, d), pages[i].URL
				bytes += len(d.Fields)
			}
		}
		if bytes > indexBytes {
			if err := x.send(ctx, send, refuse); err != nil {
				return err
			}
			send, bytes = nil, 0
		}
	}
	if err := x.send(ctx, send, refuse); err != nil {
		return err
	}
	if len(urls) > 0 { // and not before: see Webhook.tell
		x.Revive()
	}
	return refusalOf(events, func(e models.Event) (string, error) { return e.URL, why[e.URL] })
}

// send brings documents to the server, and tells of those that it refuses by themselves why.
func (x *Index) send(ctx context.Context, documents []Document, refuse func(id string, why error)) error {
	if len(documents) == 0 {
		return nil
	}
	token, err := x.options.Token()
	if err != nil {
		return x.failedBy(ctx, fmt.Errorf("nothing is sent without the token: %w", err), 0)
	}
	call := &indexCall{index: x, token: token, refuse: refuse, pending: x.pending}
	for len(documents) > 0 && err == nil {
		n, bytes := 1, len(documents[0].Fields)
		for n < len(documents) && bytes+len(documents[n].Fields) <= indexBytes {
			bytes += len(documents[n].Fields)
			n++
		}
		err = x.options.Form.send(ctx, call, documents[:n])
		documents = documents[n:]
	}
	x.pending = call.pending
	switch {
	case call.lost != nil:
		return call.lost
	case err != nil:
		return x.failedBy(ctx, err, call.retry)
	}
	return nil
}

// idle tells events that change nothing of what a search server is to have.
func idle(e models.Event) bool {
	return e.Requisite || !slices.Contains(config.IndexKinds(), e.Kind.String())
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
