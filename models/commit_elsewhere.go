package models

import (
	"cmp"
	"context"
	"slices"
)

// writeElsewhere writes what belongs to no bucket of the results: contents, which lie by their digests, and what was found
// out for other hosts. On a sharded server that is for other transactions (Store.deliver).
func (c *commit) writeElsewhere(ctx context.Context) error {
	if c.tx.store.sharded {
		return c.pack(ctx)
	}
	return add(ctx, c, contentTable, firstOf(c.fresh), contentTable.insert)
}

// firstOf is the bodies of results that were seen for the first time, by digest, so that two transactions with the same
// ones do not wait for each other in a circle.
func firstOf(results []*Result) []contentRow {
	first := make(map[string]contentRow)
	for _, r := range results {
		if r.Content == nil || r.Content.Digest.IsZero() {
			continue
		}
		digest := r.Content.Digest
		if _, seen := first[string(digest[:])]; !seen {
			first[string(digest[:])] = contentRow{*r.Content, int16(digest[0])}
		}
	}
	return byKey(first)
}

// parcelsOf is what the transactions leave for other buckets.
func parcelsOf(transactions []leftover) (all []parcel) {
	for _, w := range transactions {
		all = append(all, w.parcels...)
	}
	return all
}

// contentsOf is firstOf for what the transactions wrote, in the order of the buckets, as where one writes them all.
func contentsOf(transactions []leftover) []contentRow {
	var fresh []*Result
	for _, w := range transactions {
		fresh = append(fresh, w.fresh...)
	}
	slices.SortStableFunc(fresh, func(a, b *Result) int { return cmp.Compare(a.Lease.Bucket, b.Lease.Bucket) })
	return firstOf(fresh)
}
