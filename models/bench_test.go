package models_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"syscall"
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

// BenchmarkCycle claims, visits without a visit, and commits, with about 500 visits in a commit: visits/s. They are visits to ten
// pages each of some hosts in some buckets, or to one each of hosts in all buckets.
func BenchmarkCycle(b *testing.B) {
	for name, c := range map[string]models.ClaimRequest{"few hosts": {Hosts: 50, Pages: 10}, "many hosts": {Hosts: 500, Pages: 1}} {
		b.Run(name, func(b *testing.B) { benchBoth(b, func(b *testing.B, s *models.Store) { benchCycle(b, s, c) }) })
	}
}

func benchCycle(b *testing.B, s *models.Store, c models.ClaimRequest) {
	if _, err := s.AddPages(b.Context(), start, benchPages(0, 100000), 0); err != nil {
		b.Fatal(err)
	}
	c.Now, c.Lease, c.Owner = start, time.Minute, "bench"
	n := 0
	for b.Loop() {
		c.Now = c.Now.Add(time.Second)
		c.Buckets = c.Buckets[:0]
		first := n / 500 * 16
		for i := range models.Buckets / c.Pages { // about as many as hold the hosts
			c.Buckets = append(c.Buckets, int16((first+i)%models.Buckets))
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

// BenchmarkFirstCrawl commits first visits to pages of 20 hosts, 300 at a time, each with 25 links: to its 20 children, of which
// most are new, and to the start page and 4 others: CPU of this process a page.
func BenchmarkFirstCrawl(b *testing.B) {
	benchBoth(b, func(b *testing.B, s *models.Store) {
		const hosts, some = 20, 15
		if _, err := s.AddPages(b.Context(), start, startPages(hosts), 0); err != nil {
			b.Fatal(err)
		}
		c := models.ClaimRequest{Now: start, Lease: time.Minute, Owner: "bench", Hosts: hosts, Pages: some}
		for i := range int16(models.Buckets) {
			c.Buckets = append(c.Buckets, i)
		}
		n, spent := 0, time.Duration(0)
		for b.Loop() {
			c.Now = c.Now.Add(time.Second)
			leases, err := s.Claim(b.Context(), c)
			if err != nil {
				b.Fatal(err)
			}
			var results []models.Result
			for _, l := range leases {
				results = append(results, firstVisits(l, c.Now)...)
			}
			before := cpu(b)
			if _, err := s.Commit(b.Context(), c.Now, results); err != nil {
				b.Fatal(err)
			}
			spent += cpu(b) - before
			n += len(results)
		}
		b.ReportMetric(float64(spent.Microseconds())/float64(n), "cpu-µs/page")
	})
}

// cpu is what this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// crawled is a page of a site whose pages have 20 children each.
func crawled(host string, n int) models.Discovery {
	url := fmt.Sprintf("https://%s/section/%d/page-%d.html", host, n%97, n)
	return models.Discovery{Host: host, Page: models.Page{
		Bucket: models.BucketOf(host), HostID: models.HostID(host), ID: models.PageID(url), SiteID: 1, URL: url}}
}

func startPages(hosts int) []models.Discovery {
	var pages []models.Discovery
	for i := range hosts {
		pages = append(pages, crawled(fmt.Sprintf("host%d.example", i), 0))
	}
	return pages
}

// firstVisits is the results of first visits to all pages of a lease.
func firstVisits(l models.Lease, now time.Time) []models.Result {
	results := visits(l, now)
	for i := range results {
		r, before := &results[i], l.Pages[i].Page
		var section, n int
		fmt.Sscanf(strings.TrimPrefix(before.URL, "https://"+l.Host.Name), "/section/%d/page-%d.html", &section, &n)
		r.Before, r.LinksKnown, r.Page.DueAt, r.Visit.Kind = &before, true, models.At(now.Add(time.Hour)), models.First
		digest := models.DigestOf([]byte(before.URL))
		record := models.Record{File: "recrawld-w0-20260301120000-00001.warc.gz", Offset: int64(n) * 3000, Length: 2900}
		r.Page.Digest, r.Page.Children = digest, 25
		r.Version = &models.Version{Number: 1, At: models.At(now), Status: 200, Digest: digest, Bytes: 8192, ContentType: "text/html", Record: record}
		r.Content = &models.Content{Digest: digest, Record: record, URL: before.URL, At: models.At(now)}
		r.Events = []models.Event{{At: models.At(now), Kind: models.EventNew, SiteID: 1, PageID: before.ID, URL: before.URL, Digest: digest, Record: record}}
		for k := range 3 {
			key := int64(binary.BigEndian.Uint64(digest[8*k:]))
			r.Filed = append(r.Filed, models.Filing{Key: key, PageBucket: before.Bucket, PageID: before.ID})
		}
		for k := range 25 {
			to := n*20 + k + 1
			if k >= 20 {
				to = (n * 7 * (k - 20)) % (n + 1)
			}
			d := crawled(l.Host.Name, to)
			r.Discovered = append(r.Discovered, d)
			r.Links = append(r.Links, models.Link{ChildBucket: d.Page.Bucket, ChildID: d.Page.ID})
		}
	}
	return results
}
