package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"recrawld/models"
)

// start is when every test begins.
var start = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// lease is how long leases last here.
const lease = time.Minute

// world is a store under test with a time of its own.
type world struct {
	*testing.T
	store Store
	now   time.Time
}

// must fails the test on an error.
func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// pageURL is the URL of a host's n-th page.
func pageURL(host string, n int) string { return fmt.Sprintf("https://%s/%d", host, n) }

// found is a host's n-th page.
func found(host string, n int) models.Discovery {
	return models.Discovery{Host: host, Page: models.Page{SiteID: 1, URL: pageURL(host, n)}}
}

// keysOf are the bucket and the ID of a host's n-th page.
func keysOf(host string, n int) (int16, int64) {
	return models.BucketOf(host), models.PageID(pageURL(host, n))
}

// add adds n pages of a host, all due now.
func (w *world) add(host string, n int) {
	w.Helper()
	var pages []models.Discovery
	for i := range n {
		d := found(host, i)
		d.Page.DueAt, d.Page.Rule = models.At(w.now), models.RulePolicy
		pages = append(pages, d)
	}
	w.addPages(pages...)
}

func (w *world) addPages(pages ...models.Discovery) models.Added {
	w.Helper()
	added, err := w.store.AddPages(w.Context(), w.now, pages, 0)
	w.must(err)
	return added
}

// request asks for leases of all buckets.
func (w *world) request(hosts, pages int) models.ClaimRequest {
	c := models.ClaimRequest{Now: w.now, Lease: lease, Owner: "w1", Hosts: hosts, Pages: pages}
	for b := range int16(models.Buckets) {
		c.Buckets = append(c.Buckets, b)
	}
	return c
}

// claim leases hosts of all buckets.
func (w *world) claim(hosts, pages int) []models.Lease {
	w.Helper()
	leases, err := w.store.Claim(w.Context(), w.request(hosts, pages))
	w.must(err)
	return leases
}

// claimOne leases one host.
func (w *world) claimOne(pages int) models.Lease {
	w.Helper()
	leases := w.claim(1, pages)
	if len(leases) != 1 {
		w.Fatalf("Claim at %v = %d leases, want 1", w.now, len(leases))
	}
	return leases[0]
}

// visited is the result of a visit to the i-th page of a lease: not modified, due again in a day. The host is released
// with the lease's last page.
func (w *world) visited(l models.Lease, i int) models.Result {
	p := l.Pages[i].Page
	p.Visits++
	p.State = models.StateLive
	p.DueAt = models.At(w.now.Add(24 * time.Hour))
	p.Rule = models.RulePolicy
	p.TriedAt, p.Stats.VisitedAt = models.At(w.now), models.At(w.now)
	h := l.Host
	h.OpenAt = models.At(w.now.Add(h.Delay))
	var before *models.Page
	if i%2 == 0 { // a store is to do the same without
		leased := l.Pages[i].Page
		before = &leased
	}
	return models.Result{
		Before:  before,
		Lease:   models.LeaseRef{Bucket: l.Host.Bucket, HostID: l.Host.ID, Token: l.Host.LeaseToken},
		Release: i == len(l.Pages)-1,
		Page:    p,
		Host:    h,
		Visit: models.Visit{Number: p.Visits, At: models.At(w.now), Kind: models.NotModified, Status: 304, FRMax: p.FRMax,
			Took: 20 * time.Millisecond, Rule: p.Rule},
	}
}

// visitAll is the results of visits to all pages of a lease.
func (w *world) visitAll(l models.Lease) []models.Result {
	results := make([]models.Result, len(l.Pages))
	for i := range l.Pages {
		results[i] = w.visited(l, i)
	}
	return results
}

// commit writes results and returns their verdicts.
func (w *world) commit(results ...models.Result) []error {
	w.Helper()
	verdicts, err := w.store.Commit(w.Context(), w.now, results)
	w.must(err)
	if len(verdicts) != len(results) {
		w.Fatalf("Commit of %d results returned %d verdicts", len(results), len(verdicts))
	}
	return verdicts
}

// mustCommit writes results and fails the test if one is refused.
func (w *world) mustCommit(results ...models.Result) {
	w.Helper()
	for i, err := range w.commit(results...) {
		if err != nil {
			w.Fatalf("result %d: %v", i, err)
		}
	}
}

// event is an event of a result.
func event(r models.Result, kind models.EventKind) models.Event {
	return models.Event{At: r.Visit.At, Kind: kind, SiteID: r.Page.SiteID, PageID: r.Page.ID, URL: r.Page.URL, Requisite: r.Page.Requisite}
}

func (w *world) dump() models.Dump {
	w.Helper()
	d, err := w.store.Dump(w.Context())
	w.must(err)
	return d
}

// host reads a host.
func (w *world) host(name string) models.Host {
	w.Helper()
	hosts := w.dump().Hosts
	i := slices.IndexFunc(hosts, func(h models.Host) bool { return h.Name == name })
	if i < 0 {
		w.Fatalf("no host %q", name)
	}
	return hosts[i]
}

// page reads a host's n-th page.
func (w *world) page(host string, n int) models.Page {
	w.Helper()
	pages := w.dump().Pages
	i := slices.IndexFunc(pages, func(p models.Page) bool { return p.URL == pageURL(host, n) })
	if i < 0 {
		w.Fatalf("no page %q", pageURL(host, n))
	}
	return pages[i]
}

// ready is when a bucket's earliest host is ready; the zero time: never.
func (w *world) ready(host string) time.Time {
	w.Helper()
	ready, err := w.store.Ready(w.Context())
	w.must(err)
	if !slices.IsSortedFunc(ready, func(a, b models.BucketReady) int { return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()) }) {
		w.Errorf("Ready = %v, want the earliest first", ready)
	}
	for _, r := range ready {
		if r.Bucket == models.BucketOf(host) {
			return r.At
		}
	}
	return time.Time{}
}

// setDelay gives a host a politeness delay, by a visit to its first page.
func (w *world) setDelay(delay time.Duration) {
	w.Helper()
	l := w.claimOne(1)
	r := w.visited(l, 0)
	r.Host.Delay, r.Host.OpenAt, r.Release = delay, models.At(w.now.Add(delay)), true
	w.mustCommit(r)
}

// sameBucket returns n host names of one bucket.
func sameBucket(n int) []string {
	var names []string
	for i := 0; len(names) < n; i++ {
		name := fmt.Sprintf("h%d.example", i)
		if models.BucketOf(name) == 7 {
			names = append(names, name)
		}
	}
	return names
}
