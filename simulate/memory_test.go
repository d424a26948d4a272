package simulate

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawld/models"
	"recrawld/scheduler"
)

// The semantics of Memory are tested by scheduler/storetest.

func TestForgetKeepsSumsOnly(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	m := NewMemory(MemoryOptions{Forget: true})
	if _, err := m.AddPages(t.Context(), now, []models.Discovery{{Host: "a.example", Page: models.Page{URL: "https://a.example/"}}}, 0); err != nil {
		t.Fatal(err)
	}
	c := models.ClaimRequest{Now: now, Lease: time.Minute, Hosts: 1, Pages: 1, Buckets: []int16{models.BucketOf("a.example")}}
	leases, err := m.Claim(t.Context(), c)
	if err != nil || len(leases) != 1 {
		t.Fatalf("Claim = %v, %v, want one lease", leases, err)
	}
	l := leases[0]
	page := l.Pages[0].Page
	page.Visits = 1
	verdicts, err := m.Commit(t.Context(), now, []models.Result{{
		Lease:   models.LeaseRef{Bucket: l.Host.Bucket, HostID: l.Host.ID, Token: l.Host.LeaseToken},
		Release: true, Page: page, Events: []models.Event{{Kind: models.EventNew}},
		Visit: models.Visit{Number: 1, At: models.At(now), Kind: models.First},
	}})
	if err != nil || verdicts[0] != nil {
		t.Fatalf("Commit = %v, %v", verdicts, err)
	}
	d, err := m.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Visits) != 0 || len(d.Events) != 0 || len(d.Daily) != 1 || d.Daily[0].First != 1 || d.Pages[0].Visits != 1 {
		t.Errorf("kept %d visits, %d events, days %v, page with %d visits, want none, none, one first visit, 1",
			len(d.Visits), len(d.Events), d.Daily, d.Pages[0].Visits)
	}
}

// TestPageHeapIsInOrder: whatever is rescheduled, the queue yields pages by due time and the earliest is first.
func TestPageHeapIsInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := NewMemory(MemoryOptions{})
		h := &host{}
		pages := make([]*page, rapid.IntRange(1, 20).Draw(t, "pages"))
		for i := range pages {
			pages[i] = &page{host: h, Page: models.Page{ID: int64(i)}}
		}
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			p := rapid.SampledFrom(pages).Draw(t, "page")
			p.DueAt = models.Instant(rapid.Int64Range(0, 30).Draw(t, "due"))
			m.reschedule(p)
		}
		var due []*page
		for _, p := range h.due.ordered(15) {
			due = append(due, p)
		}
		want := 0
		for _, p := range pages {
			if p.DueAt > 0 && p.DueAt <= 15 {
				want++
			}
		}
		if len(due) != want {
			t.Fatalf("%d pages due, want %d", len(due), want)
		}
		for i := range due {
			if i > 0 && due[i].DueAt < due[i-1].DueAt {
				t.Fatalf("page due at %d after one due at %d", due[i].DueAt, due[i-1].DueAt)
			}
		}
		if len(due) > 0 && h.due.earliest() != due[0].DueAt {
			t.Fatalf("earliest = %d, want %d", h.due.earliest(), due[0].DueAt)
		}
	})
}

// What a store returns that reuses its slices stays as it is until the same is asked again.
func TestReuseKeepsTheLeasesOfOneClaimApart(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := NewMemory(MemoryOptions{Reuse: true})
	var found []models.Discovery
	for n := range 300 {
		host := fmt.Sprintf("h%d.example", n%100)
		page := scheduler.NewPage(fmt.Sprintf("https://%s/%d", host, n), host, 1, 0, 1)
		page.DueAt = models.At(now)
		found = append(found, models.Discovery{Host: host, Page: page})
	}
	if _, err := m.AddPages(t.Context(), now, found, 0); err != nil {
		t.Fatal(err)
	}
	ready, err := m.Ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := models.ClaimRequest{Now: now.Add(time.Second), Lease: time.Hour, Owner: "one", Hosts: 100, Pages: 10}
	for _, r := range ready {
		c.Buckets = append(c.Buckets, r.Bucket)
	}
	leases, err := m.Claim(t.Context(), c)
	if err != nil || len(leases) != 100 {
		t.Fatalf("%d leases, %v, want 100", len(leases), err)
	}
	pages := make(map[int64]bool)
	for _, l := range leases {
		for _, p := range l.Pages {
			if p.HostID != l.Host.ID {
				t.Errorf("the lease of %s has %s", l.Host.Name, p.URL)
			}
			pages[p.ID] = true
		}
	}
	if len(pages) != 300 {
		t.Errorf("%d different pages leased, want 300", len(pages))
	}
}
