package models

import (
	"errors"
	"strconv"
	"testing"
	"time"
)

// again claims the only host and gives a result for each of its pages, with the pages as they were leased.
func again(t *testing.T, s *Store, now time.Time, pages int) []Result {
	t.Helper()
	leases, err := s.Claim(t.Context(), ClaimRequest{Now: now, Lease: time.Hour, Owner: "w", Hosts: 1, Pages: pages + 1,
		Buckets: []int16{BucketOf("h.example")}})
	if err != nil || len(leases) != 1 || len(leases[0].Pages) != pages {
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
			results := again(t, s, now, 3)
			for range 2 {
				if verdicts, err := s.Commit(t.Context(), now, results); err != nil || errors.Join(verdicts...) != nil {
					t.Fatalf("Commit = %v, %v", verdicts, err)
				}
			}
		}
		now = now.Add(time.Hour)
		results := again(t, s, now, 3)
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

// TestVisitsThatAreThere: a visit that the history has already, though nobody can tell from its page, stays as it is, and those
// beside it are written.
func TestVisitsThatAreThere(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := planStore(t, dsn)
		if err := s.Migrate(t.Context(), planStart); err != nil {
			t.Fatal(err)
		}
		const pages = 40
		var found []Discovery
		for i := range pages {
			found = append(found, Discovery{Host: "h.example", Page: Page{SiteID: 1, URL: "http://h.example/" + strconv.Itoa(i)}})
		}
		if _, err := s.AddPages(t.Context(), planStart, found, 0); err != nil {
			t.Fatal(err)
		}
		for round := range 3 {
			now := planStart.Add(time.Duration(round+1) * time.Hour)
			results := again(t, s, now, pages)
			there := results[7].Visit
			there.Bucket, there.PageID, there.Kind = results[7].Lease.Bucket, results[7].Page.ID, Changed
			err := s.inTx(t.Context(), func(x *tx) error { return visitTable.insert(t.Context(), x, []Visit{there}) })
			if err != nil {
				t.Fatal(err)
			}
			if verdicts, err := s.Commit(t.Context(), now, results); err != nil || errors.Join(verdicts...) != nil {
				t.Fatalf("Commit = %v, %v", verdicts, err)
			}
			var changed, all int
			rows, err := s.rows(t.Context(), `SELECT COUNT(*), SUM(CASE WHEN kind = $1 THEN 1 ELSE 0 END) FROM visits`, int64(Changed))
			err = eachRow(rows, err, func(rows answer) error { return rows.Scan(&all, &changed) })
			if err != nil || all != (round+1)*pages || changed != round+1 {
				t.Errorf("after round %d %d rows of history, %d of them as they were, %v, want %d and %d", round, all, changed, err,
					(round+1)*pages, round+1)
			}
		}
	})
}
