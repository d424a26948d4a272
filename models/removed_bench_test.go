package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
)

// BenchmarkRemoveSite removes a site of RECRAWLD_PAGES pages (default 20,000), 100 a host, each with two visits, a version, ten links and four
// filings, beside another of a tenth as many, and clears what it left, while somebody else writes again and again: seconds for each, how long
// the longest transaction on PostgreSQL and the slowest of those writes took, and MB of the database before, with the site, and after.
func BenchmarkRemoveSite(b *testing.B) {
	n := sized(b, "RECRAWLD_PAGES", 20_000)
	for name, dsn := range engines() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				longest := &longestTx{began: make(map[uint32]time.Time)}
				s, err := Open(b.Context(), dsn(b), Options{Trace: longest.see})
				if err != nil {
					b.Fatal(err)
				}
				removeBeside(b, s, n, longest)
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func removeBeside(b *testing.B, s *Store, n int, longest *longestTx) {
	sites, err := s.SyncSites(b.Context(), planStart, []Site{{Name: "stays"}, {Name: "goes"}})
	if err != nil {
		b.Fatal(err)
	}
	fillSite(b, s, sites[0].ID, n/10)
	b.ReportMetric(megabytes(b, s), "MB-before")
	fillSite(b, s, sites[1].ID, n)
	b.ReportMetric(megabytes(b, s), "MB-with")
	longest.most = 0
	var machine clock.System
	began := machine.Now()
	slowest := besideWrites(b, s, func() { err = s.RemoveSite(b.Context(), sites[1].ID, planStart) })
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(machine.Now().Sub(began).Seconds(), "s-remove")
	b.ReportMetric(slowest.Seconds()*1000, "ms-slowest-remove")
	b.ReportMetric(longest.most.Seconds()*1000, "ms-longest-remove")
	longest.most, began = 0, machine.Now()
	var done Cleared
	slowest = besideWrites(b, s, func() { done, err = s.ClearRemoved(b.Context(), planStart, planStart.Add(settled)) })
	if want := (Cleared{Hosts: int64(n / 100), Filings: int64(4 * n)}); err != nil || done != want {
		b.Fatalf("ClearRemoved = %+v, %v, want %+v", done, err, want)
	}
	b.ReportMetric(machine.Now().Sub(began).Seconds(), "s-clear")
	b.ReportMetric(slowest.Seconds()*1000, "ms-slowest-clear")
	b.ReportMetric(longest.most.Seconds()*1000, "ms-longest-clear")
	b.ReportMetric(megabytes(b, s), "MB-after")
	if _, err := s.ClearRemoved(b.Context(), planStart, planStart); err != nil {
		b.Fatal(err)
	}
}

// longestTx is how long the longest transaction on PostgreSQL took until it was committed.
type longestTx struct {
	mu    sync.Mutex
	began map[uint32]time.Time // guarded by mu; by connection
	most  time.Duration        // guarded by mu
}

func (l *longestTx) see(_ context.Context, s Statement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := clock.System{}.Now()
	switch {
	case len(s.SQL) >= 5 && s.SQL[:5] == "begin":
		l.began[s.Conn] = now
	case s.SQL == "commit" && !l.began[s.Conn].IsZero():
		l.most = max(l.most, now.Sub(l.began[s.Conn]))
	}
}

// megabytes is how large the database is, but for what it has free.
func megabytes(b *testing.B, s *Store) float64 {
	var size int64
	query := `SELECT pg_database_size(current_database())`
	if s.dialect == sqliteDialect {
		query = `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`
	} else if _, err := s.writer.ExecContext(b.Context(), "VACUUM"); err != nil {
		b.Fatal(err)
	}
	if err := s.writer.QueryRowContext(b.Context(), query).Scan(&size); err != nil {
		b.Fatal(err)
	}
	return float64(size) / 1e6
}

// fillSite writes n pages of a site as if they had been visited, bucket by bucket: in any other order most of the time would go into that.
func fillSite(b *testing.B, s *Store, site int32, n int) {
	hosts := make([]string, n/100)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("h%d.s%d.example", i, site)
	}
	slices.SortFunc(hosts, func(a, b string) int { return cmp.Compare(BucketOf(a), BucketOf(b)) })
	for some := range slices.Chunk(hosts, addRows/100) {
		var pages []Discovery
		for _, host := range some {
			for i := range 100 {
				pages = append(pages, Discovery{Host: host, Page: Page{SiteID: site, Version: 1, Visits: 2, URL: fmt.Sprintf("https://%s/%d", host, i)}})
			}
		}
		if _, err := s.AddPages(b.Context(), planStart, pages, 0); err != nil {
			b.Fatal(err)
		}
		if err := s.inTx(b.Context(), func(t *tx) error { return t.fillVisited(b.Context(), pages) }); err != nil {
			b.Fatal(err)
		}
	}
}

func (t *tx) fillVisited(ctx context.Context, pages []Discovery) error {
	var visits []Visit
	var versions []Version
	var links []linksRow
	var filings []filingRow
	for i := range pages {
		key, _ := pages[i].keys()
		var children []rowKey
		for n := range int32(10) {
			children = append(children, rowKey{key.bucket, key.id + int64(n)})
			if n < 2 {
				visits = append(visits, Visit{Bucket: key.bucket, PageID: key.id, Number: n + 1, At: At(planStart), Kind: NotModified, Status: 304})
			}
			if n < 4 {
				f := Filing{key.id ^ int64(n)<<62, key.bucket, key.id}
				filings = append(filings, filingRow{f, f.Bucket()})
			}
		}
		versions = append(versions, Version{Bucket: key.bucket, PageID: key.id, Number: 1, At: At(planStart), Record: Record{File: "a.warc.gz"}})
		links = append(links, linksRow{key.bucket, key.id, packChildren(children)})
	}
	for _, write := range []func() error{
		func() error { return visitTable.insert(ctx, t, visits) },
		func() error { return versionTable.insert(ctx, t, versions) },
		func() error { return linksTable.insert(ctx, t, links) },
		func() error { return filingTable.insert(ctx, t, filings) },
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}
