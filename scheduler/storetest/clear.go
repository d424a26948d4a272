package storetest

import (
	"errors"
	"fmt"
	"time"

	"recrawld/models"
)

// twoSites are two sites that share a host, s.example, and have one each; of the first the first page of each host was visited, and what can
// be left of it was written.
func (w *world) twoSites() []models.Site {
	w.Helper()
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a", URL: "https://a.example/"}, {Name: "b"}})
	w.must(err)
	for i, hosts := range [][]string{{"a.example", "s.example"}, {"b.example", "s.example"}} {
		for n, host := range hosts {
			d := found(host, 2*n+i)
			d.Page.SiteID = sites[i].ID
			w.addPages(d)
		}
	}
	for _, l := range w.claim(10, 10) {
		for i := range l.Pages {
			w.mustCommit(w.told(l, i))
		}
	}
	for _, site := range sites {
		for _, note := range []string{models.NoteBudget, models.NotePrice} {
			w.must(w.store.Merge(w.Context(), note+models.SiteAccount(site.ID), func([]byte) []byte { return []byte{1} }))
		}
	}
	return sites
}

// told is a visit that says all that a visit can say.
func (w *world) told(l models.Lease, i int) models.Result {
	r := w.visited(l, i)
	r.Page.Version, r.Version = 1, &models.Version{Number: 1}
	r.Links, r.LinksKnown = []models.Link{{ChildID: 1}}, true
	r.Robots = &models.Robots{Origin: "https://" + l.Host.Name, FetchedAt: models.At(w.now)}
	r.Knowledge, r.Memory, r.HostMemory = []byte{1}, []byte{2}, []byte{3}
	for _, key := range []int64{-5, 5, int64(r.Page.Bucket) << 56} {
		r.Filed = append(r.Filed, models.Filing{Key: key, PageBucket: r.Page.Bucket, PageID: r.Page.ID})
	}
	r.Host.Delay = 30 * time.Second
	r.Host.OpenAt = models.At(w.now.Add(r.Host.Delay))
	return r
}

// cleared clears what removed sites left, of hosts that have been open for a day.
func (w *world) cleared() models.Cleared {
	w.Helper()
	done, err := w.store.ClearRemoved(w.Context(), w.now, w.now.Add(-24*time.Hour))
	w.must(err)
	return done
}

// clearsRemoved: of one of two sites everything goes, but for its events, and of the other one nothing.
func clearsRemoved(w *world) {
	sites := w.twoSites()
	if got := w.cleared(); got != (models.Cleared{}) {
		w.Errorf("ClearRemoved before any removal = %+v, want nothing", got)
	}
	w.must(w.store.RemoveSite(w.Context(), sites[0].ID, w.now))
	w.now = w.now.Add(25 * time.Hour)
	if got, want := w.cleared(), (models.Cleared{Hosts: 1, Filings: 6}); got != want {
		w.Errorf("ClearRemoved = %+v, want %+v", got, want)
	}
	d := w.dump()
	for what, n := range map[string]int{"hosts": len(d.Hosts), "robots": len(d.Robots), "knowledge": len(d.Knowledge), "pages": len(d.Pages),
		"visits": len(d.Visits), "versions": len(d.Versions), "links": len(d.Links), "notes": len(d.Notes), "events": len(d.Events)} {
		if n != 2 {
			w.Errorf("%d %s are left, want 2", n, what)
		}
	}
	if len(d.Memories) != 4 || len(d.Filings) != 6 || len(d.Sites) != 1 { // two pages and their two hosts; three keys of each page
		w.Errorf("%d memories, %d filings, %d sites are left, want 4, 6, 1", len(d.Memories), len(d.Filings), len(d.Sites))
	}
	for _, row := range d.Daily {
		if row.SiteID != sites[1].ID {
			w.Errorf("a sum of the removed site is left: %+v", row)
		}
	}
	if got := w.cleared(); got != (models.Cleared{}) {
		w.Errorf("ClearRemoved again = %+v, want nothing", got)
	}
}

// politeAfterClearing: a host that was asked a moment ago stays, so that it is not asked at once when its site comes back.
func politeAfterClearing(w *world) {
	sites := w.twoSites()
	w.must(w.store.RemoveSite(w.Context(), sites[0].ID, w.now))
	open := w.now.Add(30 * time.Second)
	w.now = w.now.Add(time.Second)
	for _, before := range []time.Time{w.now, open.Add(-time.Millisecond)} {
		done, err := w.store.ClearRemoved(w.Context(), w.now, before)
		w.must(err)
		if done.Hosts != 0 {
			w.Fatalf("ClearRemoved before %v removed %d hosts, want none: it is open from %v on", before, done.Hosts, open)
		}
	}
	w.add("a.example", 1)
	if got := w.ready("a.example"); !got.Equal(open) {
		w.Errorf("a host that came back at once is ready at %v, want %v", got, open)
	}
	w.now = open
	l := w.claim(10, 1)
	w.must(w.store.RemoveSite(w.Context(), sites[1].ID, w.now))
	if err := w.store.RemoveSite(w.Context(), 1, w.now); len(l) == 0 || err != nil && !errors.Is(err, models.ErrNotFound) {
		w.Fatalf("%d leases, RemoveSite = %v", len(l), err)
	}
	done, err := w.store.ClearRemoved(w.Context(), w.now, w.now.Add(time.Hour))
	w.must(err)
	if got := w.host("a.example"); got.LeaseUntil == 0 {
		w.Errorf("host %+v is left (%+v), want one that is leased", got, done)
	}
}

// removedHostComesBack: what is late of a visit to the host that was is refused, and pages that were found on it are found again.
func removedHostComesBack(w *world) {
	sites := w.twoSites()
	w.now = w.now.Add(25 * time.Hour)
	var late []models.Result
	for _, l := range w.claim(10, 10) {
		for i := range l.Pages {
			late = append(late, w.visited(l, i))
		}
	}
	_, err := w.store.Recover(w.Context(), w.now, "")
	w.must(err)
	for _, site := range sites {
		w.must(w.store.RemoveSite(w.Context(), site.ID, w.now))
	}
	w.now = w.now.Add(25 * time.Hour)
	if got := w.cleared(); got.Hosts != 3 {
		w.Fatalf("ClearRemoved = %+v, want 3 hosts", got)
	}
	for _, err := range w.commit(late...) {
		if !errors.Is(err, models.ErrLeaseLost) {
			w.Errorf("a late visit to a removed host: %v, want %v", err, models.ErrLeaseLost)
		}
	}
	if d := w.dump(); len(d.Hosts)+len(d.Robots)+len(d.Knowledge)+len(d.Memories)+len(d.Filings)+len(d.Daily) != 0 {
		w.Errorf("left: %d hosts, %d robots, %d knowledge, %d memories, %d filings, %d days", len(d.Hosts), len(d.Robots), len(d.Knowledge),
			len(d.Memories), len(d.Filings), len(d.Daily))
	}
	w.add("a.example", 2)
	if got := w.host("a.example"); got.Pages != 2 || got.Removals <= 0 {
		w.Errorf("the host that came back has %d pages, and %d removals, want 2, and more than it had", got.Pages, got.Removals)
	}
}

// clearsOrphans: pages that somebody added to a site that was removed meanwhile go without a turn of theirs.
func clearsOrphans(w *world) {
	sites := w.twoSites()
	w.must(w.store.RemoveSite(w.Context(), sites[0].ID, w.now))
	d := found("late.example", 0)
	d.Page.SiteID = sites[0].ID
	w.addPages(d)
	for _, l := range w.claim(10, 10) {
		for i := range l.Pages {
			w.mustCommit(w.told(l, i))
		}
	}
	w.now = w.now.Add(25 * time.Hour)
	if got, want := w.cleared(), (models.Cleared{Sites: 1, Hosts: 2, Filings: 9}); got != want {
		w.Errorf("ClearRemoved = %+v, want %+v", got, want)
	}
	left := w.dump()
	if len(left.Pages) != 2 || len(left.Daily) == 0 || left.Daily[0].SiteID != sites[1].ID {
		w.Errorf("%d pages and the sums %+v are left, want those of the other site", len(left.Pages), left.Daily)
	}
}

// clearsSideBySide: some find pages on hosts, some remove them, and some clear. In the end each page has its host, which counts it.
func clearsSideBySide(w *world) {
	const hosts, rounds = 10, 6
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}})
	w.must(err)
	w.together(8, func(i int) error {
		for round := range rounds {
			var err error
			switch i % 4 {
			case 0:
				_, err = w.store.ClearRemoved(w.Context(), w.now, w.now)
			case 1:
				err = w.store.RemoveSite(w.Context(), sites[0].ID+1+int32(i), w.now)
			default:
				var pages []models.Discovery
				for h := range hosts {
					d := found(fmt.Sprintf("n%d.example", h), round*10+i)
					d.Page.SiteID = sites[0].ID + 1 + int32((i+round)%8)
					pages = append(pages, d)
				}
				_, err = w.store.AddPages(w.Context(), w.now, pages, 0)
			}
			if err != nil && !errors.Is(err, models.ErrNotFound) {
				return err
			}
		}
		return nil
	})
	d := w.dump()
	pages := make(map[string]int32)
	for _, p := range d.Pages {
		pages[fmt.Sprint(p.Bucket, p.HostID)]++
	}
	for _, h := range d.Hosts {
		key := fmt.Sprint(h.Bucket, h.ID)
		if pages[key] != h.Pages {
			w.Errorf("host %s counts %d pages and has %d", h.Name, h.Pages, pages[key])
		}
		delete(pages, key)
	}
	if len(pages) > 0 {
		w.Errorf("%d hosts are gone that have pages", len(pages))
	}
}
