package sink

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"recrawld/models"
)

const day = 24 * time.Hour

// namesIn lists a directory.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// The trash keeps what came in the last days, for as long as it is told to, and what is none of ours.
func TestTheTrashIsEmptied(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m, err := OpenMirror(dir, MirrorOptions{Archive: s, Trash: 30 * day, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	early, late := "https://a.org/x/early.html", "https://a.org/late.html"
	deliver(t, m, s.event(models.EventNew, early, "early", 1), s.event(models.EventNew, late, "late", 1))
	deliver(t, m, plain(models.EventGone, early, 2), plain(models.EventGone, late, 2+10*24))
	heap := filepath.Join(dir, trash)
	for _, name := range []string{"2001-01-01.txt", "2001-01-01.d", "old"} {
		if err := os.Mkdir(filepath.Join(heap, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(heap, "2001-01-02"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	stays := []string{"2001-01-01.d", "2001-01-01.txt", "2001-01-02", "old"}
	first, second := noon.Format(time.DateOnly), noon.Add(10*day).Format(time.DateOnly)
	for _, step := range []struct {
		after time.Duration
		want  []string
	}{
		{0, []string{first, second}},
		{30 * day, []string{first, second}}, // the first day is not over for so long
		{31 * day, []string{second}},
		{40 * day, []string{second}},
		{41 * day, nil},
	} {
		if err := m.Idle(noon.Add(step.after)); err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(slices.Values(append(step.want, stays...)))
		if got := namesIn(t, heap); !slices.Equal(got, want) {
			t.Errorf("after %v the trash holds %q, want %q", step.after, got, want)
		}
	}
}

// A day that cannot be removed keeps no other one.
func TestOfTheTrashWhatCanBeIsEmptied(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	m.options.Trash = day
	for i := range 3 {
		url := fmt.Sprintf("https://a.org/%d.html", i)
		deliver(t, m, s.event(models.EventNew, url, "a", 1))
		deliver(t, m, plain(models.EventGone, url, 24*i))
	}
	stuck := noon.Format(time.DateOnly)
	brokenFor(m, "remove", syscall.EPERM, trashFor(noon))
	if err := m.Idle(noon.Add(1000 * day)); err != nil {
		t.Fatal(err)
	}
	if got := namesIn(t, filepath.Join(dir, trash)); !slices.Equal(got, []string{stuck}) {
		t.Errorf("the trash holds %q, want %q alone", got, stuck)
	}
}

// For ever is for ever, and a trash that is elsewhere is not emptied.
func TestTheTrashIsKept(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]time.Duration{"for ever": 0, "behind a link": day} {
		dir, s := t.TempDir(), newShelf(t)
		m, err := OpenMirror(dir, MirrorOptions{Archive: s, Trash: kept, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		url := "https://a.org/a.html"
		deliver(t, m, s.event(models.EventNew, url, "a", 1))
		deliver(t, m, plain(models.EventGone, url, 2))
		if kept > 0 {
			if err := os.Rename(filepath.Join(dir, trash), filepath.Join(dir, "a.org")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../a.org", filepath.Join(dir, trash)); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Idle(noon.Add(1000 * day)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, trash, noon.Format(time.DateOnly), "a.org", "a.html")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
