package sink

import (
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// A site's files stay when it is removed, also in a mirror that is made anew afterwards, again, or before it heard of that; the
// manifest goes on to tell of them.
func TestReplayKeepsTheFilesOfARemovedSite(t *testing.T) {
	t.Parallel()
	for _, heard := range []bool{true, false} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		const a, b = "https://a.org/a.html", "https://b.org/b.html"
		log.add(1, s.event(models.EventNew, a, "one", 1), s.event(models.EventNew, b, "bee", 1))
		m := openMirror(t, dir, s)
		d := drainOf(log, m, "one", 10)
		once(t, d)
		removed := plain(models.EventRemoved, b, 2)
		removed.Version = 1
		log.add(1, removed)
		if heard {
			once(t, d)
		}
		log.current = []models.Event{s.event(models.EventNew, a, "one", 1)}
		for range 2 {
			if err := d.Replay(t.Context(), log); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{"a.org/a.html": "one", "b.org/b.html": "bee"}, filesOf(t, dir)); diff != "" {
				t.Errorf("heard of it %t: files differ (-want +got):\n%s", heard, diff)
			}
			if r := rowsOf(t, dir)[b]; r.State != models.EventRemoved.String() || r.SHA256 != models.DigestOf([]byte("bee")).String() {
				t.Errorf("heard of it %t: row %+v, want it removed, with its digest", heard, r)
			}
		}
	}
}

// What was removed and found anew is a page like any other: when it goes, its file does, too.
func TestReplayTakesAPageThatWasFoundAnewForNoRemovedOne(t *testing.T) {
	t.Parallel()
	dir, s, log := t.TempDir(), newShelf(t), newMemory()
	const a = "https://a.org/a.html"
	m := openMirror(t, dir, s)
	d := drainOf(log, m, "one", 10)
	log.add(1, s.event(models.EventNew, a, "one", 1), plain(models.EventRemoved, a, 2), s.event(models.EventNew, a, "anew", 3))
	log.current = []models.Event{s.event(models.EventNew, a, "anew", 3)}
	replay := func() {
		t.Helper()
		if err := d.Replay(t.Context(), log); err != nil {
			t.Fatal(err)
		}
	}
	replay()
	if r := rowsOf(t, dir)[a]; r.State != stateLive || r.Version != 3 {
		t.Errorf("row %+v, want it live", r)
	}
	log.current = nil
	replay()
	if files := filesOf(t, dir); len(files) != 0 {
		t.Errorf("files %v, want none", files)
	}
}

// A page that was found anew and redirects has no copy of its own: what was kept of the removed site stays, in a mirror that is made anew
// as in one that is not. It goes when there is a page that is gone.
func TestReplayKeepsTheFileOfAPageThatRedirectsWhenItIsFoundAnew(t *testing.T) {
	t.Parallel()
	const a = "https://a.org/a.html"
	for _, told := range []models.EventKind{models.EventMoved, models.EventExcluded} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		m := openMirror(t, dir, s)
		d := drainOf(log, m, "one", 10)
		log.add(1, s.event(models.EventNew, a, "one", 1), plain(models.EventRemoved, a, 2))
		once(t, d)
		log.add(1, plain(told, a, 3))
		once(t, d)
		log.current = []models.Event{plain(told, a, 3)}
		for i := range 3 {
			if i > 0 {
				if err := d.Replay(t.Context(), log); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(map[string]string{"a.org/a.html": "one"}, filesOf(t, dir)); diff != "" {
				t.Errorf("%s, after %d replays: files differ (-want +got):\n%s", told, i, diff)
			}
			if r := rowsOf(t, dir)[a]; r.State != models.EventRemoved.String() || r.SHA256 != models.DigestOf([]byte("one")).String() {
				t.Errorf("%s, after %d replays: row %+v, want it removed, with its digest", told, i, r)
			}
		}
		log.current = []models.Event{plain(models.EventGone, a, 4)}
		if err := d.Replay(t.Context(), log); err != nil {
			t.Fatal(err)
		}
		if files := filesOf(t, dir); len(files) != 0 {
			t.Errorf("%s: files %v of a page that is gone, want none", told, files)
		}
	}
}

// A page whose file could not be written waits with what came of it, the removal of its site too: no cursor tells of that.
func TestReplayKeepsTheFileOfARemovedSiteThatWaited(t *testing.T) {
	t.Parallel()
	dir, s, log := t.TempDir(), newShelf(t), newMemory()
	const a = "https://a.org/a.html"
	m := openMirror(t, dir, s)
	d := drainOf(log, m, "one", 10)
	log.add(1, s.event(models.EventNew, a, "one", 1))
	once(t, d)
	mend := brokenFor(m, "rename", syscall.EACCES, "a.org/")
	log.add(1, s.event(models.EventChanged, a, "two", 2), plain(models.EventRemoved, a, 3))
	once(t, d)
	mend()
	if err := d.Replay(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a.org/a.html": "two"}, filesOf(t, dir)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	if r := rowsOf(t, dir)[a]; r.State != models.EventRemoved.String() {
		t.Errorf("row %+v, want it removed", r)
	}
}
