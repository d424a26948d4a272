package models

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// leaseShares counts the known children of the pages that have some, and those of them that changed since the page's
// links were last extracted. Where the transaction is for one bucket alone, Claim counts the children in others after it.
func (t *tx) leaseShares(ctx context.Context, leases []Lease) error {
	return shares(ctx, t.rows, t.store.sharded, leases)
}

func shares(ctx context.Context, query querier, sharded bool, leases []Lease) error {
	for bucket, parents := range parentsOf(leases) {
		ids := slices.Collect(maps.Keys(parents))
		near := func(id int64, share ChildShare) {
			parents[id].Share.Known += share.Known
			parents[id].Share.Changed += share.Changed
		}
		if err := sharesNear(ctx, query, bucket, ids, near); err != nil {
			return fmt.Errorf("child shares: %w", err)
		}
		if sharded {
			continue
		}
		if err := sharesFar(ctx, query, bucket, parents); err != nil {
			return fmt.Errorf("child shares: %w", err)
		}
	}
	return nil
}

// parentsOf is the leased pages that have children, by bucket and ID.
func parentsOf(leases []Lease) map[int16]map[int64]*LeasedPage {
	parents := make(map[int16]map[int64]*LeasedPage)
	for i := range leases {
		for j := range leases[i].Pages {
			p := &leases[i].Pages[j]
			if p.Children == 0 {
				continue
			}
			if parents[p.Bucket] == nil {
				parents[p.Bucket] = make(map[int64]*LeasedPage)
			}
			parents[p.Bucket][p.ID] = p
		}
	}
	return parents
}

// sharesNear counts the children in the parents' own bucket, which most are.
func sharesNear(ctx context.Context, query querier, bucket int16, parents []int64, add func(int64, ChildShare)) error {
	// Indexes: the primary keys of links and pages.
	rows, err := query(ctx, `SELECT l.parent_id, COUNT(*),
		SUM(CASE WHEN (CASE WHEN c.changed_at > 0 THEN c.changed_at ELSE c.first_at END) > p.full_at THEN 1 ELSE 0 END)
		FROM pages p JOIN links l ON l.bucket = p.bucket AND l.parent_id = p.id AND l.child_bucket = p.bucket
		JOIN pages c ON c.bucket = p.bucket AND c.id = l.child_id AND c.level > p.level
		WHERE p.bucket = $1 AND p.id = ANY($2) GROUP BY l.parent_id`, bucket, parents)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var share ChildShare
		if err := rows.Scan(&id, &share.Known, &share.Changed); err != nil {
			return err
		}
		add(id, share)
	}
	return rows.Err()
}

// querier runs a query, in a transaction or outside.
type querier func(ctx context.Context, query string, args ...any) (answer, error)

// sharesFar counts the children in other buckets, in one query for each: a sharded server joins only within a bucket.
func sharesFar(ctx context.Context, query querier, bucket int16, parents map[int64]*LeasedPage) error {
	// Index: the primary key.
	rows, err := query(ctx, `SELECT `+linkTable.list()+` FROM links WHERE bucket = $1 AND parent_id = ANY($2)
		AND child_bucket <> $1`, bucket, slices.Collect(maps.Keys(parents)))
	links, err := linkTable.scan(rows, err)
	if err != nil {
		return err
	}
	above := make(map[int64][]int64) // parents by child
	children := make(map[int16][]int64)
	for _, l := range links {
		if above[l.ChildID] == nil {
			children[l.ChildBucket] = append(children[l.ChildBucket], l.ChildID)
		}
		above[l.ChildID] = append(above[l.ChildID], l.ParentID)
	}
	for bucket, ids := range children {
		rows, err := query(ctx, `SELECT `+pageTable.list()+` FROM pages WHERE bucket = $1 AND id = ANY($2)`, bucket, ids)
		pages, err := pageTable.scan(rows, err)
		if err != nil {
			return err
		}
		for i := range pages {
			for _, id := range above[pages[i].ID] {
				parents[id].Share.Count(&parents[id].Page, &pages[i])
			}
		}
	}
	return nil
}
