package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"recrawld/report"
)

// The bounds of what is asked for at once.
const (
	mostVisits     = 100
	mostVisitsBody = 1 << 20
)

// visits answers POST /v1/visits: somebody who knows that pages changed asks for visits to them.
type visits struct{ library Library }

func newVisits(o Options, stopping context.Context) http.Handler {
	return answerer{options: o, stopping: stopping, time: mostQueue, ask: visits{o.Library}.ask}
}

func (v visits) ask(ctx context.Context, r *http.Request) (func(http.ResponseWriter) error, error) {
	urls, err := readVisits(r)
	if err != nil {
		return nil, err
	}
	d, err := v.library.Visit(ctx, urls)
	return func(w http.ResponseWriter) error { return report.WriteJSON(w, d) }, err
}

// readVisits reads the addresses of pages, in the address asked for or in a form.
func readVisits(r *http.Request) ([]string, error) {
	wrong := func(format string, args ...any) ([]string, error) {
		return nil, Refusal{http.StatusBadRequest, fmt.Errorf(format, args...)}
	}
	r.Body = http.MaxBytesReader(nil, r.Body, mostVisitsBody)
	if err := r.ParseForm(); err != nil {
		return wrong("the parameters are no such: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Form)) {
		if name != "url" {
			return wrong("there is no parameter %.40q; there is url", name)
		}
	}
	switch urls := r.Form["url"]; {
	case len(urls) == 0:
		return wrong("url is missing: that of a page, as often as there are pages, in a form (application/x-www-form-urlencoded)")
	case len(urls) > mostVisits:
		return wrong("%d pages are too many at once: at most %d", len(urls), mostVisits)
	default:
		return urls, nil
	}
}
