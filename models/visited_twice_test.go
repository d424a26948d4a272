package models

import (
	"errors"
	"strconv"
	"testing"
	"time"
)

// again claims h.example and gives a result for each of its pages, with the pages as they were leased.
func again(t *testing.T, s *Store, now time.Time, pages int) []Result {
	t.Helper()
	return visitsOf(t, s, "h.example", now, pages)
}

// visitsOf is again for any host.
func visitsOf(t *testing.T, s *Store, host string, now time.Time, pages int) []Result {
	t.Helper()
	leases, err := s.Claim(t.Context(), ClaimRequest{Now: now, Lease: time.Hour, Owner: "w", Hosts: 1, Pages: pages + 1,
		Buckets: []int16{BucketOf(host)}})
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

// TestRowsThatAreThere: what an earlier life of a page has left is met by its first visit, of a batch that takes every row for new.
// Its history stays as it is, its links are those of the visit, and what stands beside it is written.
func TestRowsThatAreThere(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := planStore(t, dsn)
		if err := s.Migrate(t.Context(), planStart); err != nil {
			t.Fatal(err)
		}
		for round, leave := range []func(*tx, *Result) error{
			func(*tx, *Result) error { return nil },
			func(x *tx, r *Result) error { return visitTable.insert(t.Context(), x, []Visit{r.Visit}) },
			func(x *tx, r *Result) error { return versionTable.insert(t.Context(), x, []Version{*r.Version}) },
			func(x *tx, r *Result) error {
				return contentTable.insert(t.Context(), x, []contentRow{{*r.Content, int16(r.Content.Digest[0])}})
			},
			func(x *tx, r *Result) error {
				return linksTable.insert(t.Context(), x, []linksRow{{r.Lease.Bucket, r.Page.ID, packChildren([]rowKey{{9, 9}})}})
			},
			func(x *tx, r *Result) error {
				return filingTable.insert(t.Context(), x, []filingRow{{r.Filed[0], r.Filed[0].Bucket()}})
			},
		} {
			firstVisits(t, s, round, leave)
		}
	})
}

// firstVisits commits the first visits of forty pages of a host of its own, in which something of the eighth was left.
func firstVisits(t *testing.T, s *Store, round int, leave func(*tx, *Result) error) {
	t.Helper()
	const pages = 40
	host := "h" + strconv.Itoa(round) + ".example"
	var found []Discovery
	for i := range pages {
		found = append(found, Discovery{Host: host, Page: Page{SiteID: 1, URL: "http://" + host + "/" + strconv.Itoa(i)}})
	}
	if _, err := s.AddPages(t.Context(), planStart, found, 0); err != nil {
		t.Fatal(err)
	}
	now := planStart.Add(time.Hour)
	results := visitsOf(t, s, host, now, pages)
	for i := range results {
		r := &results[i]
		bucket, id, digest := r.Lease.Bucket, r.Page.ID, DigestOf([]byte(r.Page.URL))
		r.Visit.Bucket, r.Visit.PageID, r.Visit.Kind = bucket, id, First
		r.Version = &Version{Bucket: bucket, PageID: id, Number: 1, Digest: digest}
		r.Content = &Content{Digest: digest, URL: r.Page.URL}
		r.LinksKnown, r.Links = true, []Link{{ChildBucket: bucket, ChildID: id}}
		r.Filed = []Filing{{Key: int64(i), PageBucket: bucket, PageID: id}}
		r.Events = []Event{{Kind: EventNew, PageID: id, URL: r.Page.URL}}
	}
	eighth := results[7]
	version, content := *eighth.Version, *eighth.Content
	eighth.Visit.Status, version.Status, content.URL = 299, 299, "http://elsewhere.example/"
	eighth.Version, eighth.Content = &version, &content
	if err := s.inTx(t.Context(), func(x *tx) error { return leave(x, &eighth) }); err != nil {
		t.Fatal(err)
	}
	if verdicts, err := s.Commit(t.Context(), now, results); err != nil || errors.Join(verdicts...) != nil {
		t.Fatalf("round %d: Commit = %v, %v", round, verdicts, err)
	}
	for _, table := range []string{"visits", "versions", "contents", "links", "prints", "events"} {
		if got := count(t, s, `SELECT COUNT(*) FROM `+table); got != (round+1)*pages {
			t.Errorf("after round %d %d rows of %s, want %d", round, got, table, (round+1)*pages)
		}
	}
	if got := count(t, s, `SELECT COUNT(*) FROM links WHERE children = $1`, packChildren([]rowKey{{9, 9}})); got != 0 {
		t.Errorf("round %d: the links that were left are still there", round)
	}
}

// count is the number that a query answers.
func count(t *testing.T, s *Store, query string, args ...any) (n int) {
	t.Helper()
	rows, err := s.rows(t.Context(), query, args...)
	if err := eachRow(rows, err, func(rows answer) error { return rows.Scan(&n) }); err != nil {
		t.Fatal(err)
	}
	return n
}
