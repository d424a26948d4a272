package storetest

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// remembers fails where something else is remembered of a host's page (or the host) than this; "": nothing.
func (w *world) remembers(host string, page int64, want string) {
	w.Helper()
	got, err := w.store.Memory(w.Context(), models.BucketOf(host), models.HostID(host), page)
	w.must(err)
	if !bytes.Equal(got, []byte(want)) || (got == nil) != (want == "") {
		w.Errorf("memory of %s, %d = %q, want %q", host, page, got, want)
	}
}

// memoriesAreKept: what is remembered is fenced by the lease, written with the visit, and of two results the later counts.
func memoriesAreKept(w *world) {
	const host = "a.example"
	w.add(host, 2)
	_, first := keysOf(host, 0)
	_, second := keysOf(host, 1)
	w.remembers(host, first, "")
	w.remembers("b.example", models.HostMemoryID, "")
	l := w.claimOne(2)
	results := w.visitAll(l)
	if results[0].Page.ID != first {
		first, second = second, first
	}
	results[0].Memory, results[0].HostMemory = []byte("page\x00\xff"), []byte("host")
	w.mustCommit(results[0])
	w.mustCommit(results[0]) // its answer did not arrive
	w.remembers(host, first, "page\x00\xff")
	w.remembers(host, second, "")
	w.remembers(host, models.HostMemoryID, "host")

	late := results[1]
	late.Lease.Token--
	late.Memory, late.HostMemory = []byte("late"), []byte("late")
	late.Host.Trials = models.Trials{ProbedAt: 9}
	if verdicts := w.commit(late); !errors.Is(verdicts[0], models.ErrLeaseLost) {
		w.Errorf("commit without the lease: %v, want %v", verdicts[0], models.ErrLeaseLost)
	}
	results[1].Memory, results[1].HostMemory = []byte{}, nil
	w.mustCommit(results[1])
	w.remembers(host, second, "")
	w.remembers(host, models.HostMemoryID, "host")
	if got := w.host(host).Trials; !got.IsZero() {
		w.Errorf("trials = %+v after a late commit, want none", got)
	}

	w.now = w.now.Add(24 * time.Hour)
	results = w.visitAll(w.claimOne(2))
	results[0].HostMemory, results[1].HostMemory = []byte("second"), []byte("third")
	again := results[0]
	again.Page.Visits++
	again.Visit.Number++
	results[0].Memory, again.Memory, again.HostMemory = []byte("earlier"), []byte("later"), []byte("fourth")
	results[0].Release, results[1].Release, again.Release = false, false, true
	w.mustCommit(results[0], results[1], again)
	w.remembers(host, results[0].Page.ID, "later")
	w.remembers(host, models.HostMemoryID, "fourth")
	if n := len(w.dump().Memories); n != 2 {
		w.Errorf("%d memories, want 2", n)
	}
}

// ordersAreKept: what a person decided of a host stays beside what visits remember.
func ordersAreKept(w *world) {
	const host = "a.example"
	w.add(host, 1)
	set := func(body string) {
		w.Helper()
		w.must(w.store.SetOrders(w.Context(), models.BucketOf(host), models.HostID(host), []byte(body)))
	}
	set("pin")
	r := w.visited(w.claimOne(1), 0)
	r.HostMemory = []byte("host")
	w.mustCommit(r)
	set("clear")
	w.remembers(host, models.OrdersID, "clear")
	w.remembers(host, models.HostMemoryID, "host")
	set("")
	set("")
	w.remembers(host, models.OrdersID, "")
	if err := w.store.SetOrders(w.Context(), 1, 2, []byte("pin")); !errors.Is(err, models.ErrNotFound) {
		w.Errorf("SetOrders of an unknown host: %v, want %v", err, models.ErrNotFound)
	}
}

// removedPagesAreForgotten: with a site go the memories of its pages, and no others.
func removedPagesAreForgotten(w *world) {
	const host = "a.example"
	sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}, {Name: "b"}})
	w.must(err)
	for i := range 6 {
		d := found(host, i)
		d.Page.SiteID = sites[i%2].ID
		w.addPages(d)
	}
	results := w.visitAll(w.claimOne(6))
	var want []models.Memory
	for i := range results {
		r := &results[i]
		r.Memory, r.HostMemory = []byte(r.Page.URL), []byte("host")
		if r.Page.SiteID == sites[1].ID {
			want = append(want, models.Memory{Bucket: r.Page.Bucket, HostID: r.Page.HostID, PageID: r.Page.ID, Body: r.Memory})
		}
	}
	want = append(want, models.Memory{Bucket: results[0].Page.Bucket, HostID: results[0].Page.HostID,
		PageID: models.HostMemoryID, Body: []byte("host")})
	slices.SortFunc(want, func(a, b models.Memory) int { return cmp.Compare(a.PageID, b.PageID) })
	w.mustCommit(results...)
	w.must(w.store.RemoveSite(w.Context(), sites[0].ID, w.now))
	if diff := gocmp.Diff(want, w.dump().Memories); diff != "" {
		w.Errorf("memories after a site went (-want +got):\n%s", diff)
	}
}

// trialsAreKept: a host's ledger is written with a visit and comes with the next lease.
func trialsAreKept(w *world) {
	w.add("a.example", 1)
	want := models.Trials{AuditedAt: 3, Visits: math.MaxUint32, ProbedAt: models.At(w.now)}
	want.By[models.HintNotModified] = models.Trial{Hits: math.MaxUint16, Misses: 1, FalseAlarms: 2, Late: 3, InARow: 4,
		Since: 5, DistrustedAt: models.At(w.now)}
	want.Losses = models.Losses{Since: models.At(w.now), Lost: 12, Found: 3, Final: 2, Toward: -7, From: 8, LookDays: 99, Later: 4, New: 5, InARow: 6, Usual: 0.1}
	r := w.visited(w.claimOne(1), 0)
	r.Host.Trials, r.Host.GuardedAt = want, models.At(w.now)
	w.mustCommit(r)
	for _, written := range []models.Trials{want, {}} {
		h := w.host("a.example")
		if h.Trials != written || (h.GuardedAt != 0) != (written == want) {
			w.Errorf("trials written as %+v, read as %+v, guarded since %v", written, h.Trials, h.GuardedAt)
		}
		w.now = w.now.Add(24 * time.Hour)
		l := w.claimOne(1)
		if l.Host.Trials != written {
			w.Errorf("trials written as %+v, leased as %+v", written, l.Host.Trials)
		}
		r := w.visited(l, 0)
		r.Host.Trials, r.Host.GuardedAt = models.Trials{}, 0
		w.mustCommit(r)
	}
}

// pagesFoundAnewAreVisitedAnew: a page that was removed and found anew while its host was leased is not the one that was leased. A
// result of that says nothing of it: it would have a copy that there is no version of and that nobody is told of, and be of the site
// that was removed.
func pagesFoundAnewAreVisitedAnew(w *world) {
	const host = "a.example"
	for _, visited := range []bool{true, false} {
		sites, err := w.store.SyncSites(w.Context(), w.now, []models.Site{{Name: "a"}, {Name: "b"}})
		w.must(err)
		d := found(host, 0)
		d.Page.SiteID = sites[0].ID
		w.addPages(d, found(host, 1))
		lease := w.claimOne(2)
		first := slices.IndexFunc(lease.Pages, func(p models.LeasedPage) bool { return p.URL == d.Page.URL })
		if visited {
			r := w.visited(lease, first)
			r.Release = false
			w.mustCommit(r)
			lease.Pages[first].Page = r.Page
		}
		w.must(w.store.RemoveSite(w.Context(), sites[0].ID, w.now))
		d.Page.SiteID = sites[1].ID
		w.addPages(d)
		before := lease.Pages[first].Page
		r := w.visited(lease, first)
		r.Before, r.Release, r.Page.Version = &before, true, 1
		if verdicts := w.commit(r); !errors.Is(verdicts[0], models.ErrLeaseLost) {
			w.Errorf("commit on a page found anew: %v, want %v", verdicts[0], models.ErrLeaseLost)
		}
		if got := w.page(host, 0); got.State != models.StateNew || got.SiteID != sites[1].ID || got.Version != 0 {
			w.Errorf("the page is %v, of site %d, version %d; want it new, of site %d", got.State, got.SiteID, got.Version, sites[1].ID)
		}
		if h := w.host(host); h.LeaseUntil != 0 {
			w.Errorf("the host is leased until %v, want that it was released", h.LeaseUntil)
		}
		w.must(w.store.RemoveSite(w.Context(), sites[1].ID, w.now))
		w.now = w.now.Add(48 * time.Hour)
	}
}
