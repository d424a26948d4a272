package storetest

import (
	"testing"

	"recrawld/models"
)

// Limit tests a store that was opened for at most three pages a host: what a commit discovers beyond is dropped, requisites too, host
// by host.
func Limit(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	w := &world{T: t, store: open(t), now: start}
	w.add("a.example", 1)
	r := w.visited(w.claimOne(1), 0)
	for i := range 6 {
		needed := found("a.example", i)
		needed.Page.Requisite = i%2 == 1
		r.Discovered = append(r.Discovered, needed, found("b.example", i%2))
	}
	w.mustCommit(r)
	want := map[string]int32{"a.example": 3, "b.example": 2}
	counted := make(map[int64]int32)
	d := w.dump()
	for _, p := range d.Pages {
		counted[p.HostID]++
	}
	for _, h := range d.Hosts {
		if h.Pages != want[h.Name] || counted[h.ID] != want[h.Name] {
			t.Errorf("%s has %d pages and says %d, want %d", h.Name, counted[h.ID], h.Pages, want[h.Name])
		}
	}
	if added, err := w.store.AddPages(t.Context(), w.now, []models.Discovery{found("a.example", 9)}, 0); added.Added != 1 || err != nil {
		t.Errorf("AddPages without a limit = %+v, %v, want one added: it has its own limit", added, err)
	}
}

// Requisites tests a store that was opened for at most three requisites a site of few pages: those that a commit discovers beyond, or that are
// to be added otherwise, are dropped. What is known is as before, and what is no requisite, is one of another site, or is where a known one
// leads, is added.
func Requisites(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	w := &world{T: t, store: open(t), now: start}
	of := func(site int32, d models.Discovery) models.Discovery {
		d.Page.SiteID = site
		return d
	}
	w.addPages(of(1, requisite("a.example", 0)))
	w.must(w.store.CountRequisites(t.Context()))
	r := w.visited(w.claimOne(1), 0)
	for i := range 4 {
		r.Discovered = append(r.Discovered, of(1, requisite("a.example", i)), of(1, requisite("far.example", i)))
	}
	w.mustCommit(r)
	if n := w.requisites(1); n != 3 {
		t.Errorf("the site has %d requisites after a commit that found seven more, want 3", n)
	}
	w.must(w.store.CountRequisites(t.Context()))
	moved := of(1, requisite("a.example", 6))
	moved.Page.Chain = []int64{1}
	got := w.addPages(of(1, requisite("a.example", 0)), of(1, requisite("a.example", 5)), moved, of(1, found("a.example", 7)),
		of(2, requisite("a.example", 8)))
	if want := (models.Added{Added: 3, Known: 1, Dropped: 1}); got != want || w.requisites(1) != 4 || w.requisites(2) != 1 {
		t.Errorf("at the bound AddPages = %+v and the sites have %d and %d requisites, want %+v, 4 and 1", got, w.requisites(1), w.requisites(2), want)
	}
	if err := checkCounts(t.Context(), w.store); err != nil {
		t.Error(err)
	}
}

// requisites is how many requisites a site has.
func (w *world) requisites(site int32) (n int) {
	w.Helper()
	for _, p := range w.dump().Pages {
		if p.SiteID == site && p.Requisite {
			n++
		}
	}
	return n
}
