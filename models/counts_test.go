package models

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A commit that changes what a page is counted by moves it from one count to another; what somebody changes by hand is
// found, and a restored backup counts anew.
func TestPageCounts(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		ctx := t.Context()
		s := planStore(t, dsn)
		if err := s.Migrate(ctx, planStart); err != nil {
			t.Fatal(err)
		}
		found := []Discovery{{Host: "a.example", Page: Page{SiteID: 1, URL: "https://a.example/"}},
			{Host: "a.example", Page: Page{SiteID: 1, URL: "https://a.example/b"}}, {Host: "b.example", Page: Page{SiteID: 2, URL: "https://b.example/"}}}
		if _, err := s.AddPages(ctx, planStart, found, 0); err != nil {
			t.Fatal(err)
		}
		leases, err := s.Claim(ctx, ClaimRequest{Buckets: []int16{BucketOf("a.example")}, Now: planStart, Lease: 1e9, Hosts: 1, Pages: 2})
		if err != nil || len(leases) != 1 {
			t.Fatalf("Claim = %v, %v", leases, err)
		}
		failed := leases[0].Pages[0].Page
		failed.Visits, failed.Failures, failed.State = 1, 1, StateMissing
		result := Result{Lease: LeaseRef{Bucket: failed.Bucket, HostID: failed.HostID, Token: leases[0].Host.LeaseToken}, Release: true,
			Page: failed, Before: &leases[0].Pages[0].Page, Host: leases[0].Host, Visit: Visit{Number: 1, At: At(planStart), Kind: Missing}}
		if _, err := s.Commit(ctx, planStart, []Result{result, result}); err != nil {
			t.Fatal(err)
		}
		counted(t, s, SiteState{SiteID: 1, State: StateNew, Pages: 1}, SiteState{SiteID: 1, State: StateMissing, Pages: 1, Failing: 1},
			SiteState{SiteID: 2, State: StateNew, Pages: 1})
		if err := s.RemoveSite(ctx, 2, time.Unix(1, 0)); err != nil && !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		counted(t, s, SiteState{SiteID: 1, State: StateNew, Pages: 1}, SiteState{SiteID: 1, State: StateMissing, Pages: 1, Failing: 1})
		if known, err := s.PagesKnown(ctx); known != 2 || err != nil {
			t.Errorf("PagesKnown = %d, %v, want 2", known, err)
		}
		if _, err := s.writer.ExecContext(ctx, "UPDATE pages SET state = 2"); err != nil {
			t.Fatal(err)
		}
		if err := s.CheckCounts(ctx); !errors.Is(err, ErrMiscounted) {
			t.Errorf("CheckCounts after a change by hand = %v, want ErrMiscounted", err)
		}
		recounted(t, s)
	})
}

// counted checks what is counted.
func counted(t *testing.T, s *Store, want ...SiteState) {
	t.Helper()
	if err := s.CheckCounts(t.Context()); err != nil {
		t.Error(err)
	}
	got, err := s.PageCounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PageCounts (-want +got):\n%s", diff)
	}
}

// recounted restores a backup of a store whose counts are wrong.
func recounted(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	backup, _ := takeBackup(t, s)
	other := planStore(t, liteFile(t))
	if err := other.Migrate(ctx, planStart); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Restore(ctx, bytes.NewReader(backup), planStart); err != nil {
		t.Fatal(err)
	}
	counted(t, other, SiteState{SiteID: 1, State: StateLive, Pages: 2, Failing: 1})
}
