package models

import (
	"context"
	"fmt"
)

// PageKey names a page.
type PageKey struct {
	Bucket int16
	ID     int64
}

// Whereabouts is where a page is, as far as is known: at its address, or where it redirects to.
type Whereabouts struct {
	PageKey
	State      PageState
	RedirectTo string
	Class      ErrorClass // why its last visits failed
	Failures   int32      // so many in a row
	VisitedAt  Instant    // Page.Stats.VisitedAt
}

// Whereabouts is where the page is.
func (p *Page) Whereabouts() Whereabouts {
	return Whereabouts{PageKey: PageKey{p.Bucket, p.ID}, State: p.State, RedirectTo: p.RedirectTo, Class: p.Class, Failures: p.Failures, VisitedAt: p.Stats.VisitedAt}
}

// whereTable is columns of pages that are read on their own.
var whereTable = table[Whereabouts]{"pages", "bucket id state redirect_to class failures visited_at", 2, func(p *Whereabouts) []any {
	return []any{&p.Bucket, &p.ID, &p.State, &p.RedirectTo, &p.Class, &p.Failures, &p.VisitedAt}
}}

// Whereabouts returns where those of some pages are that are known.
func (s *Store) Whereabouts(ctx context.Context, pages []PageKey) (map[PageKey]Whereabouts, error) {
	keys := make([]rowKey, len(pages))
	for i, p := range pages {
		keys[i] = rowKey{p.Bucket, p.ID}
	}
	found := make(map[PageKey]Whereabouts, len(pages))
	if err := knownOf(ctx, s, whereTable, keys, func(p *Whereabouts) { found[p.PageKey] = *p }); err != nil {
		return nil, fmt.Errorf("look up where pages are: %w", err)
	}
	return found, nil
}
