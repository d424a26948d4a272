package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

const (
	pagesAtOnce = 2                // that are read: their bodies take memory, and the processor from the visits
	mostQueue   = 10 * time.Second // that somebody waits for their turn
)

// pages answers /v1/pages.
type pages struct {
	library Library
	reading chan struct{} // has an element for each page that is read
}

func newPages(o Options, stopping context.Context) http.Handler {
	p := pages{library: o.Library, reading: make(chan struct{}, pagesAtOnce)}
	return answerer{options: o, stopping: stopping, time: mostQueue, ask: p.ask}
}

func (p pages) ask(ctx context.Context, r *http.Request) (func(http.ResponseWriter) error, error) {
	q, err := readPage(r.URL.RawQuery)
	if err != nil {
		return nil, Refusal{http.StatusBadRequest, err}
	}
	inTime, cancel := context.WithTimeout(ctx, mostQueue)
	defer cancel()
	select {
	case p.reading <- struct{}{}:
		defer func() { <-p.reading }()
	case <-inTime.Done():
		return nil, Refusal{http.StatusServiceUnavailable, errors.New("too many pages are asked for at once")}
	}
	said, err := p.library.Page(ctx, q)
	return func(w http.ResponseWriter) error { return writeJSON(w, said) }, err
}

// writeJSON writes a value as the commands do.
func writeJSON(w http.ResponseWriter, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
