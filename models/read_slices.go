package models

import (
	"context"
	"fmt"
	"iter"
)

// EachPage calls f with each page, in the order of their buckets and IDs, until it fails. What is added or removed meanwhile may be among
// them or not. The page is f's alone.
func (s *Store) EachPage(ctx context.Context, f func(*Page) error) error {
	const slice = 2000
	for bucket := range int16(Buckets) {
		for after, full := int64(-1), true; full; {
			pages, err := s.PagesFrom(ctx, bucket, after, slice)
			if err != nil {
				return err
			}
			for i := range pages {
				if err := f(&pages[i]); err != nil {
					return err
				}
			}
			if full = len(pages) == slice; full {
				after = pages[len(pages)-1].ID
			}
		}
	}
	return nil
}

// PagesFrom lists at most limit pages of a bucket in the order of their IDs, from the one behind after on; -1 is before
// all. Passing over a table in slices holds no snapshot for longer than a slice.
func (s *Store) PagesFrom(ctx context.Context, bucket int16, after int64, limit int) ([]Page, error) {
	// Index: the primary key.
	pages, err := pageTable.scan(s.rows(ctx, "SELECT "+pageTable.prefixed("")+` FROM pages
		WHERE bucket = $1 AND id > $2 ORDER BY id LIMIT $3`, bucket, after, limit))
	if err != nil {
		return nil, fmt.Errorf("read pages of bucket %d: %w", bucket, err)
	}
	return pages, nil
}

// VersionsOf lists the versions of the pages of a bucket whose IDs are in a range, both ends included, by page and number. It
// reads row by row with a snapshot held meanwhile, so that pages may have any number of versions; whoever takes the rows takes
// them without delay. An error ends the sequence.
func (s *Store) VersionsOf(ctx context.Context, bucket int16, first, last int64) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		var v Version
		// Index: the primary key.
		query := "SELECT " + versionTable.list() + ` FROM versions
			WHERE bucket = $1 AND page_id >= $2 AND page_id <= $3 ORDER BY page_id, number`
		for _, err := range s.scan(ctx, versionTable.fields(&v), query, bucket, first, last) {
			if err != nil {
				err = fmt.Errorf("read versions of bucket %d: %w", bucket, err)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}
