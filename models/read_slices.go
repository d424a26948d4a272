package models

import (
	"context"
	"fmt"
)

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
