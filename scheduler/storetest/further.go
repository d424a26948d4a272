package storetest

import (
	"slices"
	"time"

	"recrawld/models"
)

// handed is how far a lease's pages are handed out.
func handed(l models.Lease) models.Handed { return models.HandedOut(&l.Pages[len(l.Pages)-1].Page) }

// furtherPages: what is due behind the pages of a lease, of each host in the order of a claim, with shares, and nothing that
// was handed out, whether its result is written or not.
func furtherPages(w *world) {
	names := []string{"a.example", "b.example"}
	for _, name := range names {
		var pages []models.Discovery
		for i, minutes := range []int{-9, -8, -7, -7, -7, -6, +1} {
			d := found(name, i)
			d.Page.DueAt = models.At(w.now.Add(time.Duration(minutes) * time.Minute))
			pages = append(pages, d)
		}
		w.addPages(pages...)
	}
	leases := w.claim(2, 3)
	var want [][]int64 // IDs
	for _, l := range leases {
		var same []int64
		for i := 2; i <= 4; i++ {
			if _, id := keysOf(l.Host.Name, i); id != l.Pages[2].ID {
				same = append(same, id)
			}
		}
		slices.Sort(same)
		_, last := keysOf(l.Host.Name, 5)
		want = append(want, append(same, last))
	}
	w.mustCommit(w.visited(leases[0], 0))
	unknown := models.Handed{Bucket: 3, HostID: 4711}
	got, err := w.store.Further(w.Context(), w.now, 10, []models.Handed{handed(leases[0]), unknown, handed(leases[1])})
	w.must(err)
	if len(got) != 3 || len(got[1]) != 0 {
		w.Fatalf("Further of three hosts, one unknown = %d entries, %v", len(got), got)
	}
	for i, pages := range [][]models.LeasedPage{got[0], got[2]} {
		if ids := idsOf(pages); !slices.Equal(ids, want[i]) {
			w.Errorf("further pages of %s = %v, want %v", leases[i].Host.Name, ids, want[i])
		}
	}
	got, err = w.store.Further(w.Context(), w.now, 1, []models.Handed{handed(leases[1])})
	w.must(err)
	if len(got) != 1 || !slices.Equal(idsOf(got[0]), want[1][:1]) {
		w.Errorf("one further page = %v, want %v", got, want[1][:1])
	}
	w.mustCommit(w.result(leases[1], got[0][0].Page))
}

// furtherShares: parents come with the share of their children that changed, as in a claim.
func furtherShares(w *world) {
	parent, child, far := found("a.example", 1), found("a.example", 2), found("b.example", 3)
	first := found("a.example", 0)
	first.Page.DueAt, parent.Page.DueAt = models.At(w.now.Add(-2*time.Minute)), models.At(w.now.Add(-time.Minute))
	child.Page.Level, far.Page.Level = 1, 1
	child.Page.DueAt, far.Page.DueAt = models.At(w.now.Add(time.Hour)), models.At(w.now.Add(time.Hour))
	parent.Page.Children = 2
	child.Page.Stats = models.ChangeStats{Records: 1, FirstAt: models.At(w.now)}
	w.addPages(first, parent, child, far)
	l := w.claimOne(1)
	result := w.visited(l, 0)
	result.Release = false
	result.LinksKnown, result.Page.Children = true, 2
	for _, d := range []models.Discovery{child, far} {
		row := d.Row(w.now)
		result.Links = append(result.Links, models.Link{ChildBucket: row.Bucket, ChildID: row.ID})
	}
	result.Page.DueAt = models.At(w.now.Add(-time.Second)) // due again, behind itself
	w.mustCommit(result)
	got, err := w.store.Further(w.Context(), w.now, 10, []models.Handed{handed(l)})
	w.must(err)
	if len(got) != 1 || len(got[0]) != 2 {
		w.Fatalf("Further = %v, want the other page and the first once more", got)
	}
	if again := got[0][1]; again.ID != l.Pages[0].ID || again.Share != (models.ChildShare{Known: 2, Changed: 1}) {
		w.Errorf("the first page once more = %d with share %+v, want %d with 1 of 2 changed", again.ID, again.Share, l.Pages[0].ID)
	}
}

func idsOf(pages []models.LeasedPage) []int64 {
	var ids []int64
	for i := range pages {
		ids = append(ids, pages[i].ID)
	}
	return ids
}

// result is a visit under a lease to a page that came to it later.
func (w *world) result(l models.Lease, p models.Page) models.Result {
	l.Pages = []models.LeasedPage{{Page: p}}
	return w.visited(l, 0)
}
