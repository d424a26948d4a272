package sink

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// TestADirectoryMayGoAndComeInOneDelivery takes the only file of a directory away, and the directory with it, before
// another one comes there; and a directory that was open gets in the way of a file.
func TestADirectoryMayGoAndComeInOneDelivery(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	const one, two, three = "https://a.org/x/y/1.html", "https://a.org/x/y/2.html", "https://a.org/x/y/3.html"
	deliver(t, m, s.event(models.EventNew, one, "one", 1))
	deliver(t, m, s.event(models.EventNew, two, "two", 1), plain(models.EventGone, one, 2), plain(models.EventGone, two, 2),
		s.event(models.EventNew, three, "three", 1))
	if err := os.MkdirAll(filepath.Join(dir, "a.org/x/y/4.html/theirs"), 0o755); err != nil {
		t.Fatal(err)
	}
	deliver(t, m, s.event(models.EventChanged, three, "three!", 2), s.event(models.EventNew, "https://a.org/x/y/4.html", "four", 1),
		s.event(models.EventNew, "https://a.org/x/y/5.html", "five", 1))
	want := map[string]string{"a.org/x/y/3.html": "three!", "a.org/x/y/4.html": "four", "a.org/x/y/5.html": "five"}
	if d := cmp.Diff(want, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
}

func TestFewDirectoriesAreOpenAndNoneAfterADelivery(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	const few = 20
	m.tree.mostOpened = few
	most := 0
	m.tree.before = func(string, string) error {
		most = max(most, len(m.tree.opened))
		return nil
	}
	var events []models.Event
	want := make(map[string]string)
	for i := range 3 * few {
		events = append(events, s.event(models.EventNew, fmt.Sprintf("https://a.org/%d/x.html", i), fmt.Sprint(i), 1))
		want[fmt.Sprintf("a.org/%d/x.html", i)] = fmt.Sprint(i)
	}
	deliver(t, m, events...)
	if d := cmp.Diff(want, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
	if most < few/2 || most > few+1 || len(m.tree.opened) > 0 {
		t.Errorf("%d directories were open at a time and %d are after the delivery, want %d at most and none", most, len(m.tree.opened), few+1)
	}
}

// TestFilesWithoutANameAreClosed delivers new pages, the same ones changed, and once more while nothing can be synced.
func TestFilesWithoutANameAreClosed(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	if m.tree.mostHeld == 0 {
		t.Skip("the file system makes no files without a name")
	}
	most, fails := 0, false
	m.tree.before = func(step, _ string) error {
		most = max(most, m.tree.held)
		if step == "sync" && fails {
			return syscall.EIO
		}
		return nil
	}
	for version, content := range []string{"", "one", "two", "three"} {
		var events []models.Event
		for i := range 5 {
			url := fmt.Sprintf("https://a.org/%d.html", i)
			events = append(events, s.event(models.EventChanged, url, content, int32(version)))
		}
		if fails = version == 3; fails {
			if err := m.Deliver(t.Context(), events); !errors.Is(err, syscall.EIO) {
				t.Fatalf("Deliver: error = %v, want EIO", err)
			}
		} else if version > 0 {
			deliver(t, m, events...)
		}
		if m.tree.held != 0 {
			t.Errorf("%d files without a name are open after delivery %d", m.tree.held, version)
		}
	}
	if got := filesOf(t, dir)["a.org/3.html"]; most != 5 || got != "two" {
		t.Errorf("%d files without a name at a time and %q in the end, want 5 and \"two\"", most, got)
	}
	if left, err := os.ReadDir(filepath.Join(dir, temps)); err != nil || len(left) > 0 {
		t.Errorf("temporary files %v (%v) are left", left, err)
	}
}
