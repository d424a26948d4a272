package models

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/internal/pgtest"
)

// Slices of any size have every page of every bucket once, in the order of their IDs, on both engines.
func TestPagesFrom(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func() string{
		"sqlite":   func() string { return filepath.Join(t.TempDir(), "test.db") },
		"postgres": func() string { return pgtest.DSN(t) },
	} {
		s := openFilledAt(t, dsn(), fillPages(40, 6))
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
