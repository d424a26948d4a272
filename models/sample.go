package models

import (
	"context"
	"fmt"
)

// Sampled is a page of a sample (Store.Sample), with what tells whether it says what another one says.
type Sampled struct {
	Bucket      int16
	ID          int64
	SiteID      int32
	URL         string
	State       PageState
	Requisite   bool
	Visits      int32 // attempts so far
	Records     int32 // those that saw the content
	Changes     int32
	RedirectTo  string // for StateMoved
	DuplicateOf string
}

// Says is the URL of the page that says what this one says: the one that it leads to, the one that it is a duplicate of, or itself; "" where
// no visit has told yet, or the page is not there any more.
func (p *Sampled) Says() string {
	switch {
	case p.State == StateMoved:
		return p.RedirectTo
	case p.State != StateLive || p.Records == 0:
		return ""
	case p.DuplicateOf != "":
		return p.DuplicateOf
	}
	return p.URL
}

var sampledTable = table[Sampled]{"pages", "bucket id site_id url state requisite visits records changes redirect_to duplicate_of", 2,
	func(p *Sampled) []any {
		return []any{&p.Bucket, &p.ID, &p.SiteID, &p.URL, &p.State, &p.Requisite, &p.Visits, &p.Records, &p.Changes, &p.RedirectTo, &p.DuplicateOf}
	}}

// Sample is the first n pages of a bucket by their IDs, in that order. Since an ID is a hash of the URL they are as good as drawn at random,
// but the same ones each time, whoever draws.
func (s *Store) Sample(ctx context.Context, bucket int16, n int) ([]Sampled, error) {
	pages, err := sampledTable.scan(s.rows(ctx, sampleQuery(), bucket, n))
	if err != nil {
		return nil, fmt.Errorf("read a sample of bucket %d: %w", bucket, err)
	}
	return pages, nil
}

// sampleQuery reads a sample. Index: the primary key, which ends it behind n rows.
func sampleQuery() string {
	return "SELECT " + sampledTable.prefixed("") + ` FROM pages WHERE bucket = $1 ORDER BY id LIMIT $2`
}

// SampledByID returns those of the pages of a bucket that exist, as a sample has them, by ID.
func (s *Store) SampledByID(ctx context.Context, bucket int16, ids []int64) (map[int64]Sampled, error) {
	keys, known := make([]rowKey, len(ids)), make(map[int64]Sampled, len(ids))
	for i, id := range ids {
		keys[i] = rowKey{bucket, id}
	}
	if err := knownOf(ctx, s, sampledTable, keys, func(p *Sampled) { known[p.ID] = *p }); err != nil {
		return nil, fmt.Errorf("read known pages of bucket %d: %w", bucket, err)
	}
	return known, nil
}
