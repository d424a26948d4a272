package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/shared"
	"recrawld/models"
)

// BenchmarkUnnamed passes over pages with bodies of real ones on SQLite, as many requisites beside them, without a rest: the processor time for each
// page that is read, and for each row that is looked at in the other passes.
func BenchmarkUnnamed(b *testing.B) {
	const pages = 2000
	now := importanceNow
	store, err := models.Open(b.Context(), liteFile(b), models.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	kept, err := archive.Open(b.TempDir(), archive.Options{Worker: "w", Now: func() time.Time { return now }})
	if err != nil {
		b.Fatal(err)
	}
	defer kept.Close()
	row := fillReal(b, store, kept, now, pages)
	c := config.Default()
	c.Defaults.Requisites = config.RequisitesAll
	force, err := putTogether(c, config.DefaultOrigins(), []models.Site{row})
	if err != nil {
		b.Fatal(err)
	}
	counts, err := store.PageCounts(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var began time.Time
	var looked []time.Duration
	for b.Loop() {
		looked = looked[:0]
		u := newUnnamed(store, &past{store: store, bodies: kept.Reader}, force, counts, now, func(context.Context) (bool, error) { return true, nil })
		for _, take := range []func(context.Context, []models.Page) error{each(u.root), each(func(context.Context, *models.Page) error { return nil })} {
			began = clock.System{}.Now()
			if _, err := u.pass(b.Context(), u.slice, take); err != nil {
				b.Fatal(err)
			}
			looked = append(looked, clock.System{}.Now().Sub(began))
		}
		if u.found.read != pages || len(u.held) > 0 && u.found.undecided > pages/10 {
			b.Fatalf("%d pages were read, of %d what they name cannot be told: %+v", u.found.read, u.found.undecided, u.held)
		}
	}
	b.ReportMetric(float64((looked[0]-looked[1]).Microseconds())/pages, "µs/page")
	b.ReportMetric(float64(looked[1].Microseconds())/(2*pages), "µs/row")
}

// fillReal adds pages with the bodies of real ones, and as many requisites.
func fillReal(b *testing.B, store *models.Store, kept *archive.Archive, now time.Time, n int) models.Site {
	b.Helper()
	ctx := b.Context()
	row, err := models.Site{}, store.Migrate(ctx, now)
	if err == nil {
		row, err = store.AddSite(ctx, now, models.Site{Name: "real", URL: "http://h0.test/"})
	}
	var found []models.Discovery
	for i := range n {
		host := fmt.Sprintf("h%d.test", i/100)
		found = append(found, models.Discovery{Host: host, Page: models.Page{SiteID: row.ID, URL: fmt.Sprintf("http://%s/%d", host, i)}},
			models.Discovery{Host: host, Page: models.Page{SiteID: row.ID, URL: fmt.Sprintf("http://%s/%d.png", host, i), Requisite: true, DueAt: 0, Rule: models.RulePolicy}})
	}
	if err == nil {
		_, err = store.AddPages(ctx, now, found, 0)
	}
	if err != nil {
		b.Fatal(err)
	}
	bodies := realBodies(b)
	request := models.ClaimRequest{Now: now, Lease: time.Hour, Owner: "w", Hosts: n, Pages: n}
	for bucket := range int16(models.Buckets) {
		request.Buckets = append(request.Buckets, bucket)
	}
	for err == nil {
		var leases []models.Lease
		if leases, err = store.Claim(ctx, request); len(leases) == 0 {
			break
		}
		for _, l := range leases {
			err = errors.Join(err, visitReal(ctx, store, kept, now, l, bodies))
		}
	}
	if err = errors.Join(err, kept.Sync()); err != nil {
		b.Fatal(err)
	}
	return row
}

// visitReal commits first visits to the pages of a lease.
func visitReal(ctx context.Context, store *models.Store, kept *archive.Archive, now time.Time, l models.Lease, bodies func() []byte) (err error) {
	var results []models.Result
	for i := range l.Pages {
		p, body := l.Pages[i].Page, bodies()
		p.Visits, p.Version, p.State, p.ContentType, p.Digest, p.DueAt = 1, 1, models.StateLive, "text/html", models.DigestOf(body), models.At(now.AddDate(0, 0, 1))
		p.Stats = models.ChangeStats{Records: 1, FirstAt: models.At(now), VisitedAt: models.At(now)}
		record, appended := kept.Append(models.Capture{URL: p.URL, Outcome: models.Outcome{At: now, Status: 200, Proto: "HTTP/1.1",
			Header: []byte("Content-Type: text/html\r\n"), Body: body, Digest: p.Digest}})
		err = errors.Join(err, appended)
		results = append(results, models.Result{Lease: models.LeaseRef{Bucket: l.Host.Bucket, HostID: l.Host.ID, Token: l.Host.LeaseToken}, Page: p, Host: l.Host,
			Release: i == len(l.Pages)-1, Visit: models.Visit{Number: 1, At: models.At(now), Kind: models.First, Status: 200},
			Version: &models.Version{Bucket: p.Bucket, PageID: p.ID, Number: 1, At: models.At(now), Status: 200, Digest: p.Digest, ContentType: "text/html", Record: record}})
	}
	_, written := store.Commit(ctx, now, results)
	return errors.Join(err, written)
}

// realBodies gives bodies of real pages, one after the other.
func realBodies(b *testing.B) func() []byte {
	b.Helper()
	file, err := os.Open(shared.Path(b, "pages/pages.tar.zst"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	plain, err := zstd.NewReader(file)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(plain.Close)
	bodies := tar.NewReader(plain)
	return func() []byte {
		if _, err := bodies.Next(); err != nil {
			b.Fatal(err)
		}
		body, err := io.ReadAll(bodies)
		if err != nil {
			b.Fatal(err)
		}
		return body
	}
}
