package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/archive"
	"recrawld/models"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// shelf is a real archive into which tests put bodies.
type shelf struct {
	*archive.Archive
	t testing.TB
}

func newShelf(t testing.TB) shelf {
	t.Helper()
	a, err := archive.Open(t.TempDir(), archive.Options{Worker: "w0", Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return shelf{a, t}
}

// event is the event of a new version whose body was archived.
func (s shelf) event(kind models.EventKind, url, body string, version int32) models.Event {
	s.t.Helper()
	record, err := s.Append(models.Capture{URL: url, Outcome: models.Outcome{At: noon, Status: 200, Proto: "HTTP/1.1",
		Header: []byte("ETag: \"" + fmt.Sprint(version) + "\"\r\n"), Body: []byte(body)}})
	if err != nil {
		s.t.Fatal(err)
	}
	return models.Event{
		At: models.At(noon.Add(time.Duration(version) * time.Hour)), Kind: kind, URL: url, Version: version, Status: 200,
		ContentType: "text/html", Record: record, Digest: models.DigestOf([]byte(body)), Bytes: int64(len(body)),
		LastModified: "Sun, 01 Feb 2026 10:00:00 GMT",
	}
}

func plain(kind models.EventKind, url string, hour int) models.Event {
	return models.Event{At: models.At(noon.Add(time.Duration(hour) * time.Hour)), Kind: kind, URL: url}
}

func openMirror(t testing.TB, dir string, a Archive) *Mirror {
	t.Helper()
	m, err := OpenMirror(dir, MirrorOptions{Archive: a, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("OpenMirror: %v", err)
	}
	return m
}

func deliver(t testing.TB, m *Mirror, events ...models.Event) {
	t.Helper()
	if err := m.Deliver(t.Context(), events); err != nil {
		t.Fatalf("Deliver: %v", err)
	}
}

// filesOf is the content of all regular files below a directory by name, but for the mirror's own.
func filesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil && name == own {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() {
			raw, err := os.ReadFile(path)
			files[filepath.ToSlash(name)] = string(raw)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// rowsOf is the manifest of a closed mirror, by URL, brought up to date.
func rowsOf(t testing.TB, dir string) map[string]Row {
	t.Helper()
	m := openMirror(t, dir, nil)
	if err := errors.Join(m.flush(), m.Close()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]Row{}
	for line := range strings.Lines(string(raw)) {
		var r Row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if _, twice := rows[r.URL]; twice {
			t.Errorf("the manifest has %s twice", r.URL)
		}
		rows[r.URL] = r
	}
	return rows
}

func TestMirrorFollowsThePages(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	const a, b, c, d = "https://a.org/", "https://a.org/b", "https://a.org/b/c.html", "https://a.org/d.html"
	deliver(t, m, s.event(models.EventNew, a, "one", 1), s.event(models.EventNew, b, "bee", 1), s.event(models.EventNew, d, "dee", 1))
	deliver(t, m, s.event(models.EventChanged, a, "two", 2), s.event(models.EventNew, c, "sea", 1),
		plain(models.EventFailing, b, 3), plain(models.EventGone, d, 5))
	moved := plain(models.EventMoved, c, 4)
	moved.RedirectTo = "https://a.org/new"
	deliver(t, m, moved)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a.org/index.html": "two", "a.org/b#.html": "bee", "a.org/b/c.html": "sea"}
	if d := cmp.Diff(want, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, trash, "2026-03-01/a.org/d.html")); err != nil || string(raw) != "dee" {
		t.Errorf("trash holds %q, %v, want %q", raw, err, "dee")
	}
	stat, err := os.Stat(filepath.Join(dir, "a.org/index.html"))
	if want := time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC); err != nil || !stat.ModTime().Equal(want) {
		t.Errorf("modified at %v (%v), want %v", stat.ModTime(), err, want)
	}
	three := int64(3)
	wantRow := Row{URL: a, Path: "a.org/index.html", State: "live", Status: 200, Type: "text/html", Length: &three,
		SHA256: models.DigestOf([]byte("two")).String(), ETag: `"2"`, LastModified: "Sun, 01 Feb 2026 10:00:00 GMT",
		FetchedAt: "2026-03-01T14:00:00Z", ChangedAt: "2026-03-01T14:00:00Z", EventAt: "2026-03-01T14:00:00Z", Version: 2}
	rows := rowsOf(t, dir)
	if d := cmp.Diff(wantRow, rows[a]); d != "" {
		t.Errorf("row differs (-want +got):\n%s", d)
	}
	for url, state := range map[string]string{a: "live", b: "failing", c: "moved", d: "gone"} {
		if rows[url].State != state || rows[url].SHA256 == "" {
			t.Errorf("row of %s = %+v, want state %s and its digest kept", url, rows[url], state)
		}
	}
	if got := rows[c].RedirectTo; got != "https://a.org/new" {
		t.Errorf("row of %s redirects to %q", c, got)
	}
	var sum Summary
	raw, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if err := errors.Join(err, json.Unmarshal(raw, &sum)); err != nil {
		t.Fatal(err)
	}
	wantSum := Summary{URLs: 4, Files: 3, Bytes: 9, LastAt: "2026-03-01T17:00:00Z",
		States: map[string]int64{"live": 1, "failing": 1, "moved": 1, "gone": 1}}
	if d := cmp.Diff(wantSum, sum); d != "" {
		t.Errorf("summary differs (-want +got):\n%s", d)
	}
}

func TestTheLastEventOfABatchWins(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	const a, b = "https://a.org/a.html", "https://a.org/b.html"
	deliver(t, m, s.event(models.EventNew, a, "one", 1), s.event(models.EventChanged, a, "two", 2), plain(models.EventGone, a, 3),
		s.event(models.EventNew, b, "one", 1), plain(models.EventGone, b, 2), s.event(models.EventRestored, b, "one", 1))
	if d := cmp.Diff(map[string]string{"a.org/b.html": "one"}, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, trash, "2026-03-01/a.org/a.html")); err != nil || string(raw) != "two" {
		t.Errorf("trash holds %q, %v, want the newest copy", raw, err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, temps)); err != nil || len(left) > 0 {
		t.Errorf("temporary files %v (%v) are left", left, err)
	}
}

func TestFault_117_PlantedFilesAreNeverFollowed(t *testing.T) {
	t.Parallel()
	dir, outside, s := t.TempDir(), t.TempDir(), newShelf(t)
	secret := filepath.Join(outside, "secret")
	link := func(to, name string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.Symlink(to, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	link(secret, "a.org/a.html")
	link(outside, "a.org/dir")
	link("../b.org", "a.org/inside")
	link(secret, own+"/tmp")
	link(secret, manifestFile)
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "b.org"), 0o755), syscall.Mkfifo(filepath.Join(dir, "a.org/fifo.html"), 0o600),
		os.MkdirAll(filepath.Join(dir, "a.org/d.html/x"), 0o755)); err != nil {
		t.Fatal(err)
	}
	m := openMirror(t, dir, s)
	deliver(t, m, s.event(models.EventNew, "https://a.org/a.html", "one", 1), s.event(models.EventNew, "https://a.org/dir/b.html", "two", 1),
		s.event(models.EventNew, "https://a.org/inside/c.html", "three", 1), s.event(models.EventNew, "https://a.org/fifo.html", "four", 1),
		s.event(models.EventNew, "https://a.org/d.html", "five", 1))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a.org/a.html": "one", "a.org/dir/b.html": "two", "a.org/inside/c.html": "three",
		"a.org/fifo.html": "four", "a.org/d.html": "five"}
	if d := cmp.Diff(want, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"secret": "secret"}, filesOf(t, outside)); d != "" {
		t.Errorf("files outside the tree differ (-want +got):\n%s", d)
	}
	if got := len(rowsOf(t, dir)); got != 5 {
		t.Errorf("%d rows, want 5", got)
	}
}

func TestFault_117_GoneDoesNotTrashThroughALink(t *testing.T) {
	t.Parallel()
	dir, outside, s := t.TempDir(), t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	if err := errors.Join(os.WriteFile(filepath.Join(outside, "b.html"), []byte("theirs"), 0o600),
		os.Mkdir(filepath.Join(dir, "a.org"), 0o755), os.Symlink(outside, filepath.Join(dir, "a.org/dir"))); err != nil {
		t.Fatal(err)
	}
	deliver(t, m, plain(models.EventGone, "https://a.org/dir/b.html", 1))
	if d := cmp.Diff(map[string]string{"b.html": "theirs"}, filesOf(t, outside)); d != "" {
		t.Errorf("files outside the tree differ (-want +got):\n%s", d)
	}
}

// TestACrashAnywhereLeavesWholeFiles stops the world before the first change to the tree, the second, and so on until a
// delivery gets through, and starts again from what is there each time: with drafts that have no name as far as the file
// system makes such, with temporary ones, and with both.
func TestACrashAnywhereLeavesWholeFiles(t *testing.T) {
	t.Parallel()
	for _, nameless := range []int{0, 1, maxHeld} {
		t.Run(strconv.Itoa(nameless), func(t *testing.T) {
			t.Parallel()
			crashAnywhere(t, nameless)
		})
	}
}

func crashAnywhere(t *testing.T, nameless int) {
	s := newShelf(t)
	const a, b, c = "https://a.org/a.html", "https://a.org/x/b.html", "https://b.org/c"
	first := []models.Event{s.event(models.EventNew, a, "old a", 1), s.event(models.EventNew, b, "old b", 1)}
	second := []models.Event{s.event(models.EventChanged, a, "new a", 2), plain(models.EventGone, b, 2), s.event(models.EventNew, c, "new c", 1)}
	allowed := map[string][]string{"a.org/a.html": {"old a", "new a"}, "a.org/x/b.html": {"old b"}, "b.org/c#.html": {"new c"}}
	final := map[string]string{"a.org/a.html": "new a", "b.org/c#.html": "new c"}
	crashes := 0
	for crashed := true; crashed; crashes++ {
		dir := t.TempDir()
		m := openMirror(t, dir, s)
		m.tree.mostHeld = min(m.tree.mostHeld, nameless)
		deliver(t, m, first...)
		steps := 0
		m.tree.before = func(step, name string) error {
			if steps++; steps > crashes {
				return syscall.EIO // and nothing more from here on
			}
			return nil
		}
		err := m.Deliver(t.Context(), second)
		if err == nil {
			err = m.flush()
		}
		crashed = err != nil
		for name, content := range filesOf(t, dir) {
			if !slices.Contains(allowed[name], content) {
				t.Fatalf("after a crash at step %d %s holds %q", crashes, name, content)
			}
		}
		again := openMirror(t, dir, s)
		deliver(t, again, second...)
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(final, filesOf(t, dir)); d != "" {
			t.Fatalf("after a crash at step %d and a restart files differ (-want +got):\n%s", crashes, d)
		}
		rows := rowsOf(t, dir)
		if len(rows) != 3 || rows[a].Version != 2 || rows[b].State != "gone" || rows[c].State != "live" {
			t.Fatalf("after a crash at step %d the manifest says %+v", crashes, rows)
		}
	}
	if crashes < 10 {
		t.Errorf("the delivery took %d steps, want more than that to be tried", crashes)
	}
}

func TestATornManifestLogIsCut(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	deliver(t, m, s.event(models.EventNew, "https://a.org/a.html", "one", 1))
	f, err := os.OpenFile(filepath.Join(dir, logFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"url":"https://a.org/b.html","sta`); err != nil {
		t.Fatal(err)
	}
	again := openMirror(t, dir, s)
	deliver(t, again, s.event(models.EventNew, "https://a.org/c.html", "two", 1))
	if err := errors.Join(f.Close(), again.Close()); err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(rowsOf(t, dir)))
	if want := []string{"https://a.org/a.html", "https://a.org/c.html"}; !cmp.Equal(got, want) {
		t.Errorf("the manifest has %q, want %q", got, want)
	}
}

func TestAManifestOfManyRowsIsCompactedOnTheWay(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	body := s.event(models.EventNew, "https://a.org/", "same", 1)
	n := compactMin + 100
	var events []models.Event
	for i := range n {
		e := body
		e.URL = fmt.Sprintf("https://a.org/%d/%d.html", i%50, i)
		events = append(events, e)
	}
	deliver(t, m, events...)
	if len(m.manifest.changes) > 0 || m.manifest.rows != int64(n) {
		t.Errorf("log of %d and manifest of %d rows, want 0 and %d", len(m.manifest.changes), m.manifest.rows, n)
	}
	failing := plain(models.EventFailing, "https://a.org/7/7.html", 9)
	deliver(t, m, failing)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, dir)
	if r := rows[failing.URL]; len(rows) != n || r.State != "failing" || r.Version != 1 || r.EventAt != failing.At.String() {
		t.Errorf("%d rows, that of the failing page %+v", len(rows), r)
	}
}

func TestAFoldingMirrorKeepsCaseTwinsApart(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	if err := errors.Join(os.Mkdir(filepath.Join(dir, own), 0o755), // as one that began on a folding file system leaves it
		os.WriteFile(filepath.Join(dir, placeFile), []byte("it"+folded+"\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	m := openMirror(t, dir, s)
	deliver(t, m, s.event(models.EventNew, "https://a.org/A.html", "big", 1), s.event(models.EventNew, "https://a.org/a.html", "small", 1))
	files := filesOf(t, dir)
	lower := map[string]bool{}
	for name := range files {
		lower[strings.ToLower(name)] = true
	}
	if len(lower) != 2 || files["a.org/a.html"] != "small" {
		t.Errorf("files = %q, want two that differ without case", files)
	}
}

// TestAMirrorIsFoldingWhereItsFileSystemIs holds what a new mirror finds out against what the file system does, which is folding
// where TMPDIR is.
func TestAMirrorIsFoldingWhereItsFileSystemIs(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, missing := os.Stat(filepath.Join(dir, "X"))
	mirror := filepath.Join(dir, "mirror")
	m := openMirror(t, mirror, s)
	if got, want := strings.HasSuffix(m.Place(), folded), missing == nil; got != want {
		t.Errorf("a new mirror is folding: %v, want %v", got, want)
	}
	events := []models.Event{s.event(models.EventNew, "https://a.org/A.html", "big", 1), s.event(models.EventNew, "https://a.org/a.html", "small", 1)}
	deliver(t, m, events...)
	deliver(t, m, plain(models.EventGone, events[0].URL, 2))
	if got := filesOf(t, mirror); len(got) != 1 || got["a.org/a.html"] != "small" {
		t.Errorf("files = %q when one of two is gone, want the other", got)
	}
}

func TestDeliverStopsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	m := openMirror(t, t.TempDir(), s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Deliver(ctx, []models.Event{s.event(models.EventNew, "https://a.org/", "one", 1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("Deliver: error = %v, want context.Canceled", err)
	}
}

func BenchmarkMirror(b *testing.B) {
	s := newShelf(b)
	m := openMirror(b, b.TempDir(), s)
	e := s.event(models.EventNew, "https://a.org/", strings.Repeat("0123456789abcdef", 512), 1)
	events := make([]models.Event, 512)
	for i := range events {
		events[i] = e
		events[i].URL = fmt.Sprintf("https://a.org/%d/%d.html", i%20, i)
	}
	for b.Loop() {
		deliver(b, m, events...)
	}
	b.ReportMetric(float64(b.N*len(events))/b.Elapsed().Seconds(), "files/s")
}

// TestProcessesTakeTurnsWithAMirror lets two processes that both have the mirror open use it in turn.
func TestProcessesTakeTurnsWithAMirror(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	one, two := openMirror(t, dir, s), openMirror(t, dir, s)
	const a, b = "https://a.org/a.html", "https://a.org/b.html"
	deliver(t, one, s.event(models.EventNew, a, "one", 1))
	deliver(t, two, s.event(models.EventChanged, a, "two", 2), s.event(models.EventNew, b, "bee", 1))
	if err := two.flush(); err != nil {
		t.Fatal(err)
	}
	deliver(t, one, plain(models.EventFailing, b, 9))
	if err := errors.Join(one.Close(), two.Close()); err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, dir)
	if len(rows) != 2 || rows[a].Version != 2 || rows[b].State != "failing" || rows[b].Version != 1 {
		t.Errorf("the manifest says %+v", rows)
	}
	if d := cmp.Diff(map[string]string{"a.org/a.html": "two", "a.org/b.html": "bee"}, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
}

// TestClosingDoesNotWriteWhatAnotherProcessDrains closes a mirror whose turn is over while another process has its own.
func TestClosingDoesNotWriteWhatAnotherProcessDrains(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	one, two := openMirror(t, dir, s), openMirror(t, dir, s)
	deliver(t, one, s.event(models.EventNew, "https://a.org/a.html", "one", 1))
	deliver(t, two, s.event(models.EventNew, "https://a.org/b.html", "two", 1))
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, logFile)); err != nil || strings.Count(string(raw), "\n") != 2 {
		t.Errorf("the log is %q (%v), want both lines still there", raw, err)
	}
}
