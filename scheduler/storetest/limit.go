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
