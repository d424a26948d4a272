package models

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// readLinks reads a slice of the links of a bucket. Index: the primary key.
var readLinks = `SELECT ` + linkTable.list() + ` FROM links WHERE bucket = $1
	AND (parent_id, child_bucket, child_id) > ($2, $3, $4) ORDER BY parent_id, child_bucket, child_id LIMIT $5`

// LinksFrom lists at most limit links whose parents lie in the bucket, in the order of their keys, from the one behind
// after on; the zero Link is before all.
func (s *Store) LinksFrom(ctx context.Context, bucket int16, after Link, limit int) ([]Link, error) {
	links, err := linkTable.scan(s.rows(ctx, readLinks, bucket, after.ParentID, after.ChildBucket, after.ChildID, limit))
	if err != nil {
		return nil, fmt.Errorf("read links of bucket %d: %w", bucket, err)
	}
	return links, nil
}

// SetImportance writes the importance of pages, in transactions of at most a few thousand of a bucket each; those that
// do not exist are left out. Commit never writes it, so that a visit under way does not bring the old one back.
func (s *Store) SetImportance(ctx context.Context, worths []Worth) error {
	byBucket := make(map[int16]map[int64]Worth)
	for _, w := range worths {
		if byBucket[w.Bucket] == nil {
			byBucket[w.Bucket] = make(map[int64]Worth)
		}
		byBucket[w.Bucket][w.PageID] = w
	}
	for _, bucket := range slices.Sorted(maps.Keys(byBucket)) {
		for slice := range slices.Chunk(byKey(byBucket[bucket]), sliceRows) {
			// Pages are locked in the order of their keys, as far as the engine follows it; where it does not, it
			// finds the circle and the transaction is run again.
			err := s.inTx(ctx, func(t *tx) error { return worthTable.update(ctx, t, slice) })
			if err != nil {
				return fmt.Errorf("set importance of %d pages: %w", len(worths), err)
			}
		}
	}
	return nil
}
