package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"
)

// Intent is what a hub asks or says of a subscription (WebSub, sections 5.2 and 5.3).
type Intent struct {
	Mode   string // "subscribe", "unsubscribe", "denied" or anything
	Topic  string
	Lease  time.Duration // for so long it means to tell; 0: it does not say
	Reason string        // of a denial
}

// Push is what a hub tells: a feed, or what is new in it.
type Push struct {
	Signature string // X-Hub-Signature
	Body      []byte
}

// Subscriber is who hears hubs. It is safe for concurrent use. What an error of a Refusal says is told the hub.
type Subscriber interface {
	// Intends tells whether what a hub means to do with the subscription of a path is what it was asked for.
	Intends(ctx context.Context, path string, i Intent) (bool, error)

	// Expects returns a Refusal where nothing is to be told at a path now.
	Expects(ctx context.Context, path string) error

	// Hear takes what is told at a path that Expects let pass. It returns before anything comes of it.
	Hear(ctx context.Context, path string, p Push) error
}

// The bounds of what hubs say.
const (
	mostPushed    = 4 << 20 // bytes of a push
	pushesAtOnce  = 4       // that are read; others wait
	mostChallenge = 4 << 10 // bytes that are given back
	longestLease  = 100 * 365 * 24 * time.Hour
)

// hubs answers GET and POST /websub/PATH. A path that nobody guesses is what a hub shows, and a signature; not our token.
type hubs struct {
	subscriber Subscriber
	options    Options
	stopping   context.Context
	knocks     *knocks
	reading    *semaphore.Weighted
}

func newHubs(o Options, stopping context.Context, k *knocks) http.Handler {
	return hubs{o.Subscriber, o, stopping, k, semaphore.NewWeighted(pushesAtOnce)}
}

// ServeHTTP implements http.Handler.
func (h hubs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), mostQueue)
	defer cancel()
	defer context.AfterFunc(h.stopping, cancel)()
	answer := h.intent
	if !looks(r) {
		answer = h.push
	}
	err := answer(ctx, w, r)
	if err == nil {
		return
	}
	if refused := refusalOf(err); refused.Status == http.StatusNotFound {
		h.knocks.note(false)
	} else if refused.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "60")
	}
	answerer{options: h.options}.refuse(w, err)
}

// intent gives the challenge back where the hub means to do what it was asked for, and says 404 otherwise, which is no consent.
func (h hubs) intent(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	i := Intent{Mode: query.Get("hub.mode"), Topic: query.Get("hub.topic"), Reason: query.Get("hub.reason")}
	challenge := query.Get("hub.challenge")
	if i.Mode != "denied" && (challenge == "" || len(challenge) > mostChallenge) {
		return Refusal{http.StatusBadRequest, fmt.Errorf("hub.challenge is missing, or has more than %d bytes", mostChallenge)}
	}
	if seconds, err := strconv.ParseInt(query.Get("hub.lease_seconds"), 10, 64); err == nil && seconds > 0 {
		i.Lease = time.Duration(min(seconds, int64(longestLease/time.Second))) * time.Second
	}
	meant, err := h.subscriber.Intends(ctx, r.PathValue("path"), i)
	if err != nil {
		return err
	}
	if !meant {
		return Refusal{http.StatusNotFound, errors.New("nobody asked for that here")}
	}
	if i.Mode == "denied" {
		challenge = ""
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, challenge) // the only error is that the asker is gone
	return nil
}

// push reads what a hub tells, where it may, and takes it.
func (h hubs) push(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	path := r.PathValue("path")
	if err := h.subscriber.Expects(ctx, path); err != nil {
		return err
	}
	if h.reading.Acquire(ctx, 1) != nil {
		return Refusal{http.StatusServiceUnavailable, errors.New("too many hubs tell at once")}
	}
	defer h.reading.Release(1)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostPushed))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return Refusal{http.StatusRequestEntityTooLarge, fmt.Errorf("that is more than %d bytes: the feed is read when its turn comes", mostPushed)}
	case err != nil:
		return Refusal{http.StatusBadRequest, fmt.Errorf("read what is told: %w", err)}
	}
	if err := h.subscriber.Hear(ctx, path, Push{r.Header.Get("X-Hub-Signature"), body}); err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}
