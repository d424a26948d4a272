package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/internal/pgtest"
	"recrawld/models"
)

// apartArchives is two configurations on one database, each with a data directory of its own, after the worker far has visited three pages.
func apartArchives(t *testing.T) (near, far, nearData, farData string) {
	t.Helper()
	site := serve(t, map[string]string{"/": `<title>Start</title><p><a href="/a.html">a</a> <a href="/b.html">b</a>`,
		"/a.html": `<title>A</title><p>A page with a text of its own.`, "/b.html": `<title>B</title><p>Another one, with another text.`})
	store := "store: \"" + pgtest.DSN(t) + "\"\n"
	near, nearData = configure(t, store+"worker: {name: near}\n")
	far, farData = configure(t, store+"worker: {name: far}\nmirror: {dir: off}\n")
	runUntil(t, func() bool {
		return strings.Count(must(t, "changes", "-c", far), site.URL) == 3
	}, "run", "-c", far, site.URL)
	runUntil(t, func() bool { return strings.Contains(must(t, "sink", "list", "-c", near), "cannot take") }, "run", "-c", near)
	return near, far, nearData, farData
}

// mirrored counts the pages in the mirror of a data directory.
func mirrored(t *testing.T, data string) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(data, "mirror"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".html") {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestWhatAnotherMachineStoredIsMirroredOnceItIsBrought: where workers have archives of their own nothing is lost to a mirror, which says what it
// waits for, and neither verify nor show takes it for lost.
func TestWhatAnotherMachineStoredIsMirroredOnceItIsBrought(t *testing.T) {
	t.Parallel()
	near, _, nearData, farData := apartArchives(t)
	list := must(t, "sink", "list", "-c", near)
	if !strings.Contains(list, "mirror cannot take 3 pages") || !strings.Contains(list, "that of worker far ("+farData) {
		t.Errorf("sink list says\n%s\nwant that 3 pages wait, and for which archive", list)
	}
	if n := mirrored(t, nearData); n > 0 {
		t.Errorf("%d pages are mirrored whose bodies are elsewhere", n)
	}
	if out, code := verifies(t, "-c", near, "--only", "archive"); code != exitDone || out.Archive.Elsewhere != 3 || out.Archive.Bad > 0 {
		t.Errorf("verify: exit code %d, %+v; want 3 versions elsewhere and none lost", code, out.Archive)
	}
	segments, err := filepath.Glob(filepath.Join(farData, "archive", "recrawld-far-*"))
	if err != nil || len(segments) == 0 {
		t.Fatalf("segments of far: %v (%v)", segments, err)
	}
	bring := func(whole bool) {
		t.Helper()
		for _, segment := range segments {
			body, err := os.ReadFile(segment)
			if err == nil && !whole {
				body = body[:len(body)/2] // as if it had still grown
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(nearData, "archive", filepath.Base(segment)), body, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		must(t, "sink", "replay", "mirror", "-c", near)
	}
	bring(false)
	if n := mirrored(t, nearData); n < 1 || n > 2 {
		t.Errorf("%d of 3 pages are mirrored after half of their bodies came", n)
	}
	if out, code := verifies(t, "-c", near, "--only", "archive"); code != exitDone || out.Archive.Elsewhere == 0 || out.Archive.Bad > 0 {
		t.Errorf("verify: exit code %d, %+v; want some versions elsewhere and none lost", code, out.Archive)
	}
	bring(true)
	if n := mirrored(t, nearData); n != 3 {
		t.Errorf("%d of 3 pages are mirrored after their bodies came", n)
	}
	if list := must(t, "sink", "list", "-c", near); strings.Contains(list, "cannot take") {
		t.Errorf("sink list says\n%s\nwant nothing that waits", list)
	}
	if out, code := verifies(t, "-c", near); code != exitDone || out.Archive.Records != 3 {
		t.Errorf("verify: exit code %d, %+v; want 3 records read", code, out.Archive)
	}
}

// TestAnArchiveThatIsGoneForGood is said to be, and then its bodies are lost and come anew.
func TestAnArchiveThatIsGoneForGood(t *testing.T) {
	t.Parallel()
	near, _, nearData, farData := apartArchives(t)
	if err := os.RemoveAll(farData); err != nil {
		t.Fatal(err)
	}
	for gone, want := range map[string]int{"nobody": exitNotFound, "far": exitUsage} {
		args := []string{"verify", "-c", near, "--gone", gone}
		if want == exitNotFound {
			args = append(args, "--mend", "--yes")
		}
		if code, _, stderr := command(t, args...); code != want {
			t.Errorf("verify --gone %s: exit code %d, want %d\n%s", gone, code, want, stderr)
		}
	}
	if out, code := verifies(t, "-c", near, "--mend", "--yes", "--gone", "far"); code != exitFailed || out.Archive.Mended.Lost != 3 || out.Archive.Mended.Asked != 3 {
		t.Errorf("exit code %d, mended %+v; want 3 lost and 3 asked for", code, out.Archive.Mended)
	}
	runUntil(t, func() bool { return mirrored(t, nearData) == 3 }, "run", "-c", near)
	if list := must(t, "sink", "list", "-c", near); strings.Contains(list, "cannot take") {
		t.Errorf("sink list says\n%s\nwant nothing that waits", list)
	}
}

// TestAnArchiveThatWasNotedJustNowIsKnown, and what cannot be looked up is not taken for lost.
func TestAnArchiveThatWasNotedJustNowIsKnown(t *testing.T) {
	t.Parallel()
	store, err := models.Open(t.Context(), pgtest.DSN(t), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Migrate(t.Context(), filledNow); err != nil {
		t.Fatal(err)
	}
	o := otherArchives{store: store, now: func() time.Time { return filledNow }, id: "mine"}
	if where := o.of("far"); where != "" {
		t.Errorf("of a worker that nobody knows: %q, want nothing", where)
	}
	if _, err := changeArchivePlaces(t.Context(), store, func(places map[string]archivePlace) {
		places["far"], places["near"] = archivePlace{"another", "there", "/far"}, archivePlace{"mine", "here", "/near"}
	}); err != nil {
		t.Fatal(err)
	}
	if where := o.of("far"); !strings.Contains(where, "/far on there") {
		t.Errorf("of a worker that began a moment ago: %q, want where its archive is", where)
	}
	if where := o.of("near"); where != "" {
		t.Errorf("of one that shares this archive: %q, want nothing", where)
	}
	store.Close()
	if where := o.of("third"); where == "" {
		t.Error("where the database cannot be asked, a segment that is missing is taken for lost")
	}
}
