package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What is kept beside stays under its own name as well until the restored database takes it: whenever the machine
// stops in between, the next start finds the old database and not none.
func TestKeepBesideLeavesNoMomentWithoutADatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), databaseFile)
	for name, text := range map[string]string{path: "no database at all", path + "-wal": "its log"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := keepBeside(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, kept} {
		if text, err := os.ReadFile(name); string(text) != "no database at all" || err != nil {
			t.Errorf("%s holds %q, %v, want the old database", filepath.Base(name), text, err)
		}
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Error("the old database's log would be taken for the restored one's")
	}
}

// Two restores within a second keep two databases: the first one's was there before all of it.
func TestKeepBesideTwiceWithinASecondKeepsBoth(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), databaseFile)
	seen := make(map[string]string)
	for _, text := range []string{"the first", "the second", "the third"} {
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		kept, err := keepBeside(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		seen[kept] = text
	}
	for kept, want := range seen {
		if text, err := os.ReadFile(kept); string(text) != want || err != nil {
			t.Errorf("%s holds %q, %v, want %s", filepath.Base(kept), text, err, want)
		}
	}
	if len(seen) != 3 {
		t.Errorf("three databases are kept under %d names", len(seen))
	}
}
