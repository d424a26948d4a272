package models

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestDuePagesAreFoundByTheirHostAlone: nothing that looks for the due pages of a host reads the keys of its bucket, which
// PostgreSQL likes to do where it is told both: it takes them for independent.
func TestDuePagesAreFoundByTheirHostAlone(t *testing.T) {
	t.Parallel()
	s := planStore(t, migrated.DSN(t))
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	var found []Discovery
	for h := range 200 {
		for p := range 50 {
			host := fmt.Sprintf("h%d.example", h)
			found = append(found, Discovery{Host: host, Page: Page{SiteID: 1, URL: fmt.Sprintf("https://%s/%d", host, p)}})
		}
	}
	if _, err := s.AddPages(t.Context(), planStart, found, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.ExecContext(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	before := keysRead(t, s)
	now := planStart.Add(time.Hour)
	for range 8 { // PostgreSQL makes its general plan at the sixth time
		leases, err := s.Claim(t.Context(), ClaimRequest{Now: now, Lease: time.Minute, Owner: "w", Hosts: 5, Pages: 3, Buckets: allBuckets()})
		if err != nil || len(leases) != 5 {
			t.Fatalf("Claim = %d leases, %v, want 5", len(leases), err)
		}
		host := leases[0].Host
		if _, err := s.Further(t.Context(), now, 3, []Handed{HandedOut(&leases[0].Pages[2].Page)}); err != nil {
			t.Fatal(err)
		}
		if err := s.HostPages(t.Context(), host.Bucket, host.ID, func(*Page) bool { return false }); err != nil {
			t.Fatal(err)
		}
		err = s.inTx(t.Context(), func(x *tx) error {
			due, err := newQueue(x).earliest(t.Context(), []rowKey{{host.Bucket, host.ID}, {leases[1].Host.Bucket, leases[1].Host.ID}})
			if len(due) == 0 {
				t.Error("no page is due")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := keysRead(t, s) - before; n > 0 {
		t.Errorf("to find due pages %d keys of pages were read, want none", n)
	}
}

// TestFewHostsAClaim: a claim takes hosts until they may have some hundred pages together, one at least.
func TestFewHostsAClaim(t *testing.T) {
	t.Parallel()
	large, small := Host{Pages: 10 * pagesPerClaim}, Host{Pages: 1}
	slow := Host{Pages: 10 * pagesPerClaim, Delay: time.Minute}
	for name, test := range map[string]struct {
		hosts []Host
		pages int // of a lease
		want  int
	}{
		"none":                      {nil, 10, 0},
		"small":                     {slices.Repeat([]Host{small}, 300), 10, 300},
		"a large one":               {[]Host{large, small, large}, 10 * pagesPerClaim, 1},
		"large, few pages of each":  {slices.Repeat([]Host{large}, 300), pagesPerClaim / 4, 4},
		"slow ones, a page of each": {slices.Repeat([]Host{slow}, 300), 100, 300},
		"a small and large ones":    {[]Host{small, large, large, large}, pagesPerClaim / 2, 3},
	} {
		c := ClaimRequest{Pages: test.pages, Patient: time.Second}
		if got := c.few(test.hosts, pagesPerClaim); len(got) != test.want {
			t.Errorf("%s: %d hosts of %d are claimed, want %d", name, len(got), len(test.hosts), test.want)
		}
	}
}

// keysRead is how many entries of the primary key of pages were read.
func keysRead(t *testing.T, s *Store) (n int64) {
	t.Helper()
	flushStatistics(t, s)
	err := s.writer.QueryRowContext(t.Context(), "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'pages_pkey'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
