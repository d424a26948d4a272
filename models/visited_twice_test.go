package models

import (
	"errors"
	"testing"
	"time"
)

// again claims the only host and gives a result for each of its pages, with the pages as they were leased.
func again(t *testing.T, s *Store, now time.Time) []Result {
	t.Helper()
	leases, err := s.Claim(t.Context(), ClaimRequest{Now: now, Lease: time.Hour, Owner: "w", Hosts: 1, Pages: 9,
		Buckets: []int16{BucketOf("h.example")}})
	if err != nil || len(leases) != 1 || len(leases[0].Pages) != 3 {
		t.Fatalf("Claim = %d leases, %v", len(leases), err)
	}
	l := leases[0]
	results := make([]Result, len(l.Pages))
	for i := range l.Pages {
		before := l.Pages[i].Page
		after := before
		after.Visits++
		after.State, after.DueAt = StateLive, At(now.Add(time.Minute))
		results[i] = Result{Lease: LeaseRef{l.Host.Bucket, l.Host.ID, l.Host.LeaseToken}, Page: after, Before: &before, Host: l.Host,
			Release: i == len(l.Pages)-1, Visit: Visit{Number: after.Visits, At: At(now), Kind: NotModified}}
	}
	return results
}

// TestPagesThatAreNotAsTheyWereLeased: a commit does not look at pages that were visited before, and yet writes no visit
// twice and none of a page that was removed.
func TestPagesThatAreNotAsTheyWereLeased(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := planStore(t, dsn)
		if err := s.Migrate(t.Context(), planStart); err != nil {
			t.Fatal(err)
		}
		var found []Discovery
		for _, path := range []string{"a", "b", "c"} {
			found = append(found, Discovery{Host: "h.example", Page: Page{SiteID: 1, URL: "http://h.example/" + path}})
		}
		if _, err := s.AddPages(t.Context(), planStart, found, 0); err != nil {
			t.Fatal(err)
		}
		now := planStart
		for range 2 {
			now = now.Add(time.Hour)
			results := again(t, s, now)
			for range 2 {
				if verdicts, err := s.Commit(t.Context(), now, results); err != nil || errors.Join(verdicts...) != nil {
					t.Fatalf("Commit = %v, %v", verdicts, err)
				}
			}
		}
		now = now.Add(time.Hour)
		results := again(t, s, now)
		err := s.inTx(t.Context(), func(x *tx) error {
			_, err := x.exec(t.Context(), `DELETE FROM pages WHERE bucket = $1 AND id = $2`, results[1].Lease.Bucket, results[1].Page.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		verdicts, err := s.Commit(t.Context(), now, results)
		if err != nil || verdicts[0] != nil || !errors.Is(verdicts[1], ErrLeaseLost) || verdicts[2] != nil {
			t.Errorf("Commit of three, the second of them removed = %v, %v", verdicts, err)
		}
		rows, err := visitTable.scan(s.rows(t.Context(), `SELECT `+visitTable.list()+` FROM visits`))
		if err != nil || len(rows) != 8 {
			t.Errorf("%d rows of history, %v, want 8", len(rows), err)
		}
	})
}
