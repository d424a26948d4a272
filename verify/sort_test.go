package verify

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recrawld/models"
)

// All versions come as they were, in the order of their places.
func TestByPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := newByPlace(dir)
		defer s.entries.Close()
		var all []models.Kept
		for i := range rapid.IntRange(0, 200).Draw(t, "versions") {
			k := models.Kept{Bucket: int16(i % models.Buckets), PageID: rapid.Int64Min(0).Draw(t, "page"), Number: int32(i + 1), Digest: models.DigestOf(fmt.Append(nil, i)),
				Record: models.Record{File: "segment" + rapid.SampledFrom([]string{"", "-1", "-10", "-2"}).Draw(t, "segment"),
					Offset: rapid.Int64Range(0, 1<<40).Draw(t, "offset"), Length: rapid.Int64Range(1, 1<<33).Draw(t, "length")}}
			if rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
				k.Record.Length = -k.Record.Length
			}
			all = append(all, k)
			if err := s.add(k); err != nil {
				t.Fatal(err)
			}
		}
		var got []models.Kept
		for k, err := range s.sorted() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, k)
		}
		slices.SortFunc(all, func(a, b models.Kept) int {
			return cmp.Or(cmp.Compare(a.Record.File, b.Record.File), cmp.Compare(a.Record.Offset, b.Record.Offset),
				cmp.Compare(length(a.Record), length(b.Record)), cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.PageID, b.PageID),
				cmp.Compare(a.Number, b.Number))
		})
		if text := diff.Diff(all, got); text != "" {
			t.Fatalf("sorted (-want +got):\n%s", text)
		}
	})
}
