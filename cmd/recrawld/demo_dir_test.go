package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestDemoEmptiesOnlyItsOwnDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "demo")
	for range 2 {
		if err := emptyDemoDir(dir); err != nil {
			t.Fatalf("emptyDemoDir() = %v, want nil", err)
		}
		if _, err := os.Stat(filepath.Join(dir, demoMark)); err != nil {
			t.Fatalf("the directory has no mark: %v", err)
		}
		mirror := filepath.Join(dir, "mirror")
		if _, err := os.Stat(mirror); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("the last demo's mirror: %v, want it gone", err)
		}
		if err := os.MkdirAll(filepath.Join(mirror, "a"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDemoRefusesADirectoryThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	precious := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(precious, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := emptyDemoDir(dir); exitCode(err) != exitUsage {
		t.Errorf("emptyDemoDir() = %v, want a usage error", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
}

func TestDemoRefusesADirectoryInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := emptyDemoDir(dir); err != nil {
		t.Fatal(err)
	}
	held, err := takeLock(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer held.release()
	var c coded
	if err := emptyDemoDir(dir); !errors.As(err, &c) || c.code != exitLocked {
		t.Errorf("emptyDemoDir() = %v, want exit code %d", err, exitLocked)
	}
}

// TestDemoIsLookedIntoFromWhereItRan: a command on the demo's directory goes by the file in it, as it would anyway, and has nothing to say
// of that.
func TestDemoIsLookedIntoFromWhereItRan(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "demo", "--for", "2s")
	if code, _, stderr := command(t, "status", "--data", demoData); code != exitDone || stderr != "" {
		t.Errorf("status of the demo: exit code %d, it says %q beside the answer, want nothing", code, stderr)
	}
}
