package verify

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recrawld/models"
)

// TestSorted: however few fit into memory, all versions come in the order of their places, and the file leaves nothing behind.
func TestSorted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := newSorter(dir)
		defer s.close()
		s.limit = rapid.IntRange(1, 50).Draw(t, "limit")
		var all []models.Kept
		for i := range rapid.IntRange(0, 200).Draw(t, "versions") {
			k := models.Kept{Bucket: int16(i % models.Buckets), PageID: int64(i), Number: int32(i + 1), Digest: models.DigestOf(fmt.Append(nil, i)),
				Record: models.Record{File: fmt.Sprintf("segment-%d", rapid.IntRange(0, 3).Draw(t, "segment")),
					Offset: rapid.Int64Range(0, 1<<40).Draw(t, "offset"), Length: rapid.Int64Range(1, 9).Draw(t, "length")}}
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
		slices.SortFunc(all, byPlace)
		if diff := cmp.Diff(all, got); diff != "" {
			t.Fatalf("sorted (-want +got):\n%s", diff)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left (%v)", len(left), err)
	}
}
