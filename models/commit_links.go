package models

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// holds tells whether the transaction may write to a bucket: on a sharded server to those of the shard of its results alone.
func (c *commit) holds(bucket int16) bool {
	return c.tx.store.shard(bucket) == c.tx.store.shard(c.results[0].Lease.Bucket)
}

// touched lists the hosts that the results touch beside the leased ones: those of discovered pages and of children
// that are brought forward. They are locked together with the leased ones, in one order.
func (c *commit) touched(ctx context.Context) ([]rowKey, error) {
	var keys []rowKey
	for _, r := range c.results {
		for i := range r.Discovered {
			name := Clean(r.Discovered[i].Host)
			if bucket := BucketOf(name); c.holds(bucket) {
				keys = append(keys, rowKey{bucket, HostID(name)})
			}
		}
	}
	children, err := c.children(ctx, c.results)
	if err != nil {
		return nil, err
	}
	for bucket, ids := range children {
		if !c.holds(bucket) {
			continue
		}
		hosts, err := c.tx.hostsOf(ctx, bucket, ids)
		if err != nil {
			return nil, err
		}
		keys = append(keys, hosts...)
	}
	return keys, nil
}

// hostsOf is the hosts of those of the pages of a bucket that exist.
func (t *tx) hostsOf(ctx context.Context, bucket int16, pages []int64) ([]rowKey, error) {
	// Index: the primary key.
	rows, err := t.rows(ctx, `SELECT DISTINCT host_id FROM pages WHERE bucket = $1 AND id = ANY($2)`, bucket, pages)
	if err != nil {
		return nil, fmt.Errorf("hosts of children: %w", err)
	}
	ids, err := scanIDs(rows)
	if err != nil {
		return nil, fmt.Errorf("hosts of children: %w", err)
	}
	keys := make([]rowKey, len(ids))
	for i, id := range ids {
		keys[i] = rowKey{bucket, id}
	}
	return keys, nil
}

// children lists, by bucket, the children that are to be brought forward.
func (c *commit) children(ctx context.Context, results []*Result) (map[int16][]int64, error) {
	children := make(map[int16][]int64)
	var stored []rowKey
	for _, r := range results {
		switch {
		case r.Forward == 0:
		case r.LinksKnown:
			for _, l := range r.Links {
				children[l.ChildBucket] = append(children[l.ChildBucket], l.ChildID)
			}
		default:
			stored = append(stored, rowOfPage(r))
		}
	}
	links, err := c.linksOf(ctx, stored)
	for _, l := range links {
		children[l.ChildBucket] = append(children[l.ChildBucket], l.ChildID)
	}
	return children, err
}

// linksOf reads the links of parents.
func (c *commit) linksOf(ctx context.Context, parents []rowKey) (links []Link, err error) {
	// Index: the primary key.
	err = c.tx.byKeys(ctx, parents, keyed{table: "links", column: "parent_id", statement: func(from source) string {
		return `SELECT ` + linkTable.prefixed("k.") + ` FROM ` + from.from
	}}, func(rows answer) error {
		links = append(links, Link{})
		return rows.Scan(linkTable.fields(&links[len(links)-1])...)
	})
	return links, err
}

// writeLinks replaces the links of the parents whose children are known; links that stay are not written.
func (c *commit) writeLinks(ctx context.Context) error {
	wanted := make(map[Link]bool)
	parents := make(map[rowKey]bool)
	for _, r := range c.fresh {
		if !r.LinksKnown {
			continue
		}
		if parents[rowOfPage(r)] { // an earlier result of the same page
			maps.DeleteFunc(wanted, func(l Link, _ bool) bool { return (rowKey{l.Bucket, l.ParentID}) == rowOfPage(r) })
		}
		parents[rowOfPage(r)] = true
		for _, l := range r.Links {
			wanted[Link{r.Lease.Bucket, r.Page.ID, l.ChildBucket, l.ChildID}] = true
		}
	}
	stored, err := c.linksOf(ctx, slices.Collect(maps.Keys(parents)))
	if err != nil {
		return err
	}
	var gone, added []Link
	for _, l := range stored {
		if wanted[l] {
			delete(wanted, l)
		} else {
			gone = append(gone, l)
		}
	}
	for l := range wanted {
		added = append(added, l)
	}
	if err := linkTable.remove(ctx, c.tx, gone); err != nil {
		return err
	}
	return linkTable.insert(ctx, c.tx, added)
}

// forward makes the children of fully crawled parents due that were not visited since. Duplicates and those never due
// stay as they are.
func (c *commit) forward(ctx context.Context) error {
	for _, r := range c.fresh {
		if r.Forward == 0 {
			continue
		}
		children, err := c.children(ctx, []*Result{r})
		if err != nil {
			return err
		}
		for bucket, ids := range children {
			if !c.holds(bucket) {
				continue
			}
			if err := c.queue.hasten(ctx, bucket, forwarding{ids, r.Forward, r.ForwardOf}); err != nil {
				return fmt.Errorf("bring children forward: %w", err)
			}
		}
	}
	return nil
}

// hasten brings children of one bucket forward.
func (q *queue) hasten(ctx context.Context, bucket int16, f forwarding) error {
	// Index: the primary key.
	rows, err := q.tx.rows(ctx, `UPDATE pages SET due_at = $3, rule = $4
		WHERE bucket = $1 AND id = ANY($2) AND visited_at < $5 AND due_at > $3 AND rule <> $6 RETURNING host_id`,
		bucket, f.Children, int64(f.To), int16(RuleParent), int64(f.Of), int16(RuleDuplicate))
	if err != nil {
		return err
	}
	hosts, err := scanIDs(rows)
	for _, id := range hosts {
		// A host that was not locked got the child after the locks were taken: by a discovery, so it is due at once.
		if h := q.get(bucket, id); h != nil {
			h.Hasten(f.To)
		}
	}
	return err
}
