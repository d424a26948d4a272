package models

import (
	"cmp"
	"context"
	"slices"
)

// writeKnowledge writes what is known of the hosts; of two results for one host what the later one says.
func (c *commit) writeKnowledge(ctx context.Context) error {
	last := make(map[rowKey]Knowledge)
	for _, r := range c.fresh {
		if len(r.Knowledge) > 0 {
			last[rowOfHost(r)] = Knowledge{Bucket: r.Lease.Bucket, HostID: r.Lease.HostID, Body: r.Knowledge}
		}
	}
	return knowledgeTable.upsert(ctx, c.tx, byRowKey(last))
}

// writeMemories writes what is remembered of pages and hosts; of two results for one the later one.
func (c *commit) writeMemories(ctx context.Context) error {
	type key struct {
		host rowKey
		page int64
	}
	last := make(map[key][]byte)
	for _, r := range c.fresh {
		if len(r.Memory) > 0 {
			last[key{rowOfHost(r), r.Page.ID}] = r.Memory
		}
		if len(r.HostMemory) > 0 {
			last[key{rowOfHost(r), HostMemoryID}] = r.HostMemory
		}
	}
	rows := make([]Memory, 0, len(last))
	for k, body := range last {
		rows = append(rows, Memory{Bucket: k.host.bucket, HostID: k.host.id, PageID: k.page, Body: body})
	}
	slices.SortFunc(rows, func(a, b Memory) int {
		return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.HostID, b.HostID), cmp.Compare(a.PageID, b.PageID))
	})
	return memoryTable.upsert(ctx, c.tx, rows)
}

func (c *commit) writeRobots(ctx context.Context) error {
	last := make(map[string]Robots)
	for _, r := range c.fresh {
		if r.Robots != nil {
			row := *r.Robots
			row.Bucket, row.HostID = r.Lease.Bucket, r.Lease.HostID
			last[row.Origin] = row
		}
	}
	return robotsTable.upsert(ctx, c.tx, byKey(last))
}
