package models

import (
	"context"
	"slices"
)

// writeVisits writes the visits and the versions that they found.
func (c *commit) writeVisits(ctx context.Context) error {
	visits := make([]Visit, 0, len(c.fresh))
	var versions []Version
	inOrder := slices.SortedStableFunc(slices.Values(c.fresh), func(a, b *Result) int { return compareKeys(rowOfPage(a), rowOfPage(b)) })
	for _, r := range inOrder { // rows in a row lie in the same piece of a table
		if v := r.Visit; v.Number > 0 {
			v.Bucket, v.PageID = r.Lease.Bucket, r.Page.ID
			visits = append(visits, v)
		}
		if r.Version != nil {
			v := *r.Version
			v.Bucket, v.PageID = r.Lease.Bucket, r.Page.ID
			versions = append(versions, v)
		}
	}
	if err := add(ctx, c, visitTable, visits, visitTable.insert); err != nil {
		return err
	}
	if err := add(ctx, c, versionTable, versions, versionTable.insert); err != nil {
		return err
	}
	return c.regain(ctx)
}
