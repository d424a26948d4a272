package models

import (
	"errors"
	"testing"
	"time"
)

// finder is a page that is visited again and again, and each time names another one.
type finder struct {
	*testing.T
	s      *Store
	now    time.Time
	parent Discovery
	named  Discovery
}

func newFinder(t *testing.T, dsn string) *finder {
	t.Helper()
	s := planStore(t, dsn)
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	f := &finder{T: t, s: s, now: planStart,
		parent: Discovery{Host: "a.example", Page: Page{SiteID: 1, URL: "https://a.example/"}},
		named:  Discovery{Host: "b.example", Page: Page{SiteID: 2, URL: "https://b.example/named"}}}
	if _, err := s.AddPages(t.Context(), planStart, []Discovery{f.parent}, 0); err != nil {
		t.Fatal(err)
	}
	return f
}

// visit commits a visit that finds the named page, and tells whether that is known afterwards.
func (f *finder) visit() bool {
	f.Helper()
	f.now = f.now.Add(time.Hour)
	leases, err := f.s.Claim(f.Context(), ClaimRequest{Now: f.now, Lease: time.Minute, Owner: "w", Hosts: 1, Pages: 1,
		Buckets: []int16{BucketOf("a.example")}})
	if err != nil || len(leases) != 1 {
		f.Fatalf("Claim = %v, %v, want the parent", leases, err)
	}
	l := leases[0]
	r := Result{Lease: LeaseRef{l.Host.Bucket, l.Host.ID, l.Host.LeaseToken}, Release: true, Page: l.Pages[0].Page,
		Before: &l.Pages[0].Page, Host: l.Host, Discovered: []Discovery{f.named}}
	r.Page.Visits++
	r.Page.DueAt = At(f.now.Add(time.Minute))
	r.Visit = Visit{Number: r.Page.Visits, At: At(f.now), Kind: Changed}
	if verdicts, err := f.s.Commit(f.Context(), f.now, []Result{r}); err != nil || verdicts[0] != nil {
		f.Fatalf("Commit = %v, %v", verdicts, err)
	}
	row := f.named.Row(f.now)
	_, err = f.s.Page(f.Context(), row.Bucket, row.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		f.Fatal(err)
	}
	return err == nil
}

// run changes the database behind the store's back.
func (f *finder) run(statement string) {
	f.Helper()
	if _, err := f.s.writer.ExecContext(f.Context(), statement); err != nil {
		f.Fatal(err)
	}
}

// A page that is familiar is not looked up again, so only a removal that its host's row does not show hides it.
func TestFamiliarPagesAreNotLookedUp(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		f := newFinder(t, dsn)
		if !f.visit() {
			t.Fatal("the page that a visit names was not added")
		}
		f.run(`DELETE FROM pages WHERE url LIKE '%/named'`)
		if f.visit() {
			t.Error("a familiar page was looked up")
		}
		f.run(`UPDATE hosts SET removals = removals + 1 WHERE name = 'b.example'`)
		if !f.visit() {
			t.Error("a page is taken for known after its host had one removed")
		}
		f.run(`DELETE FROM pages WHERE url LIKE '%/named'`)
		f.run(`UPDATE hosts SET pages = 0 WHERE name = 'b.example'`)
		if !f.visit() {
			t.Error("a page is taken for known by a database that fell back to where it was not")
		}
	})
}

// A page is found again by a database that fell back to the moment before the commit that added it, also where its host's row
// was not read since.
func TestFamiliarPagesOfALostCommit(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		f := newFinder(t, dsn)
		if !f.visit() {
			t.Fatal("the page that a visit names was not added")
		}
		f.run(`DELETE FROM pages WHERE url LIKE '%/named'`)
		f.run(`UPDATE hosts SET pages = 0 WHERE name = 'b.example'`)
		if !f.visit() {
			t.Error("a page is taken for known that was added by a commit that the database lost")
		}
	})
}

// A page that any process removes is found again.
func TestRemovedPagesAreFoundAgain(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		f := newFinder(t, dsn)
		other := planStore(t, dsn)
		for i, s := range []*Store{f.s, other, f.s} {
			f.visit()
			if !f.visit() {
				t.Fatal("the page that a visit names is not known")
			}
			if _, err := s.SyncSites(t.Context(), f.now, []Site{{Name: "one", URL: "https://a.example/"}, {Name: "two", URL: "https://b.example/"}}); err != nil {
				t.Fatal(err)
			}
			if err := s.RemoveSite(t.Context(), 2, time.Unix(1, 0)); err != nil && !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
			h, err := f.s.Host(t.Context(), BucketOf("b.example"), HostID("b.example"))
			if err != nil || h.Pages != 0 || h.Removals != NewHost(0, 0, "", planStart.Add(time.Hour)).Removals+int32(i+1) {
				t.Fatalf("the host has %d pages after %d removals (%v), want none after %d", h.Pages, h.Removals, err, i+1)
			}
			if !f.visit() {
				t.Error("a removed page was not found again")
			}
		}
	})
}

// A host that was removed is another one when it comes back, also with as many pages as it had.
func TestPagesOfAHostThatCameBackAreFoundAgain(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		f := newFinder(t, dsn)
		if _, err := f.s.SyncSites(t.Context(), f.now, []Site{{Name: "one"}}); err != nil {
			t.Fatal(err)
		}
		f.visit()
		if !f.visit() {
			t.Fatal("the page that a visit names is not known")
		}
		other := planStore(t, dsn)
		if done, err := other.ClearRemoved(t.Context(), f.now, f.now); err != nil || done.Hosts != 1 {
			t.Fatalf("ClearRemoved = %+v, %v, want a host whose page was of no site", done, err)
		}
		page := f.named
		page.Page.URL += "/other"
		if _, err := other.AddPages(t.Context(), f.now, []Discovery{page}, 0); err != nil {
			t.Fatal(err)
		}
		if !f.visit() {
			t.Error("a page is taken for known that went with its host")
		}
	})
}

// Memory is bounded, and what is met often stays.
func TestFamiliarIsBounded(t *testing.T) {
	t.Parallel()
	var f familiar
	f.learn([]uint64{1})
	for n := range uint64(3 * familiarPages) {
		f.learn([]uint64{n + 2})
		if n%1000 == 0 {
			if f.mu.Lock(); !f.knows(1) {
				t.Fatalf("a page that is met often is forgotten after %d others", n)
			}
			f.mu.Unlock()
		}
	}
	if kept := len(f.young) + len(f.old); kept > 2*familiarPages || f.knows(2) {
		t.Errorf("%d pages are kept, the oldest: %v, want at most %d and not the oldest", kept, f.knows(2), 2*familiarPages)
	}
	first := f.standing(rowKey{0, 1}, &Host{})
	for id := range int64(familiarHosts) {
		f.standing(rowKey{1, id}, &Host{})
	}
	if again := f.standing(rowKey{0, 1}, &Host{}); len(f.hosts) > familiarHosts || again.epoch == first.epoch {
		t.Errorf("%d hosts are kept, want at most %d, and none that was forgotten as it was", len(f.hosts), familiarHosts)
	}
}
