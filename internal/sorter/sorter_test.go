package sorter

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// However little fits into memory, entries come back in the order of their bytes, all of them.
func TestSorterSorts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 40)).Draw(t, "entries")
		s := New(dir)
		defer s.Close()
		s.most = rapid.IntRange(0, 500).Draw(t, "most")
		for _, entry := range want {
			if err := s.Add(entry); err != nil {
				t.Fatal(err)
			}
		}
		var got [][]byte
		for entry, err := range s.All() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, slices.Clone(entry))
		}
		want = slices.Clone(want)
		slices.SortFunc(want, bytes.Compare)
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("sorted %q, want %q", got, want)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left behind (%v)", len(left), err)
	}
}
