package models

import (
	"context"
	"fmt"
)

// Look is a visit that saw the content of a page.
type Look struct {
	At         Instant
	Kind       OutcomeKind // Observed
	HappenedAt Instant     // of Changed: when it last changed, where a trusted date tells it; 0: some time since the look before
}

// Looks passes over the pages of a site, or of all (0), that were ever seen to change, and gives the looks at each since a moment, in the
// order of its visits. Requisites and duplicates of other pages are not among them. Each may keep nothing of what it is given.
//
// The history is kept by page and not by time. Of a site the pages and the event log of those buckets are read in which it has any, and the
// history of its own pages; memory is that of the looks at one page and of the dates in one bucket.
func (s *Store) Looks(ctx context.Context, site int32, since Instant, each func([]Look)) error {
	buckets, err := s.bucketsOf(ctx, site)
	if err != nil {
		return fmt.Errorf("read looks: %w", err)
	}
	for _, bucket := range buckets {
		if err := s.bucketLooks(ctx, bucket, site, since, each); err != nil {
			return fmt.Errorf("read looks: %w", err)
		}
	}
	return nil
}

// bucketsOf lists the buckets in which a site has pages, or any has (0).
func (s *Store) bucketsOf(ctx context.Context, site int32) (buckets []int16, err error) {
	var bucket int16
	for _, err := range s.scan(ctx, []any{&bucket}, `SELECT DISTINCT bucket FROM page_counts WHERE ($1 = 0 OR site_id = $1) AND pages > 0
		ORDER BY bucket`, site) {
		if err != nil {
			return nil, err
		}
		buckets = append(buckets, bucket)
	}
	return buckets, nil
}

// looksQuery is the visits of a bucket's pages. Indexes: the primary keys, that of pages for those of the bucket, and that of visits once a page, in
// the order that is asked for. SQLite takes what is joined by CROSS in the order in which it is written; what is left of the first
// table is few of many rows, which it does not know.
const looksQuery = `SELECT v.page_id, v.at, v.kind, v.version FROM pages p CROSS JOIN visits v
	WHERE p.bucket = $1 AND ($2 = 0 OR p.site_id = $2) AND p.changes > 0 AND NOT COALESCE(p.requisite,false) AND COALESCE(p.duplicate_of,'') = ''
	AND v.bucket = $1 AND v.page_id = p.id AND v.at >= $3 ORDER BY p.id, v.number`

// bucketLooks passes over one bucket.
func (s *Store) bucketLooks(ctx context.Context, bucket int16, site int32, since Instant, each func([]Look)) error {
	dates, err := s.changeDates(ctx, bucket, site, since)
	if err != nil {
		return err
	}
	var looks []Look
	var page, of int64
	var look Look
	var version int32
	for _, err := range s.scan(ctx, []any{&page, &look.At, &look.Kind, &version}, looksQuery, bucket, site, since) {
		if err != nil {
			return err
		}
		if page != of && len(looks) > 0 {
			each(looks)
			looks = looks[:0]
		}
		if of = page; !look.Kind.Observed() {
			continue
		}
		if look.HappenedAt = 0; look.Kind == Changed {
			look.HappenedAt = dates[pageVersion{page, version}]
		}
		looks = append(looks, look)
	}
	if len(looks) > 0 {
		each(looks)
	}
	return nil
}

// pageVersion names a version of a page of a bucket.
type pageVersion struct {
	page    int64
	version int32
}

// changeDates is when those versions of a bucket's pages came to be of which a trusted date tells it.
func (s *Store) changeDates(ctx context.Context, bucket int16, site int32, since Instant) (map[pageVersion]Instant, error) {
	dates := make(map[pageVersion]Instant)
	var of pageVersion
	var at Instant
	// Index: the primary key, for the events of a bucket.
	for _, err := range s.scan(ctx, []any{&of.page, &of.version, &at}, `SELECT page_id, version, not_after FROM events
		WHERE bucket = $1 AND ($2 = 0 OR site_id = $2) AND kind = $3 AND at >= $4 AND not_after > not_before AND not_after < at`,
		bucket, site, EventChanged, since) {
		if err != nil {
			return nil, err
		}
		dates[of] = at
	}
	return dates, nil
}
