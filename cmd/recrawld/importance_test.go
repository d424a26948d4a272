package main

import (
	"fmt"
	"log/slog"
	"math"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
)

var importanceNow = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// importanceStage is a database with a start page that links to ten pages of each of two directories, which link back.
func importanceStage(t *testing.T, settings string) (*models.Store, *inForce) {
	t.Helper()
	store, err := models.Open(t.Context(), liteFile(t), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	now := importanceNow
	if err := store.Migrate(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	row, err := store.AddSite(t.Context(), now, models.Site{Name: "a", URL: "http://a.test/", Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	force, err := putTogether(config.Default(), nil, []models.Site{row})
	if err != nil {
		t.Fatal(err)
	}
	found := []models.Discovery{{Page: scheduler.NewPage("http://a.test/", "a.test", row.ID, 0, 4), Host: "a.test"}}
	for i := range 10 {
		for _, directory := range []string{"news", "olds"} {
			page := scheduler.NewPage(fmt.Sprintf("http://a.test/%s/%d", directory, i), "a.test", row.ID, 1, 4)
			found = append(found, models.Discovery{Page: page, Host: "a.test"})
		}
	}
	for i := range found {
		found[i].Page.DueAt = models.At(now)
	}
	if _, err := store.AddPages(t.Context(), now, found, 0); err != nil {
		t.Fatal(err)
	}
	linkAll(t, store, now)
	return store, force
}

// linkAll visits every page and finds that it links to the start page and the start page to all.
func linkAll(t *testing.T, store *models.Store, now time.Time) {
	t.Helper()
	host := models.BucketOf("a.test")
	leases, err := store.Claim(t.Context(), models.ClaimRequest{Buckets: []int16{host}, Now: now, Lease: time.Hour, Hosts: 1, Pages: 100})
	if err != nil || len(leases) != 1 || len(leases[0].Pages) != 21 {
		t.Fatalf("Claim = %d leases, %v", len(leases), err)
	}
	lease := leases[0]
	start := models.PageID("http://a.test/")
	var results []models.Result
	for _, p := range lease.Pages {
		r := models.Result{Lease: models.LeaseRef{Bucket: host, HostID: lease.Host.ID, Token: lease.Host.LeaseToken},
			Page: p.Page, Host: lease.Host, LinksKnown: true}
		r.Page.Visits, r.Page.DueAt = 1, models.At(now.Add(time.Hour))
		r.Visit = models.Visit{Bucket: host, PageID: p.ID, Number: 1, At: models.At(now), Kind: models.First}
		for _, other := range lease.Pages {
			if p.ID != other.ID && (p.ID == start || other.ID == start) {
				r.Links = append(r.Links, models.Link{Bucket: host, ParentID: p.ID, ChildBucket: host, ChildID: other.ID})
			}
		}
		results = append(results, r)
	}
	results[len(results)-1].Release = true
	each, err := store.Commit(t.Context(), now, results)
	for _, lost := range each {
		if lost != nil || err != nil {
			t.Fatalf("Commit = %v, %v", each, err)
		}
	}
}

func importanceOf(t *testing.T, store *models.Store, url string) float64 {
	t.Helper()
	page, err := store.Page(t.Context(), models.BucketOf("a.test"), models.PageID(url))
	if err != nil {
		t.Fatal(err)
	}
	return float64(page.Importance)
}

func TestImportanceOfLinksAndRules(t *testing.T) {
	t.Parallel()
	store, force := importanceStage(t, "importance: {weight: 2, links: on, rules: [{filter: {path: /news/}, weight: 5}]}\n")
	d := &daemon{store: store, log: slog.New(slog.DiscardHandler), clock: clock.NewVirtual(importanceNow), start: config.Config{Worker: config.Worker{Name: "w"}}}
	d.force.Store(force)
	if err := chore(t, d, "importance")(importanceNow); err != nil {
		t.Fatal(err)
	}
	start, news, olds := importanceOf(t, store, "http://a.test/"), importanceOf(t, store, "http://a.test/news/3"), importanceOf(t, store, "http://a.test/olds/3")
	if math.Abs(news/olds-5) > 0.01 || start < 2*olds {
		t.Errorf("importance of the start page %v, of news %v, of olds %v", start, news, olds)
	}
	if mean := (start/2 + 10*news/10 + 10*olds/2) / 21; math.Abs(mean-1) > 0.03 {
		t.Errorf("the mean of what links make of pages is %v, want 1", mean)
	}
}

// What nobody computes again is not computed again: until a day has passed, or the settings change.
func TestImportanceIsComputedOnceADay(t *testing.T) {
	t.Parallel()
	store, force := importanceStage(t, "importance: {rules: [{filter: {path: /news/}, weight: 5}]}\n")
	now := importanceNow
	d := &daemon{store: store, log: slog.New(slog.DiscardHandler), clock: clock.NewVirtual(importanceNow), start: config.Config{Worker: config.Worker{Name: "w"}}}
	d.force.Store(force)
	const page = "http://a.test/news/1"
	follow := func(at time.Time, want float64) {
		t.Helper()
		if err := chore(t, d, "importance")(at); err != nil {
			t.Fatal(err)
		}
		if got := importanceOf(t, store, page); got != want {
			t.Errorf("importance at %v = %v, want %v", at, got, want)
		}
	}
	forget := func() {
		t.Helper()
		if err := store.SetImportance(t.Context(), []models.Worth{{Bucket: models.BucketOf("a.test"), PageID: models.PageID(page), Importance: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	follow(now, 5)
	forget()
	follow(now.Add(23*time.Hour), 1)
	follow(now.Add(25*time.Hour), 5)

	plain, err := putTogether(config.Default(), nil, []models.Site{{ID: 1, Name: "a", URL: "http://a.test/"}})
	if err != nil {
		t.Fatal(err)
	}
	d.force.Store(plain) // the rules are taken out of the configuration
	follow(now.Add(26*time.Hour), 1)
}

// Another worker that computes is left to it, unless it is not heard of again.
func TestOneWorkerComputesImportance(t *testing.T) {
	t.Parallel()
	now := importanceNow
	turn := importanceTurn{choreHold: choreHold{"other", models.At(now.Add(time.Minute))}}
	if turn.free("w", now, importanceHold) || !turn.free("other", now, importanceHold) || !turn.free("w", now.Add(time.Hour), importanceHold) {
		t.Error("the turn of another worker is not respected, or for too long")
	}
	turn.Until = models.At(now.AddDate(4, 0, 0)) // by a clock that was ahead
	if !turn.free("w", now, importanceHold) {
		t.Error("a turn that was taken by a clock that was ahead is respected for years")
	}
	for _, test := range []struct {
		turn  importanceTurn
		of    string
		pages int64
		want  bool
	}{
		{importanceTurn{}, "", 10, false}, {importanceTurn{}, "x", 10, true}, {importanceTurn{Of: "x"}, "", 10, true},
		{importanceTurn{Of: "x", At: models.At(now), Pages: 10}, "x", 20, false},
		{importanceTurn{Of: "x", At: models.At(now), Pages: 10}, "x", 21, true},
		{importanceTurn{Of: "x", At: models.At(now.Add(time.Minute)), Pages: 10}, "x", 10, false}, // by a worker that looked at the clock later
		{importanceTurn{Of: "x", At: models.At(now.AddDate(4, 0, 0)), Pages: 10}, "x", 10, true},  // by a clock that was ahead
		{fromNote[importanceTurn]([]byte("{")), "", 10, false},
	} {
		if got := test.turn.wanted(test.of, test.pages, now); got != test.want {
			t.Errorf("wanted(%q, %d) after %+v = %v, want %v", test.of, test.pages, test.turn, got, test.want)
		}
	}
}

// Pages that visits find are weighed by the rules before they are written.
func TestFoundPagesAreWeighed(t *testing.T) {
	t.Parallel()
	_, force := importanceStage(t, "importance: {weight: 2, rules: [{filter: {path: /news/}, weight: 5}]}\n")
	site := force.rows[0].ID
	found := []models.Discovery{
		{Page: models.Page{SiteID: site, URL: "http://a.test/news/9"}}, {Page: models.Page{SiteID: site, URL: "http://a.test/x"}},
		{Page: models.Page{SiteID: 99, URL: "http://a.test/news/9"}},
	}
	force.weigh(found)
	for i, want := range []float32{10, 2, 0} {
		if got := found[i].Page.Importance; got != want {
			t.Errorf("importance of found page %d = %v, want %v", i, got, want)
		}
	}
}
