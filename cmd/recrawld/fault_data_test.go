package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFault_086_ADamagedDatabase: the file is cut short, has pages full of nothing, or is another file. The daemon does not begin,
// leaves the file as it is, and says what to do, which helps.
func TestFault_086_ADamagedDatabase(t *testing.T) {
	t.Parallel()
	site := serve(t, smallSite)
	path, data := configure(t, "")
	must(t, "run", "-c", path, "--for", "1s", site.URL)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	must(t, "backup", "-c", path, checkpoint)
	pages := len(dumpOf(t, data).Pages)
	file := filepath.Join(data, databaseFile)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{
		"cut short":      whole[:len(whole)/2],
		"cut to a page":  whole[:4096],
		"pages of zeros": append(bytes.Clone(whole[:8192]), make([]byte, len(whole)-8192)...),
		"no database":    bytes.Repeat([]byte("no database "), 1000),
	} {
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := command(t, "run", "-c", path, "--for", "100ms")
		if code != exitFailed || !strings.Contains(stderr, file) || !strings.Contains(stderr, "recrawld restore") {
			t.Errorf("%s: exit code %d, said %q; want %d, the file and the way out", name, code, stderr, exitFailed)
		}
		if left, err := os.ReadFile(file); err != nil || !bytes.Equal(left, damaged) {
			t.Errorf("%s: the file was changed (%v)", name, err)
		}
		must(t, "restore", "-c", path, "--yes", checkpoint)
		if got := len(dumpOf(t, data).Pages); got != pages || pages == 0 {
			t.Errorf("%s: %d pages after going back, want the %d of the checkpoint", name, got, pages)
		}
	}
}
