package models

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"recrawld/internal/pgtest"
)

func TestWriters(t *testing.T) {
	t.Parallel()
	for d, want := range map[dialect]int{sqliteDialect: 1, postgresDialect: 2} {
		if got := (&Store{dialect: d}).Writers(); got != want {
			t.Errorf("Writers of %s = %d, want %d", d, got, want)
		}
	}
}

// TestCommitsAtOnceDoNotWaitInCircles: commits of different leases that file pages under the same keys, find the same
// new hosts and pages, saw the same body, bring the same children forward and count in the same sums, each in another
// order.
func TestCommitsAtOnceDoNotWaitInCircles(t *testing.T) {
	t.Parallel()
	var begun atomic.Int64
	s, err := Open(t.Context(), pgtest.DSN(t), Options{Trace: func(_ context.Context, st Statement) {
		if strings.HasPrefix(st.SQL, "begin") {
			begun.Add(1)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	fill(t, s)
	const rounds, writers, each = 12, 4, 10
	c := ClaimRequest{Now: planStart.Add(time.Hour), Lease: time.Minute, Owner: "w", Hosts: writers * each, Pages: 1}
	for b := range int16(16) {
		c.Buckets = append(c.Buckets, b)
	}
	for round := range rounds {
		leases, err := s.Claim(t.Context(), c)
		if err != nil || len(leases) != writers*each {
			t.Fatalf("Claim = %d leases, %v, want %d", len(leases), err, writers*each)
		}
		begun.Store(0)
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				var results []Result
				for i := w; i < len(leases); i += writers {
					results = append(results, sharingResult(leases[i], c.Now, round))
				}
				if w%2 == 1 {
					slices.Reverse(results)
				}
				verdicts, err := s.Commit(t.Context(), c.Now, results)
				if err != nil || slices.ContainsFunc(verdicts, func(v error) bool { return v != nil }) {
					t.Errorf("Commit = %v, %v", verdicts, err)
				}
			})
		}
		group.Wait()
		if n := begun.Load(); n != writers {
			t.Fatalf("%d commits took %d transactions: some waited for another that waited for them", writers, n)
		}
		c.Now = c.Now.Add(2 * time.Hour)
	}
}

// sharingResult is a result that writes to what other results of the round write to as well.
func sharingResult(l Lease, now time.Time, round int) Result {
	r := richResult(l, now)
	r.Content = &Content{Digest: DigestOf(fmt.Append(nil, "round ", round))}
	r.Filed = append(r.Filed, Filing{Key: int64(round) << 56, PageBucket: 1, PageID: 1})
	r.Unfiled = append(r.Unfiled, Filing{Key: int64(round-1) << 56, PageBucket: 1, PageID: 1})
	for n := range 3 {
		host := fmt.Sprintf("new%d-%d.example", round, n)
		found := Discovery{Host: host, Page: Page{SiteID: 1, URL: "https://" + host + "/"}}
		child := found.Row(now)
		r.Discovered = append(r.Discovered, found)
		r.Links = append(r.Links, Link{ChildBucket: child.Bucket, ChildID: child.ID})
	}
	return r
}
