package models

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
)

// holds tells whether the transaction may write to a bucket: on a sharded server to those of the shard of its results alone.
func (c *commit) holds(bucket int16) bool {
	return c.tx.store.shard(bucket) == c.tx.store.shard(c.results[0].Lease.Bucket)
}

// touched lists the hosts that the results touch beside the leased ones: those of discovered pages and of children and duplicates
// that are brought forward. They are locked together with the leased ones, in one order.
func (c *commit) touched(ctx context.Context) ([]rowKey, error) {
	var keys []rowKey
	for _, r := range c.results {
		for i := range r.Discovered {
			if i > 0 && r.Discovered[i].Host == r.Discovered[i-1].Host {
				continue
			}
			if _, host := r.Discovered[i].keys(); c.holds(host.bucket) && (len(keys) == 0 || keys[len(keys)-1] != host) {
				keys = append(keys, host)
			}
		}
	}
	children, err := c.children(ctx, c.results)
	if err != nil {
		return nil, err
	}
	for _, r := range c.results {
		for _, d := range r.Duplicates {
			children[d.Bucket] = append(children[d.Bucket], d.PageID)
		}
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
		return nil, fmt.Errorf("hosts of pages: %w", err)
	}
	ids, err := scanIDs(rows)
	if err != nil {
		return nil, fmt.Errorf("hosts of pages: %w", err)
	}
	keys := make([]rowKey, len(ids))
	for i, id := range ids {
		keys[i] = rowKey{bucket, id}
	}
	return keys, nil
}

// children lists, by bucket, the children that are to be brought forward. Those that a result knows are stored before children are
// brought forward, so another result of its page brings them forward as well.
func (c *commit) children(ctx context.Context, results []*Result) (map[int16][]int64, error) {
	forward := make(map[rowKey]bool)
	for _, r := range results {
		if r.Forward != 0 {
			forward[rowOfPage(r)] = true
		}
	}
	children := make(map[int16][]int64)
	var stored []rowKey
	for _, r := range results {
		switch {
		case !forward[rowOfPage(r)]:
		case r.LinksKnown:
			for _, l := range r.Links {
				children[l.ChildBucket] = append(children[l.ChildBucket], l.ChildID)
			}
		default:
			stored = append(stored, rowOfPage(r))
		}
	}
	links, err := c.tx.store.linksOf(ctx, c.tx.asker(), stored)
	if err != nil {
		return nil, err
	}
	for i := range links {
		keys, err := links[i].keys()
		if err != nil {
			return nil, err
		}
		for _, child := range keys {
			children[child.bucket] = append(children[child.bucket], child.id)
		}
	}
	return children, nil
}

// writeLinks replaces the links of the parents whose children are known, where they differ. A page that was not visited before
// has none.
func (c *commit) writeLinks(ctx context.Context) error {
	wanted := make(map[rowKey][]byte)
	var before []rowKey
	packed := make([][]byte, len(c.fresh))
	for i, r := range c.fresh { // of two results of one page the later one
		if !r.LinksKnown {
			continue
		}
		packed[i] = packLinks(r.Links)
		wanted[rowOfPage(r)] = packed[i]
		if r.Before == nil || r.Before.Visits > 0 {
			before = append(before, rowOfPage(r))
		}
	}
	stored, err := c.tx.store.linksOf(ctx, c.tx.asker(), before)
	if err != nil {
		return err
	}
	if err := c.nameAnew(stored, packed); err != nil {
		return err
	}
	gone, had := make(map[int16][]int64), make(map[rowKey]bool)
	for i := range stored {
		key := rowKey{stored[i].bucket, stored[i].parent}
		switch {
		case bytes.Equal(stored[i].children, wanted[key]):
			delete(wanted, key)
		case wanted[key] == nil:
			gone[key.bucket] = append(gone[key.bucket], key.id)
		default:
			had[key] = true
		}
	}
	if err := c.tx.unlink(ctx, gone); err != nil {
		return err
	}
	var others, fresh []linksRow
	for _, key := range slices.SortedFunc(maps.Keys(wanted), compareKeys) {
		switch row := (linksRow{key.bucket, key.id, wanted[key]}); {
		case row.children == nil:
		case had[key]:
			others = append(others, row)
		default:
			fresh = append(fresh, row)
		}
	}
	if err := linksTable.upsert(ctx, c.tx, others); err != nil {
		return err
	}
	return add(ctx, c, linksTable, fresh, linksTable.upsert)
}

// nameAnew marks what the pages link to that they did not before, each result beside the one before it: the links
// that were stored, and those of each result.
func (c *commit) nameAnew(stored []linksRow, packed [][]byte) error {
	before := make(map[rowKey][]byte, len(stored))
	for i := range stored {
		before[rowKey{stored[i].bucket, stored[i].parent}] = stored[i].children
	}
	for i, r := range c.fresh {
		if !r.LinksKnown {
			continue
		}
		key := rowOfPage(r)
		if err := r.namedAnew(before[key], packed[i]); err != nil {
			return err
		}
		before[key] = packed[i]
	}
	return nil
}

// unlink removes the links of parents, by bucket.
func (t *tx) unlink(ctx context.Context, parents map[int16][]int64) error {
	for _, bucket := range slices.Sorted(maps.Keys(parents)) {
		// Index: the primary key.
		if _, err := t.exec(ctx, `DELETE FROM links WHERE bucket = $1 AND parent_id = ANY($2)`, bucket, parents[bucket]); err != nil {
			return fmt.Errorf("remove links: %w", err)
		}
	}
	return nil
}

// forwardings are the pages that a result brings forward, by bucket.
func (c *commit) forwardings(ctx context.Context, r *Result) (map[int16][]forwarding, error) {
	forward := make(map[int16][]forwarding)
	for _, d := range r.Duplicates {
		forward[d.Bucket] = append(forward[d.Bucket], forwarding{Children: []int64{d.PageID}, To: d.DueAt, Of: r.Visit.At, Duplicates: true, Led: d.Led})
	}
	if r.Forward == 0 {
		return forward, nil
	}
	children, err := c.children(ctx, []*Result{r})
	for bucket, ids := range children {
		forward[bucket] = append(forward[bucket], forwarding{Children: ids, To: r.Forward, Of: r.ForwardOf})
	}
	return forward, err
}

// forward brings forward what the results say, as far as the transaction holds its bucket.
func (c *commit) forward(ctx context.Context) error {
	for _, r := range c.fresh {
		forward, err := c.forwardings(ctx, r)
		if err != nil {
			return err
		}
		for bucket, pages := range forward {
			for _, f := range pages {
				if !c.holds(bucket) {
					continue
				}
				if err := c.queue.hasten(ctx, bucket, f); err != nil {
					return fmt.Errorf("bring pages forward: %w", err)
				}
			}
		}
	}
	return nil
}

// hasten brings pages of one bucket forward that were not visited since, nor asked for in vain: duplicates, or the children of fully crawled
// parents. Of these, those that are duplicates and those never due stay as they are, and so do those whose turn has come and that wait for
// their site's budget alone: it has paid for their places in the line, and would pay again for others at its end.
func (q *queue) hasten(ctx context.Context, bucket int16, f forwarding) error {
	among := `rule NOT IN ($6, $7, $8)`
	values := []any{bucket, f.Children, int64(f.To), int16(RuleParent), int64(f.Of), int16(RuleDuplicate), int16(RuleOriginal), int16(RuleBudget)}
	if f.Duplicates {
		among, values[3], values = `rule = $6`, int16(RuleOriginal), values[:6]
	}
	if f.Led {
		among, values = `rule NOT IN ($6, $7) AND state = $8`, append(values, int16(RuleBudget), int16(StateMoved))
		values[5] = int16(RuleOriginal)
	}
	// Index: the primary key.
	rows, err := q.tx.rows(ctx, `UPDATE pages SET due_at = $3, rule = $4
		WHERE bucket = $1 AND id = ANY($2) AND visited_at < $5 AND COALESCE(tried_at,0) < $5 AND due_at > $3 AND `+among+`
		RETURNING host_id`, values...)
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
