package archive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFault_081_ARealFullDisk fills a small file system and makes room again.
func TestFault_081_ARealFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("mounting a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	a := open(t, dir, testOptions())
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 150<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	page := string(htmlPage(100 << 10))
	kept := appendOne(t, a, capture("http://example.org/1", page))
	var err error
	for range 20 {
		if _, err = a.Append(capture("http://example.org/2", page)); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("Append on a full disk: error = %v, want ENOSPC", err)
	}
	if err := errors.Join(os.Remove(ballast), a.Sync()); err != nil {
		t.Fatal(err)
	}
	next := appendOne(t, a, capture("http://example.org/3", page))
	wantBody(t, a, kept, page)
	wantBody(t, a, next, page)
	if err := a.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	urls := urlsOf(t, filepath.Join(dir, next.File))
	if got := urls[len(urls)-1]; got != "http://example.org/3" || strings.Count(strings.Join(urls, " "), "/1") != 1 {
		t.Errorf("the segment holds %q, want it whole", urls)
	}
}
