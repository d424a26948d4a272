package storetest

import (
	"errors"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// printKeys are keys of what pages say, of three buckets.
var printKeys = []int64{0x17 << 56, 0x17<<56 | 1, 1, -1}

// filing puts the page of a result under a key.
func filing(r *models.Result, key int64) models.Filing {
	return models.Filing{Key: key, PageBucket: r.Page.Bucket, PageID: r.Page.ID}
}

func (w *world) twins(keys ...int64) map[int64][]models.Twin {
	w.Helper()
	twins, err := w.store.Twins(w.Context(), keys)
	w.must(err)
	return twins
}

func twinsAreFound(w *world) {
	w.add("a.example", 2)
	w.add("b.example", 1)
	var pages []models.Twin
	for _, l := range w.claim(2, 2) {
		for i, r := range w.visitAll(l) {
			r.Page.Print, r.Page.Digest = models.Print{15: 7}, models.DigestOf([]byte("body"))
			r.Page.Canonical, r.Page.DuplicateOf, r.Page.Stats.FirstAt = "https://c.example/", "https://d.example/", 5
			r.Filed = []models.Filing{filing(&r, printKeys[0]), filing(&r, printKeys[2+i])}
			w.mustCommit(r)
			pages = append(pages, r.Page.Twin())
		}
	}
	byKey := func(a, b models.Twin) int {
		return slices.Compare([]int64{int64(a.Bucket), a.ID}, []int64{int64(b.Bucket), b.ID})
	}
	got := w.twins(printKeys...)
	slices.SortFunc(pages, byKey)
	if diff := cmp.Diff(pages, got[printKeys[0]]); diff != "" {
		w.Errorf("pages under the key of all (-want +got):\n%s", diff)
	}
	if len(got[printKeys[1]]) != 0 || len(got[printKeys[2]]) != 2 || len(got[printKeys[3]]) != 1 {
		w.Errorf("Twins = %v, want 3, none, 2 and 1 pages", got)
	}
	if none := w.twins(); len(none) != 0 {
		w.Errorf("Twins of no key = %v", none)
	}

	// A page that says something else is found there, and one that was removed leaves its filing.
	w.now = w.now.Add(48 * time.Hour)
	for _, l := range w.claim(2, 1) {
		if l.Host.Name != "b.example" {
			continue
		}
		r := w.visited(l, 0)
		r.Unfiled = []models.Filing{filing(&r, printKeys[0]), filing(&r, printKeys[2])}
		r.Filed = []models.Filing{filing(&r, printKeys[1]), filing(&r, printKeys[2])}
		w.mustCommit(r)
	}
	got = w.twins(printKeys...)
	if len(got[printKeys[0]]) != 2 || len(got[printKeys[1]]) != 1 || len(got[printKeys[2]]) != 2 {
		w.Errorf("after a change Twins = %v, want 2, 1 and 2 pages", got)
	}
	if err := w.store.RemoveSite(w.Context(), 1, w.now); !errors.Is(err, models.ErrNotFound) { // its pages went all the same
		w.Fatalf("RemoveSite = %v", err)
	}
	for key, twins := range w.twins(printKeys...) {
		for _, twin := range twins {
			if twin.URL != "" || twin.ID == 0 {
				w.Errorf("under key %x, of a page that was removed: %+v", key, twin)
			}
		}
	}
}

func twinsAreBounded(w *world) {
	const pages = models.TwinsPerKey + 3
	w.add("a.example", pages)
	l := w.claimOne(pages)
	results := w.visitAll(l)
	var ids []int64
	for i := range results {
		results[i].Filed = []models.Filing{filing(&results[i], printKeys[0])}
		ids = append(ids, results[i].Page.ID)
	}
	w.mustCommit(results...)
	slices.Sort(ids)
	var got []int64
	for _, twin := range w.twins(printKeys[0])[printKeys[0]] {
		got = append(got, twin.ID)
	}
	if diff := cmp.Diff(ids[:models.TwinsPerKey], got); diff != "" {
		w.Errorf("pages under a key of many (-want +got):\n%s", diff)
	}
}

func refusedFilings(w *world) {
	w.add("a.example", 1)
	late := w.visited(w.claimOne(1), 0)
	late.Filed = []models.Filing{filing(&late, printKeys[0])}
	w.now = w.now.Add(2 * lease)
	w.mustCommit(w.visited(w.claimOne(1), 0))
	w.commit(late)
	if got := w.twins(printKeys[0]); len(got) != 0 {
		w.Errorf("a late result filed %v", got)
	}
}
