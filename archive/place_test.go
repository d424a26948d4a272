package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestAnArchiveKeepsItsID though many workers begin it at once, or its directory is moved; another one has another.
func TestAnArchiveKeepsItsID(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	ids := make(map[string]bool)
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, worker := range []string{"one", "two", "three", "four"} {
		group.Go(func() {
			o := testOptions()
			o.Worker = worker
			a, err := Open(dir, o)
			if err != nil {
				t.Error(err)
				return
			}
			defer a.Close()
			id, err := a.ID()
			if err != nil || id == "" {
				t.Errorf("ID = %q (%v), want one", id, err)
			}
			mu.Lock()
			defer mu.Unlock()
			ids[id] = true
		})
	}
	group.Wait()
	moved := dir + "-moved"
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	id, err := open(t, moved, testOptions()).ID()
	if ids[id] = true; err != nil || len(ids) != 1 {
		t.Errorf("IDs = %v (%v), want one", ids, err)
	}
	if other, err := open(t, t.TempDir(), testOptions()).ID(); err != nil || ids[other] {
		t.Errorf("another archive has the ID %q (%v), too", other, err)
	}
	if files, err := filepath.Glob(filepath.Join(moved, idFile+"*")); err != nil || len(files) != 1 {
		t.Errorf("files = %q (%v), want one", files, err)
	}
}

// TestWhatLiesElsewhereIsNotLost: a segment that is missing is told apart from one that another worker's archive has.
func TestWhatLiesElsewhereIsNotLost(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.Worker = "far"
	record := appendOne(t, open(t, t.TempDir(), o), capture("http://example.org/", "one"))
	a := open(t, t.TempDir(), testOptions())
	for where, want := range map[string]bool{"": false, "that of worker far": true} {
		a.Elsewhere(func(worker string) string {
			if worker != "far" {
				t.Errorf("asked for worker %q, want far", worker)
			}
			return where
		})
		_, err := a.Read(record)
		if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrElsewhere) != want {
			t.Errorf("archive elsewhere %q: error = %v, want one of a missing segment, elsewhere: %v", where, err, want)
		}
	}
}
