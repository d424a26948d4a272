package sink

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// TestNothingIsNamedBeforeItIsOnDisk checks the order of the steps of a delivery and of a compaction.
func TestNothingIsNamedBeforeItIsOnDisk(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	m := openMirror(t, t.TempDir(), s)
	deliver(t, m, s.event(models.EventNew, "https://a.org/", "one", 1))
	var steps []string
	m.tree.before = func(step, _ string) error {
		steps = append(steps, step)
		return nil
	}
	deliver(t, m, s.event(models.EventChanged, "https://a.org/", "two", 2))
	if d := cmp.Diff([]string{"write", "sync", "rename", "log", "sync"}, steps); d != "" {
		t.Errorf("steps of a delivery differ (-want +got):\n%s", d)
	}
	steps = nil
	if err := m.flush(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"compact", "rename", "rename", "sync", "empty"}, steps); d != "" {
		t.Errorf("steps of a compaction differ (-want +got):\n%s", d)
	}
}

// stopping is a sink during whose delivery the daemon is told to stop.
type stopping struct {
	recorder
	stop context.CancelFunc
}

func (s *stopping) Deliver(ctx context.Context, events []models.Event) error {
	defer s.stop()
	return s.recorder.Deliver(ctx, events)
}

func TestCursorsMoveThoughTheDaemonStops(t *testing.T) {
	t.Parallel()
	log := newMemory()
	log.add(1, named("a", 3)...)
	ctx, cancel := context.WithCancel(t.Context())
	s := &stopping{stop: cancel}
	if n, err := drainOf(log, s, "one", 10).Once(ctx); n != 3 {
		t.Errorf("Once = %d, %v, want 3", n, err)
	}
	if seq := log.cursors[key("recorder", 1)]; seq != 3 {
		t.Errorf("cursor = %d, want 3: the sink has the events", seq)
	}
}

func TestAFailedDeliveryLeavesNoTemporaryFile(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	fails := true
	m.tree.before = func(step, _ string) error {
		if step == "sync" && fails {
			return syscall.EIO
		}
		return nil
	}
	e := s.event(models.EventNew, "https://a.org/", "one", 1)
	if err := m.Deliver(t.Context(), []models.Event{e}); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Deliver: error = %v, want EIO", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, temps)); err != nil || len(left) > 0 {
		t.Errorf("temporary files %v (%v) are left", left, err)
	}
	fails = false
	deliver(t, m, e)
}

func TestOpeningSweepsWhatACrashLeft(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	before := openMirror(t, dir, s).tree
	before.mostHeld = 0 // with a temporary name
	if d, err := before.write("a.org/index.html", []byte("half"), noon); err != nil || d.temp == "" {
		t.Fatalf("write = %v, %v, want a temporary file", d, err)
	}
	openMirror(t, dir, s)
	if left, err := os.ReadDir(filepath.Join(dir, temps)); err != nil || len(left) > 0 {
		t.Errorf("temporary files %v (%v) are left", left, err)
	}
}

func TestFault_117_GoneTakesNothingByWayOfALinkInside(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	deliver(t, m, s.event(models.EventNew, "https://b.org/b.html", "bee", 1), s.event(models.EventNew, "https://a.org/", "one", 1))
	if err := os.Symlink("../b.org", filepath.Join(dir, "a.org/dir")); err != nil {
		t.Fatal(err)
	}
	deliver(t, m, plain(models.EventGone, "https://a.org/dir/b.html", 2))
	if d := cmp.Diff(map[string]string{"a.org/index.html": "one", "b.org/b.html": "bee"}, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
}

func TestTheLastFileOfADirectoryTakesItAlong(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	const url = "https://a.org/x/y/z.html"
	deliver(t, m, s.event(models.EventNew, url, "one", 1), s.event(models.EventNew, "https://a.org/", "one", 1))
	deliver(t, m, plain(models.EventGone, url, 2))
	entries, err := os.ReadDir(filepath.Join(dir, "a.org"))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if err != nil || !slices.Equal(names, []string{index}) {
		t.Errorf("a.org holds %q (%v), want only %s", names, err, index)
	}
}

func TestAFileWithoutLastModifiedIsOfItsVisit(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	for _, said := range []string{"", "yesterday"} {
		e := s.event(models.EventNew, "https://a.org/", "one", 1)
		e.LastModified = said
		deliver(t, m, e)
		stat, err := os.Stat(filepath.Join(dir, "a.org/index.html"))
		if want := noon.Add(time.Hour); err != nil || !stat.ModTime().Equal(want) {
			t.Errorf("Last-Modified %q: modified at %v (%v), want %v", said, stat.ModTime(), err, want)
		}
	}
}

func TestAPageThatIsBackRedirectsNowhere(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	e := s.event(models.EventNew, "https://a.org/", "one", 1)
	moved, back := plain(models.EventMoved, e.URL, 2), e
	moved.RedirectTo, back.Kind = "https://a.org/new", models.EventRestored
	deliver(t, m, e, moved)
	deliver(t, m, back)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if r := rowsOf(t, dir)[e.URL]; r.State != stateLive || r.RedirectTo != "" {
		t.Errorf("row = %+v, want it live and redirecting nowhere", r)
	}
}
