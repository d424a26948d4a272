package sink

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

func TestRestoredBringsTheCopyBack(t *testing.T) {
	t.Parallel()
	const a = "https://a.org/a.html"
	for name, batches := range map[string]func(first, gone, restored models.Event) [][]models.Event{
		"from the trash":       func(f, g, r models.Event) [][]models.Event { return [][]models.Event{{f}, {g}, {r}} },
		"in the batch it went": func(f, g, r models.Event) [][]models.Event { return [][]models.Event{{f}, {g, r}} },
		"in the batch it came": func(f, g, r models.Event) [][]models.Event { return [][]models.Event{{f, g, r}} },
		"delivered again":      func(f, g, r models.Event) [][]models.Event { return [][]models.Event{{f}, {g}, {g, r}} },
		"in a tree without it": func(_, g, r models.Event) [][]models.Event { return [][]models.Event{{g}, {r}} },
		"that never went":      func(f, _, r models.Event) [][]models.Event { return [][]models.Event{{f}, {r}} },
	} {
		dir, s := t.TempDir(), newShelf(t)
		m := openMirror(t, dir, s)
		first := s.event(models.EventNew, a, "one", 1)
		restored := first
		restored.Kind, restored.At = models.EventRestored, models.At(noon.Add(9*time.Hour))
		for _, events := range batches(first, plain(models.EventGone, a, 3), restored) {
			deliver(t, m, events...)
		}
		if d := cmp.Diff(map[string]string{"a.org/a.html": "one"}, filesOf(t, dir)); d != "" {
			t.Errorf("%s: files differ (-want +got):\n%s", name, d)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if r := rowsOf(t, dir)[a]; r.State != stateLive || r.SHA256 != first.Digest.String() || r.EventAt != restored.At.String() {
			t.Errorf("%s: row = %+v, want it live with its digest", name, r)
		}
	}
}

func TestRestoredTouchesNoFileThatIsThere(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	e := s.event(models.EventNew, "https://a.org/a.html", "one", 1)
	deliver(t, m, e, plain(models.EventFailing, e.URL, 2))
	before, err := os.Stat(filepath.Join(dir, "a.org/a.html"))
	if err != nil {
		t.Fatal(err)
	}
	e.Kind = models.EventRestored
	deliver(t, m, e)
	if after, err := os.Stat(filepath.Join(dir, "a.org/a.html")); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file is another one (%v), want it untouched", err)
	}
}

// TestATemplateIsNoStateOfAPage: a flip of a host's template moves no file and no row of the page at which it was seen.
func TestATemplateIsNoStateOfAPage(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	first := s.event(models.EventNew, "https://a.org/a.html", "one", 1)
	deliver(t, m, first)
	flip := first
	flip.Kind, flip.At, flip.Note = models.EventTemplate, first.At+1, "menu"
	deliver(t, m, flip)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if r := rowsOf(t, dir)[first.URL]; r.State != stateLive || r.EventAt != first.At.String() {
		t.Errorf("row = %+v, want that of the first copy", r)
	}
}

// TestAPageThatAsksNotToBeKeptHasNoFile: its old copy would pass for what the page says now.
func TestAPageThatAsksNotToBeKeptHasNoFile(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	const a, b = "https://a.org/a.html", "https://a.org/b.html"
	unkept := plain(models.EventChanged, a, 2)
	unkept.Version = 2
	deliver(t, m, s.event(models.EventNew, a, "one", 1), plain(models.EventNew, b, 1))
	deliver(t, m, unkept, plain(models.EventFailing, a, 3), plain(models.EventRestored, a, 4))
	if d := cmp.Diff(map[string]string{}, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, dir)
	if rows[a].State != "unkept" || rows[b].State != "unkept" || rows[a].hasFile() {
		t.Errorf("rows = %+v, want both unkept and without a file", rows)
	}
	m = openMirror(t, dir, s)
	deliver(t, m, s.event(models.EventChanged, a, "three", 3))
	if d := cmp.Diff(map[string]string{"a.org/a.html": "three"}, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
}

func TestAnAnswerWithoutATypeHasNone(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	untyped := s.event(models.EventChanged, "https://a.org/a", "two", 2)
	untyped.ContentType = ""
	deliver(t, m, s.event(models.EventNew, untyped.URL, "one", 1), untyped)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if r := rowsOf(t, dir)[untyped.URL]; r.Type != "" || r.Version != 2 {
		t.Errorf("row = %+v, want no type", r)
	}
}

func TestRebuildKeepsTheFileOfABodyThatIsLost(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	e := s.event(models.EventNew, "https://a.org/a.html", "one", 1)
	deliver(t, m, e)
	e.Record.Length--
	err := m.Rebuild(t.Context(), noon, func(yield func(models.Event, error) bool) { yield(e, nil) })
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"a.org/a.html": "one"}, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
}
