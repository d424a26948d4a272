package models_test

import (
	"fmt"
	"testing"
	"time"

	"recrawld/internal/pgtest"
	"recrawld/models"
)

// benchBoth runs a benchmark on a store of each engine.
func benchBoth(b *testing.B, f func(b *testing.B, s *models.Store)) {
	for name, dsn := range map[string]func() string{
		"sqlite":   func() string { return b.TempDir() + "/bench.db" },
		"postgres": func() string { return pgtest.DSN(b) },
	} {
		b.Run(name, func(b *testing.B) {
			s, err := models.Open(b.Context(), dsn(), models.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			if err := s.Migrate(b.Context(), start); err != nil {
				b.Fatal(err)
			}
			f(b, s)
		})
	}
}

// benchPages is n pages on hosts of 50 pages each.
func benchPages(from, n int) []models.Discovery {
	pages := make([]models.Discovery, n)
	for i := range pages {
		host := fmt.Sprintf("host%d.example", (from+i)/50)
		pages[i] = models.Discovery{Host: host, Page: models.Page{SiteID: 1,
			URL: fmt.Sprintf("https://%s/section/%d/page-with-a-name.html", host, from+i)}}
	}
	return pages
}

// BenchmarkAddPages imports pages, 20,000 at a time: rows/s.
func BenchmarkAddPages(b *testing.B) {
	benchBoth(b, func(b *testing.B, s *models.Store) {
		const batch = 20000
		n := 0
		for b.Loop() {
			if _, err := s.AddPages(b.Context(), start, benchPages(n, batch), 0); err != nil {
				b.Fatal(err)
			}
			n += batch
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
	})
}

// BenchmarkCycle claims, visits without a visit, and commits, with about 500 visits in a commit: visits/s.
func BenchmarkCycle(b *testing.B) {
	benchBoth(b, func(b *testing.B, s *models.Store) {
		if _, err := s.AddPages(b.Context(), start, benchPages(0, 100000), 0); err != nil {
			b.Fatal(err)
		}
		c := models.ClaimRequest{Now: start, Lease: time.Minute, Owner: "bench", Hosts: 50, Pages: 10}
		n := 0
		for b.Loop() {
			c.Now = c.Now.Add(time.Second)
			c.Buckets = c.Buckets[:0]
			for i := range int16(16) {
				c.Buckets = append(c.Buckets, (int16(n/500%16)*16+i)%models.Buckets)
			}
			leases, err := s.Claim(b.Context(), c)
			if err != nil {
				b.Fatal(err)
			}
			var results []models.Result
			for _, l := range leases {
				results = append(results, visits(l, c.Now)...)
			}
			if _, err := s.Commit(b.Context(), c.Now, results); err != nil {
				b.Fatal(err)
			}
			n += len(results)
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "visits/s")
	})
}

// visits is the results of visits to all pages of a lease, which are due again at once.
func visits(l models.Lease, now time.Time) []models.Result {
	var results []models.Result
	for i := range l.Pages {
		p := l.Pages[i].Page
		p.Visits++
		p.State, p.DueAt, p.Rule, p.TriedAt = models.StateLive, models.At(now), models.RulePolicy, models.At(now)
		results = append(results, models.Result{
			Lease:   models.LeaseRef{Bucket: l.Host.Bucket, HostID: l.Host.ID, Token: l.Host.LeaseToken},
			Release: i == len(l.Pages)-1, Page: p, Host: l.Host,
			Visit: models.Visit{Number: p.Visits, At: models.At(now), Kind: models.NotModified, Status: 304, FRMax: 1},
		})
	}
	return results
}
