package sink

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/archive"
	"recrawld/models"
)

// broken makes a step of a mirror fail for one name until mended.
func broken(m *Mirror, at, name string, with error) (mend func()) {
	m.tree.before = func(step, of string) error {
		if step == at && of == name {
			return &os.PathError{Op: step, Path: of, Err: with}
		}
		return nil
	}
	return func() { m.tree.before = func(string, string) error { return nil } }
}

// brokenFor makes a step of a mirror fail for all names that begin so, until mended.
func brokenFor(m *Mirror, at string, with error, beginnings ...string) (mend func()) {
	m.tree.before = func(step, of string) error {
		if step == at && slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(of, b) }) {
			return &os.PathError{Op: step, Path: of, Err: with}
		}
		return nil
	}
	return func() { m.tree.before = func(string, string) error { return nil } }
}

func TestAFileThatCannotBeWrittenHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	const a, b = "https://a.org/a.html", "https://a.org/b.html"
	for _, fault := range []error{syscall.EACCES, syscall.EPERM, syscall.ENAMETOOLONG, syscall.EISDIR, syscall.ENOTDIR, syscall.EINVAL, syscall.EFBIG} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		m := openMirror(t, dir, s)
		d := drainOf(log, m, "one", 10)
		log.add(1, s.event(models.EventNew, a, "old", 1), s.event(models.EventNew, b, "old", 1))
		once(t, d)
		mend := broken(m, "rename", "a.org/a.html", fault)
		log.add(1, s.event(models.EventChanged, a, "two", 2), s.event(models.EventChanged, b, "two", 2), plain(models.EventFailing, a, 3))
		once(t, d)
		log.add(1, s.event(models.EventChanged, a, "three", 4), s.event(models.EventChanged, b, "three", 4))
		once(t, d)
		if diff := cmp.Diff(map[string]string{"a.org/a.html": "old", "a.org/b.html": "three"}, filesOf(t, dir)); diff != "" {
			t.Errorf("%v: files differ while one cannot be written (-want +got):\n%s", fault, diff)
		}
		if w := withheldIn(t, log, "mirror"); len(w) != 1 || w[0].URL != a || len(w[0].Events) != 2 {
			t.Errorf("%v: withheld %+v, want a change and a failure of %s", fault, w, a)
		}
		if r := rowsOf(t, dir); r[a].State != stateWithheld || r[a].SHA256 != models.DigestOf([]byte("old")).String() || r[b].State != stateLive {
			t.Errorf("%v: rows %+v and %+v, want one withheld with what the file holds, one live", fault, r[a], r[b])
		}
		if left, err := os.ReadDir(filepath.Join(dir, temps)); err != nil || len(left) > 0 || m.tree.held != 0 {
			t.Errorf("%v: temporary files %v (%v) and %d without a name are left", fault, left, err, m.tree.held)
		}
		mend()
		log.add(1, plain(models.EventGone, a, 5))
		once(t, d)
		if diff := cmp.Diff(map[string]string{"a.org/b.html": "three"}, filesOf(t, dir)); diff != "" || len(withheldIn(t, log, "mirror")) > 0 {
			t.Errorf("%v: files differ when it can be written again (-want +got):\n%s", fault, diff)
		}
		if raw, err := os.ReadFile(filepath.Join(dir, trash, "2026-03-01/a.org/a.html")); err != nil || string(raw) != "three" {
			t.Errorf("%v: trash holds %q (%v), want the newest copy", fault, raw, err)
		}
	}
}

func once(t testing.TB, d *Drain) {
	t.Helper()
	if _, err := d.Once(t.Context()); err != nil {
		t.Fatalf("Once: %v", err)
	}
}

func TestAFaultOfTheWholeMirrorHoldsUpEverything(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ENOENT, syscall.EMFILE, syscall.ESTALE,
		fmt.Errorf("%w: %w", errOwn, syscall.EACCES), errDied} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		m := openMirror(t, dir, s)
		m.tree.room = func() bool { return false }
		mend := broken(m, "rename", "a.org/a.html", fault)
		log.add(1, s.event(models.EventNew, "https://a.org/a.html", "one", 1), s.event(models.EventNew, "https://a.org/b.html", "one", 1))
		d := drainOf(log, m, "one", 10)
		if _, err := d.Once(t.Context()); !errors.Is(err, fault) || log.cursors[key("mirror", 1)] != 0 || len(withheldIn(t, log, "mirror")) > 0 {
			t.Errorf("%v: Once = %v, cursor %d, withheld %v, want it to wait with everything", fault, err, log.cursors[key("mirror", 1)],
				withheldIn(t, log, "mirror"))
		}
		mend()
		once(t, d)
		if files := filesOf(t, dir); len(files) != 2 {
			t.Errorf("%v: files %v after it was mended, want both", fault, files)
		}
	}
}

// TestFault_118_AFullDirectoryHoldsUpNoOther: a file system that has room says that it has none where a directory takes no more names.
func TestFault_118_AFullDirectoryHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"rename", "mkdir"} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		m := openMirror(t, dir, s)
		m.tree.room = func() bool { return true }
		mend := brokenFor(m, step, syscall.ENOSPC, "a.org/full")
		d := drainOf(log, m, "one", 10)
		const full, other = "https://a.org/full/a.html", "https://a.org/other.html"
		log.add(1, s.event(models.EventNew, full, "one", 1), s.event(models.EventNew, other, "one", 1))
		once(t, d)
		if diff := cmp.Diff(map[string]string{"a.org/other.html": "one"}, filesOf(t, dir)); diff != "" {
			t.Errorf("%s: files differ while a directory is full (-want +got):\n%s", step, diff)
		}
		if w := withheldIn(t, log, "mirror"); len(w) != 1 || w[0].URL != full {
			t.Errorf("%s: withheld %+v, want %s", step, w, full)
		}
		mend()
		log.add(1, s.event(models.EventChanged, full, "two", 2))
		once(t, d)
		if diff := cmp.Diff(map[string]string{"a.org/full/a.html": "two", "a.org/other.html": "one"}, filesOf(t, dir)); diff != "" {
			t.Errorf("%s: files differ when there is room again (-want +got):\n%s", step, diff)
		}
	}
}

// largeFirst is an archive that reads a small body when the large one has been tried.
type largeFirst struct {
	shelf
	tried chan struct{}
}

// Read implements Archive.
func (l largeFirst) Read(r models.Record) (archive.Answer, error) {
	answer, err := l.shelf.Read(r)
	if string(answer.Body) == "small" {
		<-l.tried
	}
	return answer, err
}

// TestABodyThatIsTooLargeHoldsUpNoOther: FAT takes no file of 4 GiB. What becomes of the page then counts, also in the same delivery.
func TestABodyThatIsTooLargeHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	const a, b = "https://a.org/a.html", "https://a.org/b.html"
	for name, test := range map[string]struct {
		next func(s shelf) models.Event // comes with the large one
		want string                     // of a; "": no file
		held int                        // pages withheld
	}{
		"nothing more": {func(shelf) models.Event { return plain(models.EventFailing, a, 3) }, "old", 1},
		"smaller":      {func(s shelf) models.Event { return s.event(models.EventChanged, a, "small", 3) }, "small", 0},
		"gone":         {func(shelf) models.Event { return plain(models.EventGone, a, 3) }, "", 0},
		"removed":      {func(shelf) models.Event { return plain(models.EventRemoved, a, 3) }, "old", 0},
	} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		m := openMirror(t, dir, s)
		d := drainOf(log, m, "one", 10)
		log.add(1, s.event(models.EventNew, a, "old", 1))
		once(t, d)
		tried := make(chan struct{})
		m.options.Archive = largeFirst{s, tried}
		m.tree.before = func(step, of string) error {
			if step != "write" || of != "a.org/a.html" || tried == nil {
				return nil
			}
			close(tried)
			tried = nil
			return syscall.EFBIG
		}
		log.add(1, s.event(models.EventChanged, a, "large", 2), test.next(s), s.event(models.EventNew, b, "bee", 1))
		once(t, d)
		want := map[string]string{"a.org/a.html": test.want, "a.org/b.html": "bee"}
		if test.want == "" {
			delete(want, "a.org/a.html")
		}
		if diff := cmp.Diff(want, filesOf(t, dir)); diff != "" {
			t.Errorf("%s: files differ (-want +got):\n%s", name, diff)
		}
		if w := withheldIn(t, log, "mirror"); len(w) != test.held {
			t.Errorf("%s: withheld %+v, want %d pages", name, w, test.held)
		}
	}
}

// TestABodyThatIsTooLargeDoesNotOutliveItsSite: once the site is removed, also later, the page waits no more, and what there is of it stays.
func TestABodyThatIsTooLargeDoesNotOutliveItsSite(t *testing.T) {
	t.Parallel()
	const a = "https://a.org/a.html"
	for _, there := range []bool{true, false} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		m := openMirror(t, dir, s)
		d := drainOf(log, m, "one", 10)
		want := map[string]string{}
		if there {
			want["a.org/a.html"] = "old"
			log.add(1, s.event(models.EventNew, a, "old", 1))
			once(t, d)
		}
		brokenFor(m, "write", syscall.EFBIG, "a.org/a.html")
		log.add(1, s.event(models.EventChanged, a, "large", 2))
		once(t, d)
		if w := withheldIn(t, log, "mirror"); len(w) != 1 {
			t.Errorf("withheld %+v, want the page", w)
		}
		log.add(1, plain(models.EventRemoved, a, 3))
		once(t, d)
		if w := withheldIn(t, log, "mirror"); len(w) != 0 {
			t.Errorf("withheld %+v of a removed site, want nothing", w)
		}
		if diff := cmp.Diff(want, filesOf(t, dir)); diff != "" {
			t.Errorf("files differ (-want +got):\n%s", diff)
		}
		if r := rowsOf(t, dir)[a]; r.State != models.EventRemoved.String() || (r.SHA256 != "") != there {
			t.Errorf("row %+v, want it removed, and its digest where there is a file", r)
		}
	}
}

// TestADirectoryOfOthersHoldsUpNoOther has a directory in the mirror that belongs to somebody else.
func TestADirectoryOfOthersHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("the superuser may write anywhere")
	}
	for _, mode := range []os.FileMode{0o500, 0o000} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		m := openMirror(t, dir, s)
		d := drainOf(log, m, "one", 10)
		const a, b, gone = "https://a.org/x/a.html", "https://a.org/b.html", "https://a.org/x/gone.html"
		log.add(1, s.event(models.EventNew, a, "old", 1), s.event(models.EventNew, gone, "gone", 1))
		once(t, d)
		x := filepath.Join(dir, "a.org/x")
		if err := os.Chmod(x, mode); err != nil {
			t.Fatal(err)
		}
		log.add(1, s.event(models.EventChanged, a, "new", 2), plain(models.EventGone, gone, 2), s.event(models.EventNew, b, "bee", 1))
		once(t, d)
		log.add(1, s.event(models.EventRestored, gone, "back", 3), plain(models.EventGone, gone, 4))
		once(t, d)
		if w := withheldIn(t, log, "mirror"); len(w) != 2 {
			t.Errorf("mode %v: withheld %+v, want the pages of the directory", mode, w)
		}
		if raw, err := os.ReadFile(filepath.Join(dir, "a.org/b.html")); err != nil || string(raw) != "bee" {
			t.Errorf("mode %v: the file beside it holds %q (%v)", mode, raw, err)
		}
		if err := os.Chmod(x, 0o700); err != nil {
			t.Fatal(err)
		}
		once(t, drainOf(log, openMirror(t, dir, s), "one", 10))
		if diff := cmp.Diff(map[string]string{"a.org/x/a.html": "new", "a.org/b.html": "bee"}, filesOf(t, dir)); diff != "" {
			t.Errorf("mode %v: files differ when the directory is ours again (-want +got):\n%s", mode, diff)
		}
	}
}

// TestAMirrorMadeAnewGoesAroundWhatItCannotWrite makes a mirror anew while a page's file cannot be written and that of a page that is
// not known any more cannot be moved.
func TestAMirrorMadeAnewGoesAroundWhatItCannotWrite(t *testing.T) {
	t.Parallel()
	const a, b, stranger = "https://a.org/a.html", "https://a.org/b.html", "https://a.org/stranger.html"
	dir, s, log := t.TempDir(), newShelf(t), newMemory()
	m := openMirror(t, dir, s)
	d := sourced(log, log, m)
	log.add(1, s.event(models.EventNew, a, "old", 1), s.event(models.EventNew, stranger, "who", 1))
	once(t, d)
	for i := range rebuildBatch - 1 { // so that the two events of a come where a batch would end
		log.current = append(log.current, plain(models.EventExcluded, fmt.Sprintf("https://a.org/%d", i), 1))
	}
	log.current = append(log.current, s.event(models.EventNew, a, "new", 2), plain(models.EventMoved, a, 3), s.event(models.EventNew, b, "bee", 1))
	mended := false
	m.tree.before = func(step, name string) error {
		if step == "rename" && !mended && (name == "a.org/a.html" || strings.HasSuffix(name, "stranger.html")) {
			return syscall.EACCES
		}
		return nil
	}
	if err := d.Replay(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a.org/a.html": "old", "a.org/b.html": "bee", "a.org/stranger.html": "who"}, filesOf(t, dir)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	if w := withheldIn(t, log, "mirror"); len(w) != 2 {
		t.Errorf("withheld %+v, want %s and %s", w, a, stranger)
	}
	mended = true
	once(t, sourced(log, log, m))
	if diff := cmp.Diff(map[string]string{"a.org/a.html": "new", "a.org/b.html": "bee"}, filesOf(t, dir)); diff != "" {
		t.Errorf("files differ when they can be written (-want +got):\n%s", diff)
	}
	if r := rowsOf(t, dir)[a]; r.State != models.EventMoved.String() {
		t.Errorf("row of %s: %+v, want it moved", a, r)
	}
}

// TestTheManifestTellsWhatStandsWhereAPageWaits has pages wait whose file was taken away before, and that could be written and then
// not be taken away.
func TestTheManifestTellsWhatStandsWhereAPageWaits(t *testing.T) {
	t.Parallel()
	const back, gone = "https://a.org/back.html", "https://a.org/gone.html"
	dir, s, log := t.TempDir(), newShelf(t), newMemory()
	m := openMirror(t, dir, s)
	d := drainOf(log, m, "one", 10)
	log.add(1, s.event(models.EventNew, back, "old", 1), s.event(models.EventNew, gone, "old", 1))
	once(t, d)
	log.add(1, plain(models.EventGone, back, 2))
	once(t, d)
	brokenFor(m, "rename", syscall.EACCES, "a.org/back.html", trash)
	log.add(1, s.event(models.EventChanged, back, "two", 3), s.event(models.EventChanged, gone, "second", 3), plain(models.EventGone, gone, 4))
	once(t, d)
	if diff := cmp.Diff(map[string]string{"a.org/gone.html": "second"}, filesOf(t, dir)); diff != "" || len(withheldIn(t, log, "mirror")) != 2 {
		t.Fatalf("files differ (-want +got):\n%s", diff)
	}
	rows := rowsOf(t, dir)
	if r := rows[back]; r.State != stateWithheld || r.SHA256 != "" || r.hasFile() {
		t.Errorf("row %+v of a page without a file, want it withheld and no sum", r)
	}
	if r := rows[gone]; r.State != stateWithheld || r.SHA256 != models.DigestOf([]byte("second")).String() || !r.hasFile() {
		t.Errorf("row %+v, want it withheld with the sum of what stands there", r)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, summaryFile)); err != nil || !strings.Contains(string(raw), `"files": 1,`) {
		t.Errorf("summary %s (%v), want one file", raw, err)
	}
}

// TestAFileThatNoPageHasIsKnownUntilItIsTakenAway makes a mirror anew that cannot take away some files, and forgets that it could not.
func TestAFileThatNoPageHasIsKnownUntilItIsTakenAway(t *testing.T) {
	t.Parallel()
	const a, stranger = "https://a.org/A.html", "https://a.org/stranger.html"
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	deliver(t, m, s.event(models.EventNew, a, "old", 1), s.event(models.EventNew, stranger, "who", 1))
	m.tree.place += folded // so that the file of a has another name now
	current := func(yield func(models.Event, error) bool) { yield(s.event(models.EventNew, a, "new", 2), nil) }
	mend := brokenFor(m, "rename", syscall.EACCES, trash)
	refused, ok := errors.AsType[*Refused](m.Rebuild(t.Context(), noon, current))
	if !ok || len(refused.Pages) != 1 || refused.Pages[0].URL != stranger {
		t.Errorf("Rebuild refuses %+v, want %s alone: %s has another file", refused, stranger, a)
	}
	mend()
	if err := m.Rebuild(t.Context(), noon, current); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{FoldedName(a): "new"}, filesOf(t, dir)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	if _, err := os.Lstat(filepath.Join(dir, retiredFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", retiredFile, err)
	}
}

// TestAPageThatIsBackIsNotTheCopyThatCouldNotBeTakenAway has a mirror made anew while a page is gone whose older copy cannot be replaced
// or taken away; then the page is back.
func TestAPageThatIsBackIsNotTheCopyThatCouldNotBeTakenAway(t *testing.T) {
	t.Parallel()
	const a = "https://a.org/a.html"
	dir, s, log := t.TempDir(), newShelf(t), newMemory()
	m := openMirror(t, dir, s)
	d := sourced(log, log, m)
	second, gone := s.event(models.EventChanged, a, "second", 2), plain(models.EventGone, a, 3)
	restored := second
	restored.Kind, restored.At = models.EventRestored, models.At(noon.Add(4*time.Hour))
	log.add(1, s.event(models.EventNew, a, "first", 1))
	once(t, d)
	mend := brokenFor(m, "rename", syscall.EACCES, "a.org/", trash)
	log.add(1, second, gone)
	once(t, d)
	log.current = []models.Event{gone}
	if err := d.Replay(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	mend()
	log.add(1, restored)
	once(t, d)
	if diff := cmp.Diff(map[string]string{"a.org/a.html": "second"}, filesOf(t, dir)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	if r := rowsOf(t, dir)[a]; r.State != stateLive || r.SHA256 != second.Digest.String() {
		t.Errorf("row = %+v, want it live with the digest of its last copy", r)
	}
}

// TestABodyThatLiesElsewhereIsWaitedFor: a page whose body another worker's archive has waits, and no other with it, until its segment is
// brought here. Once nobody knows of that archive any more the body is lost, and the page goes on without it.
func TestABodyThatLiesElsewhereIsWaitedFor(t *testing.T) {
	t.Parallel()
	const a, b = "https://a.org/a.html", "https://a.org/b.html"
	for _, brought := range []bool{true, false} {
		here, away, dir, log := t.TempDir(), t.TempDir(), t.TempDir(), newMemory()
		open := func(dir, worker string) shelf {
			opened, err := archive.Open(dir, archive.Options{Worker: worker, Now: func() time.Time { return noon }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { opened.Close() })
			return shelf{opened, t}
		}
		near, far, where := open(here, "near"), open(away, "far"), "that of worker far"
		near.Elsewhere(func(string) string { return where })
		d := drainOf(log, openMirror(t, dir, near), "one", 10)
		log.add(1, near.event(models.EventNew, a, "old", 1), near.event(models.EventNew, b, "old", 1))
		once(t, d)
		log.add(1, far.event(models.EventChanged, a, "new", 2), near.event(models.EventChanged, b, "new", 2))
		once(t, d)
		if diff := cmp.Diff(map[string]string{"a.org/a.html": "old", "a.org/b.html": "new"}, filesOf(t, dir)); diff != "" {
			t.Errorf("files differ while a body lies elsewhere (-want +got):\n%s", diff)
		}
		if w := withheldIn(t, log, "mirror"); len(w) != 1 || w[0].URL != a || !strings.Contains(w[0].Why, where) {
			t.Errorf("withheld %+v, want %s, with where its body is", w, a)
		}
		want := map[string]string{"a.org/a.html": "old", "a.org/b.html": "new"}
		if where = ""; brought {
			want["a.org/a.html"] = "new"
			if err := errors.Join(far.Close(), bring(away, here)); err != nil {
				t.Fatal(err)
			}
		}
		log.add(1, plain(models.EventFailing, a, 3))
		once(t, d)
		if diff := cmp.Diff(want, filesOf(t, dir)); diff != "" || len(withheldIn(t, log, "mirror")) > 0 {
			t.Errorf("brought here: %v: files differ (-want +got):\n%s", brought, diff)
		}
	}
}

// bring copies the segments of an archive into another one.
func bring(from, to string) error {
	segments, err := filepath.Glob(filepath.Join(from, "recrawld-*.warc.gz"))
	for _, segment := range segments {
		body, failed := os.ReadFile(segment)
		err = errors.Join(err, failed, os.WriteFile(filepath.Join(to, filepath.Base(segment)), body, 0o600))
	}
	return err
}
