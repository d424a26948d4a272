package models

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestWriters(t *testing.T) {
	t.Parallel()
	for d, want := range map[dialect]int{sqliteDialect: 1, postgresDialect: 2} {
		if got := (&Store{dialect: d}).Writers(); got != want {
			t.Errorf("Writers of %s = %d, want %d", d, got, want)
		}
	}
}

// TestFault_092_CommitsAtOnceDoNotWaitInCircles: commits of different leases find the same new hosts, saw the same bodies,
// file pages under the same keys, number events of the same buckets and count in the same sums, each in another order.
func TestFault_092_CommitsAtOnceDoNotWaitInCircles(t *testing.T) {
	t.Parallel()
	const rounds, writers, each = 12, 4, 20
	s, err := Open(t.Context(), migrated.DSN(t), Options{Conns: writers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	fill(t, s)
	c := ClaimRequest{Now: planStart.Add(time.Hour), Lease: time.Minute, Owner: "w", Hosts: writers * each, Pages: 1}
	for b := range int16(32) {
		c.Buckets = append(c.Buckets, b)
	}
	for round := range rounds {
		leases, err := s.Claim(t.Context(), c)
		if err != nil || len(leases) != writers*each {
			t.Fatalf("Claim = %d leases, %v, want %d", len(leases), err, writers*each)
		}
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				var results []Result
				for i := w; i < len(leases); i += writers {
					results = append(results, sharingResult(leases[i], c.Now, round))
				}
				rand.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
				verdicts, err := s.Commit(t.Context(), c.Now, results)
				if err != nil || slices.ContainsFunc(verdicts, func(v error) bool { return v != nil }) {
					t.Errorf("Commit = %v, %v", verdicts, err)
				}
			})
		}
		group.Wait()
		c.Now = c.Now.Add(2 * time.Hour)
	}
	if n := deadlocks(t, s, writers); n > 0 {
		t.Errorf("%d of %d commits waited for another that waited for them", n, rounds*writers)
	}
}

// deadlocks is how often the server ended a circle of transactions of the store's connections for commits, which are so many.
func deadlocks(t *testing.T, s *Store, conns int) (n int64) {
	t.Helper()
	for range conns {
		conn, err := s.keyed.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release() // only then: the next one is another
		if _, err := conn.Exec(t.Context(), "SELECT pg_stat_force_next_flush()"); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// sharingResult is a result that writes to what others of the round write to as well: to one kind of thing alone, because
// who waits for another at the first does not meet it at the second. The sums and the numbers of events come last.
func sharingResult(l Lease, now time.Time, round int) Result {
	r := richResult(l, now)
	switch n := rand.IntN(20); round % 4 {
	case 0:
		host := fmt.Sprintf("new%d-%d.example", round, n)
		found := Discovery{Host: host, Page: Page{SiteID: 1, URL: "https://" + host + "/"}}
		r.Discovered = append(r.Discovered, found)
	case 1:
		r.Content = &Content{Digest: DigestOf(fmt.Append(nil, round, " ", n))}
	case 2:
		r.Filed = append(r.Filed, Filing{Key: int64(n)<<56 | int64(round), PageBucket: 1, PageID: 1})
	}
	return r
}
