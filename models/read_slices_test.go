package models

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Slices of any size have every page of every bucket once, in the order of their IDs, on both engines.
func TestPagesFrom(t *testing.T) {
	t.Parallel()
	for name, dsn := range engines() {
		s := openFilledAt(t, dsn(t), fillPages(40, 6))
		want, err := s.Dump(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{1, 3, 1000} {
			var got []Page
			for bucket := range int16(Buckets) {
				for after, full := int64(-1), true; full; {
					pages, err := s.PagesFrom(t.Context(), bucket, after, limit)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, pages...)
					if full = len(pages) == limit; full {
						after = pages[len(pages)-1].ID
					}
				}
			}
			if diff := cmp.Diff(want.Pages, got); diff != "" || len(got) != 40 {
				t.Errorf("%s in slices of %d: %d pages (-want +got):\n%s", name, limit, len(got), diff)
			}
		}
	}
}

// The versions of a range of pages are those of each page, in order, and of no other, on both engines.
func TestVersionsOf(t *testing.T) {
	t.Parallel()
	for name, dsn := range engines() {
		s := openFilledAt(t, dsn(t), fillPages(40, 6))
		dump, err := s.Dump(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		bucket := dump.Pages[0].Bucket
		pages, err := s.PagesFrom(t.Context(), bucket, -1, 1000)
		if err != nil || len(pages) < 3 {
			t.Fatalf("%s: %d pages in the bucket (%v), want three or more", name, len(pages), err)
		}
		put := func(x *tx) error {
			var versions []Version
			for i, p := range pages {
				for number := range int32(i + 1) {
					versions = append(versions, Version{Bucket: bucket, PageID: p.ID, Number: 100 + number, Digest: p.Digest})
				}
			}
			return versionTable.insert(t.Context(), x, versions)
		}
		if err := s.inTx(t.Context(), put); err != nil {
			t.Fatal(err)
		}
		var want, got []Version
		for _, p := range pages[1:3] {
			versions, err := s.Versions(t.Context(), bucket, p.ID, 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			slices.Reverse(versions)
			want = append(want, versions...)
		}
		for v, err := range s.VersionsOf(t.Context(), bucket, pages[1].ID, pages[2].ID) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) < 5 {
			t.Errorf("%s: %d versions (-want +got):\n%s", name, len(got), diff)
		}
	}
}
