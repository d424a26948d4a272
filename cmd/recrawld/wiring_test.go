package main

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"recrawld/models"
	"recrawld/scheduler"
)

// TestThePartsAreConnected: the daemon leaves nothing out of what its worker and its visitor are made of, and that is as it is configured. Without most of
// these parts it works on, more slowly, or less politely in the end.
func TestThePartsAreConnected(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "worker: {name: w, fetchers: 7, memory: 99MiB, slow_share: 31%, lease: 7m, grace: 21s}\nnetwork: {allow: [127.0.0.0/8]}\n")
	d := built(t, path)
	visits := d.visits(&d.force.Load().config)
	for _, made := range []struct {
		of   any
		left []string // by default
	}{{d.worker.Config, []string{"Weights"}}, {visits, []string{"Roots", "Limits"}}} {
		parts := reflect.ValueOf(made.of)
		for i := range parts.NumField() {
			if name := parts.Type().Field(i).Name; parts.Field(i).IsZero() != slices.Contains(made.left, name) {
				t.Errorf("%s: %s is left out: %v, want it the other way round", parts.Type(), name, parts.Field(i).IsZero())
			}
		}
	}
	if t.Failed() {
		return
	}
	type settings struct {
		name           string
		fetchers       int
		memory, bodies int64
		slow           float64
		lease, grace   time.Duration
		writers        int
	}
	w := &d.worker.Config
	got := settings{w.Name, w.Fetchers, w.Memory, visits.Memory, w.SlowShare, w.Lease, w.Grace, w.Writers}
	if want := (settings{"w", 7, 99 << 20, 99 << 20, 0.31, 7 * time.Minute, 21 * time.Second, d.store.Writers()}); got != want {
		t.Errorf("the parts have %+v, want %+v as configured", got, want)
	}
	if want := (scheduler.Peer{Name: "w", Share: 1}); !slices.Contains(w.Live(), want) {
		t.Errorf("of those that live the worker sees %+v, want itself", w.Live())
	}
}

// TestPagesThatVisitsFindAreWeighedAtOnce: not only once a day with all others, but on their way into the database.
func TestPagesThatVisitsFindAreWeighedAtOnce(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "sites: [{url: \"http://127.0.0.1:9/\", importance: {rules: [{filter: {path: /news/}, weight: 5}]}}]\n")
	d := built(t, path)
	ctx, now, store := t.Context(), d.clock.Now(), d.worker.Store
	host, site := "127.0.0.1:9", d.force.Load().rows[0].ID
	leases, err := store.Claim(ctx, models.ClaimRequest{Buckets: []int16{models.BucketOf(host)}, Now: now.Add(time.Hour), Lease: time.Minute, Hosts: 1, Pages: 1})
	if err != nil || len(leases) != 1 {
		t.Fatalf("Claim = %v, %v", leases, err)
	}
	page := leases[0].Pages[0].Page
	page.Visits++
	r := models.Result{Lease: models.LeaseRef{Bucket: page.Bucket, HostID: page.HostID, Token: leases[0].Host.LeaseToken}, Release: true, Page: page,
		Host: leases[0].Host, Visit: models.Visit{Bucket: page.Bucket, PageID: page.ID, Number: page.Visits, At: models.At(now), Kind: models.First}}
	weights := map[string]float32{"http://127.0.0.1:9/news/1": 5, "http://127.0.0.1:9/olds/1": 1}
	for url := range weights {
		r.Discovered = append(r.Discovered, models.Discovery{Page: scheduler.NewPage(url, host, site, 1, 4), Host: host})
	}
	if lost, err := store.Commit(ctx, now.Add(time.Hour), []models.Result{r}); err != nil || lost[0] != nil {
		t.Fatalf("Commit = %v, %v", lost, err)
	}
	for url, want := range weights {
		if found, err := d.store.Page(ctx, page.Bucket, models.PageID(url)); err != nil || found.Importance != want {
			t.Errorf("%s has importance %v (%v), want %v", url, found.Importance, err, want)
		}
	}
}
