package web

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"time"

	"recrawld/report"
)

// Library is what is known of pages, for programs and for feed readers. It is safe for concurrent use. An error that is a Refusal is told
// the asker as such, any other as ours.
type Library interface {
	// Changes lists what came after a cursor. The document has the cursor behind that.
	Changes(ctx context.Context, q ChangesQuery) (report.Document, error)

	// Page is what a page says, as a value for JSON.
	Page(ctx context.Context, q PageQuery) (any, error)

	// Visit gives pages their turn now, and lists them as they were written, with what becomes of each.
	Visit(ctx context.Context, urls []string) (report.Document, error)

	// Announce hears what a publisher says of his pages.
	Announce(ctx context.Context, a Announcement) (Announced, error)

	// Feed lists the newest events that a query without After asks for, the newest first. It reads no page, and goes on where an
	// earlier look for the same ended early.
	Feed(ctx context.Context, q ChangesQuery) (Feed, error)
}

// Feed is what happened last, for a person.
type Feed struct {
	Log     string    // tells the event log from all others: letters, digits and "-"
	At      time.Time // it was looked then
	Back    time.Time // how far it was looked back so far; zero: far enough for all that is told
	Entries []Entry
}

// Entry is an event.
type Entry struct {
	ID         string // the same whenever it is told, and of no other event: letters, digits and "-"
	At         time.Time
	Kind       string // "changed"
	Site       string
	URL        string // of http or https
	RedirectTo string // of a page that moved
	Pages      int64  // of a site that was removed, for all of which this tells; 0: it tells of one page
	Versions   string // that are compared, "3..4"; "": none

	// Read returns what there is to read of it: the page's title, "" where that is not known, and HTML that is safe to show. An error
	// says for the asker why there is none. It is called at most once, and returns soon after ctx ends.
	Read func(ctx context.Context) (title string, said template.HTML, err error)
}

// ChangesQuery is what the asker of /v1/changes or /feed wrote, each as it was written but for the numbers.
type ChangesQuery struct {
	After  string   // "" for a feed
	Site   string   // empty: all
	Kinds  []string // none: all
	Weight float64  // the least significance
	Limit  int

	Requisites bool // those of requisites, too
}

// PageQuery is what the asker of /v1/pages wrote.
type PageQuery struct {
	URL     string
	Version int32  // 0: the newest of a page that is there
	Chunks  string // "": the text as one
	Have    int32  // the version that the asker has; 0: none. Only with Chunks
}

// Refusal is why there is no answer, with the status that says so.
type Refusal struct {
	Status int
	Err    error
}

// Error implements error.
func (r Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the reason alone.
func (r Refusal) Unwrap() error { return r.Err }

// Clock waits, and tells until when a client may take.
type Clock interface {
	Now() time.Time
	SleepUntil(ctx context.Context, t time.Time) error
}

// answerer answers one kind of question.
type answerer struct {
	options  Options
	stopping context.Context // ends when the server does
	time     time.Duration   // that an answer may take, before it is written

	// ask finds the answer, within a context that ends with the asker and with the server. It is JSON unless write says otherwise.
	ask func(ctx context.Context, r *http.Request) (write func(http.ResponseWriter) error, err error)
}

// ServeHTTP implements http.Handler.
func (a answerer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The server's own bound is for what is answered at once.
	if err := http.NewResponseController(w).SetWriteDeadline(a.options.Clock.Now().Add(a.time + writeTimeout)); err != nil {
		a.refuse(w, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.stopping, cancel)()
	write, err := a.ask(ctx, r)
	if err != nil {
		a.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = write(w) // the only error is that the asker is gone
}

// refusalOf is why there is no answer, for an error: where it is no Refusal, one of ours.
func refusalOf(err error) Refusal {
	var refused Refusal
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, context.Canceled):
		return Refusal{http.StatusServiceUnavailable, errors.New("the daemon ends")}
	}
	return Refusal{http.StatusInternalServerError, err}
}

// refuse says why there is no answer.
func (a answerer) refuse(w http.ResponseWriter, err error) {
	refused := refusalOf(err)
	if refused.Status == http.StatusInternalServerError {
		a.options.Log.Debug("a question is not answered", "err", err) // whoever asks is told, and may ask again and again
	}
	if refused.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, refused.Error(), refused.Status)
}
