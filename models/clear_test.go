package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// settled is when no host has been asked for a day.
const settled = 25 * time.Hour

// visitSite adds pages of a site on hosts and visits all that are due: a visit writes whatever it can.
func visitSite(t testing.TB, s *Store, site int32, hosts []string, pages int) {
	t.Helper()
	var found []Discovery
	for _, host := range hosts {
		for n := range pages {
			found = append(found, Discovery{Host: host, Page: Page{SiteID: site, URL: fmt.Sprintf("https://%s/%d/%d", host, site, n), Requisite: n == 1}})
		}
	}
	if _, err := s.AddPages(t.Context(), planStart, found, 0); err != nil {
		t.Fatal(err)
	}
	leases, err := s.Claim(t.Context(), ClaimRequest{Now: planStart, Lease: time.Minute, Owner: "w", Hosts: 1000, Pages: pages, Buckets: allBuckets()})
	if err != nil {
		t.Fatal(err)
	}
	var results []Result
	for _, l := range leases {
		for i := range l.Pages {
			results = append(results, fullVisit(l, i))
		}
	}
	verdicts, err := s.Commit(t.Context(), planStart, results)
	if err = errors.Join(append(verdicts, err)...); err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{NoteBudget, NotePrice} {
		if err := s.Merge(t.Context(), prefix+SiteAccount(site), func([]byte) []byte { return []byte{1} }); err != nil {
			t.Fatal(err)
		}
	}
}

// addVisited adds the site that goes, with so many pages on each of these hosts, all visited.
func addVisited(t testing.TB, s *Store, pages int, hosts ...string) Site {
	t.Helper()
	site, err := s.AddSite(t.Context(), planStart, Site{Name: "goes"})
	if err != nil {
		t.Fatal(err)
	}
	visitSite(t, s, site.ID, hosts, pages)
	return site
}

func fullVisit(l Lease, i int) Result {
	p, at := l.Pages[i].Page, At(planStart)
	body := DigestOf([]byte(p.URL))
	record := Record{File: "a.warc.gz", Offset: 1, Length: 2}
	r := Result{Lease: LeaseRef{l.Host.Bucket, l.Host.ID, l.Host.LeaseToken}, Release: i == len(l.Pages)-1, Before: &l.Pages[i].Page, Page: p, Host: l.Host,
		Visit:     Visit{Number: 1, At: at, Kind: Changed},
		Version:   &Version{Number: 1, At: at, Digest: body, Record: record},
		Content:   &Content{Digest: body, Record: record, URL: p.URL, At: at},
		Robots:    &Robots{Origin: "https://" + l.Host.Name, FetchedAt: at},
		Knowledge: []byte{1}, Memory: []byte{2}, HostMemory: []byte{3},
		Links: []Link{{Bucket: p.Bucket, ParentID: p.ID, ChildBucket: p.Bucket, ChildID: p.ID}}, LinksKnown: true,
		Filed:  []Filing{{5, p.Bucket, p.ID}, {-5, p.Bucket, p.ID}},
		Events: []Event{{At: at, Kind: EventNew, SiteID: p.SiteID, PageID: p.ID, URL: p.URL, Version: 1}}}
	r.Page.Visits, r.Page.Version, r.Page.State, r.Page.Digest, r.Page.DueAt = 1, 1, StateLive, body, at+Instant(time.Hour.Milliseconds())
	return r
}

// rowsOfTables counts the rows of all tables.
func rowsOfTables(t testing.TB, s *Store) map[string]int64 {
	t.Helper()
	begun, err := s.writer.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer begun.Rollback()
	tables, err := (&tx{store: s, sql: begun}).tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int64)
	for _, table := range tables {
		var n int64
		if err := begun.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table.Name).Scan(&n); err != nil {
			t.Fatal(err)
		}
		counts[table.Name] = n
	}
	return counts
}

// more is what tables have more rows of than before.
func more(now, before map[string]int64) map[string]int64 {
	diff := make(map[string]int64)
	for table, n := range now {
		if n != before[table] {
			diff[table] = n - before[table]
		}
	}
	return diff
}

// What one of several sites adds to each table goes when it is removed and what it left is cleared, but for events, the name that they are
// told by, and where the archive has which body; of what others have nothing goes. A table that is added needs to be thought of here.
func TestNothingOfARemovedSiteIsLeft(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		sites, err := s.SyncSites(t.Context(), planStart, []Site{{Name: "stays"}})
		if err != nil {
			t.Fatal(err)
		}
		visitSite(t, s, sites[0].ID, []string{"shared.example", "other.example"}, 4)
		before := rowsOfTables(t, s)
		added, err := s.AddSite(t.Context(), planStart, Site{Name: "goes", URL: "https://own.example/"})
		if err != nil {
			t.Fatal(err)
		}
		visitSite(t, s, added.ID, []string{"shared.example", "own.example"}, 4)
		t.Logf("before the removal: %v", more(rowsOfTables(t, s), before))
		if err := s.RemoveSite(t.Context(), added.ID, planStart); err != nil {
			t.Fatal(err)
		}
		t.Logf("after the removal: %v", more(rowsOfTables(t, s), before))
		done, err := s.ClearRemoved(t.Context(), planStart, planStart.Add(settled))
		if want := (Cleared{Hosts: 1, Filings: 16}); done != want || err != nil {
			t.Errorf("ClearRemoved = %+v, %v, want %+v", done, err, want)
		}
		got := more(rowsOfTables(t, s), before)
		want := map[string]int64{"events": 16, "contents": 8, "removed_sites": got["removed_sites"]} // one in each of the buckets of two hosts
		if d := cmp.Diff(want, got); d != "" || want["removed_sites"] < 1 || want["removed_sites"] > 2 {
			t.Errorf("tables that are not as they were (-want +got):\n%s", d)
		}
		if err := s.CheckCounts(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := s.PruneEvents(t.Context(), planStart.Add(settled), nil, 100); err != nil {
			t.Fatal(err)
		}
		if left := rowsOfTables(t, s); left["events"] != 0 || left["removed_sites"] != 0 {
			t.Errorf("%d events and %d names of removed sites are left when they are old, want none", left["events"], left["removed_sites"])
		}
	})
}

// cutAt is a context that ends after it was asked so many times, as a process can at any moment.
type cutAt struct {
	context.Context
	left *atomic.Int64
}

func (c cutAt) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// cut removes a site, and is killed after so many statements; false: it was done before.
func cut(t *testing.T, s *Store, site int32, statements int64) bool {
	t.Helper()
	ctx := cutAt{t.Context(), new(atomic.Int64)}
	ctx.left.Store(statements)
	err := s.RemoveSite(ctx, site, planStart)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return err != nil
}

// A removal that is cut off wherever it was is ended by ClearRemoved, unless it had not begun.
func TestARemovalThatIsCutOffIsEnded(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		begun := 0
		for n := int64(1); ; n += max(1, n/4) {
			site := addVisited(t, s, 2, fmt.Sprintf("a%d.example", n), fmt.Sprintf("b%d.example", n))
			cutOff := cut(t, s, site.ID, n)
			rows, err := s.Sites(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) > 0 && !rows[0].Paused { // it had not begun
				if err := s.RemoveSite(t.Context(), site.ID, planStart); err != nil {
					t.Fatal(err)
				}
			} else if len(rows) > 0 {
				begun++
			}
			if _, err := s.ClearRemoved(t.Context(), planStart, planStart.Add(settled)); err != nil {
				t.Fatal(err)
			}
			got := rowsOfTables(t, s)
			maps.DeleteFunc(got, func(table string, n int64) bool {
				return n == 0 || slices.Contains([]string{"events", "contents", "removed_sites", "buckets", "schema_migrations"}, table)
			})
			if len(got) > 0 {
				t.Fatalf("cut off after %d statements: %v are left", n, got)
			}
			if !cutOff {
				break
			}
		}
		if begun < 10 {
			t.Errorf("%d removals were cut off in their midst, want many", begun)
		}
	})
}

// Who adds a site again whose removal was cut off has it, with what is left of it, and visited.
func TestASiteIsAddedAgainWhoseRemovalWasCutOff(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		site := addVisited(t, s, 2, "a.example")
		for n := int64(1); ; n++ {
			if !cut(t, s, site.ID, n) {
				t.Fatal("it was removed before it was paused")
			}
			if rows, err := s.Sites(t.Context()); err != nil || rows[0].Paused {
				break
			}
		}
		again, err := s.SyncSites(t.Context(), planStart, []Site{{Name: "goes"}})
		if err != nil || again[0].ID != site.ID || again[0].Paused {
			t.Fatalf("SyncSites = %+v, %v, want site %d, not paused", again, err, site.ID)
		}
		if err := s.SetPaused(t.Context(), site.ID, true, planStart); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ClearRemoved(t.Context(), planStart, planStart.Add(settled)); err != nil {
			t.Fatal(err)
		}
		again, err = s.SyncSites(t.Context(), planStart, []Site{{Name: "goes"}})
		if n, known := s.PagesKnown(t.Context()); err != nil || known != nil || !again[0].Paused || n != 2 {
			t.Errorf("sites %+v, %v, %d pages, %v, want it with 2 pages, and paused as somebody wished", again, err, n, known)
		}
	})
}

// A checkpoint of before what a removed site left was cleared is restored with what it takes to clear that.
func TestWhatARemovedSiteLeftIsClearedAfterARestore(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		site := addVisited(t, s, 4, "a.example")
		if err := s.RemoveSite(t.Context(), site.ID, planStart); err != nil {
			t.Fatal(err)
		}
		raw, _ := takeBackup(t, s)
		restored := openBackup(t, liteFile(t))
		if _, err := restored.Restore(t.Context(), bytes.NewReader(raw), planStart); err != nil {
			t.Fatal(err)
		}
		done, err := restored.ClearRemoved(t.Context(), planStart, planStart.Add(settled))
		if done.Filings != 8 || done.Hosts != 1 || err != nil {
			t.Errorf("ClearRemoved after a restore = %+v, %v, want 8 filings and a host", done, err)
		}
		if keys, err := restored.MetaKeys(t.Context(), removingPrefix); len(keys) > 0 || err != nil {
			t.Errorf("marks %s are left, %v", strings.Join(keys, ", "), err)
		}
	})
}

// TestAHostWithPagesStaysWhateverIsCounted: without its row none of its pages would ever be visited again.
func TestAHostWithPagesStaysWhateverIsCounted(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		site, err := s.AddSite(t.Context(), planStart, Site{Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.AddPages(t.Context(), planStart, []Discovery{{Host: "a.example", Page: Page{SiteID: site.ID, URL: "https://a.example/", DueAt: At(planStart)}}}, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.writer.ExecContext(t.Context(), `UPDATE hosts SET pages = 0, lease_until = 0, open_at = 0`); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ClearRemoved(t.Context(), planStart, planStart.Add(settled)); err != nil {
			t.Fatal(err)
		}
		var hosts int
		if err := s.writer.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM hosts`).Scan(&hosts); err != nil || hosts != 1 {
			t.Errorf("%d hosts, %v, want the one whose pages are there", hosts, err)
		}
	})
}
