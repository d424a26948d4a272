package models

import (
	"fmt"
	"testing"
	"time"
)

// TestACommitOverASplitShardLosesNothing: results of buckets that lay on one shard when they were leased, and lie on two by now.
func TestACommitOverASplitShardLosesNothing(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), distributed(t, Options{Conns: 2})
	fill(t, s)
	now := planStart.Add(time.Hour)
	c := ClaimRequest{Now: now, Lease: time.Minute, Owner: "w", Hosts: 1000, Pages: 1}
	for b := range int16(Buckets) {
		if s.shard(b) == s.shard(3) {
			c.Buckets = append(c.Buckets, b)
		}
	}
	leases, err := s.Claim(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	var results []Result
	for _, l := range leases {
		results = append(results, richResult(l, now))
	}
	split(t, s, s.placement(3))
	verdicts, err := s.Commit(ctx, now, results)
	if err != nil {
		t.Fatal(err)
	}
	for i, verdict := range verdicts {
		if verdict != nil {
			t.Fatalf("the visit in bucket %d: %v", results[i].Lease.Bucket, verdict)
		}
	}
	if parts := s.transactions(c.Buckets); len(parts) != 2 {
		t.Errorf("the buckets are taken to lie on %d shards, want 2", len(parts))
	}
}

// TestPagesAreAddedToASplitShardWhereTheyBelong: pages of buckets that were taken for those of one shard, and lie on two by now.
func TestPagesAreAddedToASplitShardWhereTheyBelong(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), distributed(t, Options{Conns: 2})
	split(t, s, s.placement(3))
	var found []Discovery
	for h := range 300 {
		host := fmt.Sprintf("h%d.example", h)
		found = append(found, Discovery{Host: host, Page: Page{SiteID: 1, URL: "https://" + host + "/"}})
	}
	added, err := s.AddPages(ctx, planStart, found, 0)
	if err != nil || added.Added != len(found) {
		t.Errorf("AddPages = %+v, %v, want %d added", added, err, len(found))
	}
	for _, d := range found {
		if _, err := s.Page(ctx, BucketOf(d.Host), PageID(d.Page.URL)); err != nil {
			t.Fatalf("%s: %v", d.Page.URL, err)
		}
	}
}

// split divides a shard in two, which stay on its server.
func split(t *testing.T, s *Store, p *placement) {
	t.Helper()
	var nodeID int
	err := s.reader.QueryRowContext(t.Context(), `SELECT nodeid FROM pg_dist_node WHERE groupid = $1`, p.node.group).Scan(&nodeID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.reader.ExecContext(t.Context(), `SELECT citus_split_shard_by_split_points($1,
		ARRAY[((shardminvalue::bigint + shardmaxvalue::bigint) / 2)::text], ARRAY[$2::int, $2::int], 'block_writes')
		FROM pg_dist_shard WHERE shardid = $1`, p.shard, nodeID)
	if err != nil {
		t.Fatal(err)
	}
}
