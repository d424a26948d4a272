package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"recrawld/report"
)

const (
	pagesAtOnce = 2                // that are read: their bodies take memory, and the processor from the visits
	mostQueue   = 10 * time.Second // that somebody waits for their turn
)

// pages answers /v1/pages.
type pages struct {
	library Library
	reading *semaphore.Weighted // of as many as are read at a time
}

func newPages(o Options, stopping context.Context) http.Handler {
	p := pages{library: o.Library, reading: semaphore.NewWeighted(pagesAtOnce)}
	return answerer{options: o, stopping: stopping, time: mostQueue, ask: p.ask}
}

func (p pages) ask(ctx context.Context, r *http.Request) (func(http.ResponseWriter) error, error) {
	q, err := readPage(r.URL.RawQuery)
	if err != nil {
		return nil, Refusal{http.StatusBadRequest, err}
	}
	inTime, cancel := context.WithTimeout(ctx, mostQueue)
	defer cancel()
	if p.reading.Acquire(inTime, 1) != nil {
		return nil, Refusal{http.StatusServiceUnavailable, errors.New("too many pages are asked for at once")}
	}
	defer p.reading.Release(1)
	said, err := p.library.Page(ctx, q)
	return func(w http.ResponseWriter) error { return report.WriteValue(w, said) }, err
}
