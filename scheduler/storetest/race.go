package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"recrawld/models"
)

// together runs f n times at once and waits.
func (w *world) together(n int, f func(i int) error) {
	w.Helper()
	var group sync.WaitGroup
	errs := make(chan error, n)
	for i := range n {
		group.Go(func() { errs <- f(i) })
	}
	group.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			w.Error(err)
		}
	}
}

// sideBySide: many workers visit what is due, until nothing is. No page is visited twice, and the events of a bucket
// are numbered without gaps in the order in which they can be seen.
func sideBySide(w *world) {
	const pages = 40
	hosts := append(sameBucket(6), "x.example", "y.example")
	for _, host := range hosts {
		w.add(host, pages)
	}
	w.together(8, func(i int) error {
		mine := *w
		for {
			c := mine.request(2, 3)
			c.Owner = fmt.Sprint("w", i)
			leases, err := w.store.Claim(w.Context(), c)
			if err != nil || len(leases) == 0 {
				return err
			}
			var results []models.Result
			for _, l := range leases {
				for _, r := range mine.visitAll(l) {
					r.Events = []models.Event{event(r, models.EventNew)}
					results = append(results, r)
				}
			}
			verdicts, err := w.store.Commit(w.Context(), w.now, results)
			if err != nil {
				return err
			}
			for _, v := range verdicts {
				if v != nil {
					return fmt.Errorf("nobody else had the host: %w", v)
				}
			}
		}
	})
	// A worker may have left while others held hosts that then had more pages due.
	for len(w.claimAndCommit(8, pages)) > 0 {
	}
	d := w.dump()
	for _, p := range d.Pages {
		if p.Visits != 1 {
			w.Errorf("page %s was visited %d times, want once", p.URL, p.Visits)
		}
	}
	if len(d.Visits) != pages*len(hosts) {
		w.Errorf("%d visits, want %d", len(d.Visits), pages*len(hosts))
	}
	next := make(map[int16]int64)
	for _, e := range d.Events {
		if next[e.Bucket]++; e.Seq != next[e.Bucket] {
			w.Errorf("bucket %d: event %d follows %d", e.Bucket, e.Seq, next[e.Bucket]-1)
		}
	}
}

// discoveriesAndReleases: one worker releases a host again and again while others find pages on it. Whatever the
// order, the host is ready for the new page.
func discoveriesAndReleases(w *world) {
	const rounds = 25
	w.add("target.example", 1)
	for round := range rounds {
		w.now = w.now.Add(25 * time.Hour)
		w.add(fmt.Sprintf("finder%d.example", round), 1)
		leases := w.claim(50, 50)
		w.together(len(leases), func(i int) error {
			results := w.visitAll(leases[i])
			if leases[i].Host.Name != "target.example" {
				results[0].Discovered = []models.Discovery{found("target.example", 100+round)}
			}
			_, err := w.store.Commit(w.Context(), w.now, results)
			return err
		})
		if got := w.ready("target.example"); !got.Equal(w.now) {
			w.Fatalf("round %d: host with a new page ready at %v, want %v", round, got, w.now)
		}
	}
	if h := w.host("target.example"); h.Pages != rounds+1 {
		w.Errorf("host has %d pages, want %d", h.Pages, rounds+1)
	}
}

// sameRemovals: many remove the same site while its pages become another one's. Each page goes once, and none of the other site's.
func sameRemovals(w *world) {
	const hosts, pages = 20, 40
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}, {Name: "b"}})
	w.must(err)
	of := func(site models.Site) (all []models.Discovery) {
		for i := range hosts * pages {
			d := found(fmt.Sprintf("n%d.example", i%hosts), i)
			d.Page.SiteID, d.Page.Version = site.ID, 1
			all = append(all, d)
		}
		return all
	}
	w.addPages(of(sites[0])...)
	w.together(5, func(i int) error {
		if i == 0 {
			for part := range slices.Chunk(of(sites[1]), 50) {
				if _, err := w.store.AddPages(w.Context(), w.now, part, 0); err != nil {
					return err
				}
			}
			return nil
		}
		if err := w.store.RemoveSite(w.Context(), sites[0].ID, w.now); !errors.Is(err, models.ErrNotFound) {
			return err
		}
		return nil
	})
	w.addPages(of(sites[1])...)
	d := w.dump()
	if len(d.Pages) != hosts*pages || len(d.Events) != hosts*pages {
		w.Errorf("%d pages, %d events, want %d of the other site and as many that are removed", len(d.Pages), len(d.Events), hosts*pages)
	}
	for _, h := range d.Hosts {
		if h.Pages != pages {
			w.Errorf("host %s has %d pages, want %d", h.Name, h.Pages, pages)
		}
	}
	for _, e := range d.Events {
		if e.SiteID != sites[0].ID {
			w.Errorf("%s is removed from site %d, want %d", e.URL, e.SiteID, sites[0].ID)
		}
	}
}

// sameDiscoveries: many find the same new pages on the same new hosts.
func sameDiscoveries(w *world) {
	var pages []models.Discovery
	for h := range 10 {
		for p := range 10 {
			pages = append(pages, found(fmt.Sprintf("n%d.example", h), p))
		}
	}
	var mu sync.Mutex
	var sum models.Added
	w.together(8, func(i int) error {
		mine := append(pages[i*10:len(pages):len(pages)], pages[:i*10]...)
		added, err := w.store.AddPages(context.WithoutCancel(w.Context()), w.now, mine, 0)
		mu.Lock()
		defer mu.Unlock()
		sum.Added += added.Added
		sum.Known += added.Known
		return err
	})
	if want := (models.Added{Added: 100, Known: 700}); sum != want {
		w.Errorf("AddPages by eight = %+v together, want %+v", sum, want)
	}
	for _, h := range w.dump().Hosts {
		if h.Pages != 10 || h.ReadyAt != models.At(w.now) {
			w.Errorf("host %s has %d pages, ready at %v, want 10, %v", h.Name, h.Pages, h.ReadyAt, w.now)
		}
	}
}
