package models

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

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
