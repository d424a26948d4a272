package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/internal/pgtest"
	"recrawld/models"
)

// awaits waits until something is so.
func awaits(t *testing.T, what string, done func() bool) {
	t.Helper()
	var machine clock.System
	for end := machine.Now().Add(patience); !done(); {
		if machine.Now().After(end) {
			t.Fatalf("not %s", what)
		}
		if err := machine.SleepUntil(t.Context(), machine.Now().Add(20*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
	}
}

// verifies runs recrawld verify with --json.
func verifies(t *testing.T, flags ...string) (out verified, code int) {
	t.Helper()
	code, stdout, stderr := command(t, append([]string{"verify", "--json"}, flags...)...)
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatalf("verify %s: %v: %s%s", strings.Join(flags, " "), err, stdout, stderr)
	}
	return out, code
}

// segmentPath is where a segment lies, under either name.
func segmentPath(t *testing.T, data, name string) string {
	t.Helper()
	for _, suffix := range []string{"", ".open"} {
		path := filepath.Join(data, "archive", name) + suffix
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatalf("no segment %s", name)
	return ""
}

// rewrite changes a file.
func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestWhatIsLostIsStoredAnew: beside a running daemon, a body that two pages share is damaged, mended, and there again after the
// next visits, though it has not changed.
func TestFault_111_WhatIsLostIsStoredAnew(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(*testing.T) string{
		"sqlite": func(*testing.T) string { return "sqlite" }, "postgres": func(t *testing.T) string { return pgtest.DSN(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lostAndRegained(t, store(t))
		})
	}
}

func lostAndRegained(t *testing.T, dsn string) {
	const shared = `<title>Both</title><p>Two pages say this in the same words.`
	site := serve(t, map[string]string{
		"/":       `<title>Start</title><p><a href="/a.html">a</a> <a href="/b.html">b</a> <a href="/c.html">c</a>`,
		"/a.html": shared, "/b.html": shared, "/c.html": `<title>C</title><p>A page with a text of its own.`,
	})
	config, data := configure(t, "store: \""+dsn+"\"\n")
	p := launch(t, nil, "run", "-c", config, "-v", site.URL)
	p.tells("READY=1")
	for _, path := range []string{"/", "/c.html"} {
		site.isAsked(t, path)
	}
	awaits(t, "all is stored and mirrored", func() bool {
		out, _ := verifies(t, "-c", config)
		return out.Right && out.Archive.Versions == 4 && out.Mirror.Waiting == 0 && out.Mirror.Files == 4
	})
	dump := dumpOfStore(t, dsn, data)
	at := recordOf(t, dump, site.URL+"/a.html")
	if other := recordOf(t, dump, site.URL+"/b.html"); other != at {
		t.Fatalf("the shared body lies at %+v and at %+v, want one place", at, other)
	}
	rewrite(t, segmentPath(t, data, at.File), func(b []byte) []byte { b[at.Offset+at.Length/2] ^= 4; return b })
	if out, code := verifies(t, "-c", config); code != exitFailed || out.Archive.Damaged != 1 || out.Archive.Bad != 2 || out.Archive.Records != 3 || out.Mirror.wrong() != 0 {
		t.Errorf("exit code %d, %+v, %+v; want one of 3 records damaged, of 2 versions, and the mirror whole", code, out.Archive, out.Mirror)
	}
	if out, code := verifies(t, "-c", config, "--mend"); code != exitFailed || *out.Archive.Mended != (mended{Lost: 2, Asked: 2}) {
		t.Errorf("exit code %d, mended %+v; want 2 lost and 2 asked for", code, out.Archive.Mended)
	}
	for _, path := range []string{"/a.html", "/b.html"} {
		awaits(t, path+" is stored anew", func() bool { return !pageIn(t, dumpOfStore(t, dsn, data), site.URL+path).Lost })
	}
	awaits(t, "all verifies again", func() bool {
		out, code := verifies(t, "-c", config)
		return code == exitDone && out.Archive.Versions == 4 && out.Archive.Lost == 0 && out.Archive.Records == 3 && out.Mirror.Files == 4
	})
	dump = dumpOfStore(t, dsn, data)
	again := recordOf(t, dump, site.URL+"/a.html")
	if again == at || recordOf(t, dump, site.URL+"/b.html") != again || pageIn(t, dump, site.URL+"/a.html").Version != 1 {
		t.Errorf("the body lies at %+v, was at %+v; want both pages at version 1 and at one other place", again, at)
	}
	if got := must(t, "show", "-c", config, site.URL+"/b.html", "--version", "1"); got != shared {
		t.Errorf("show prints %q", got)
	}
}

func dumpOfStore(t *testing.T, dsn, data string) models.Dump {
	t.Helper()
	if dsn == "sqlite" {
		return dumpOf(t, data)
	}
	store, err := models.Open(t.Context(), dsn, models.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	dump, err := store.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return dump
}

func pageIn(t *testing.T, dump models.Dump, url string) models.Page {
	t.Helper()
	i := slices.IndexFunc(dump.Pages, func(p models.Page) bool { return p.URL == url })
	if i < 0 {
		t.Fatalf("no page %s", url)
	}
	return dump.Pages[i]
}

// recordOf is where the newest version of a page lies.
func recordOf(t *testing.T, dump models.Dump, url string) models.Record {
	t.Helper()
	page := pageIn(t, dump, url)
	i := slices.IndexFunc(dump.Versions, func(v models.Version) bool {
		return v.Bucket == page.Bucket && v.PageID == page.ID && v.Number == page.Version
	})
	if i < 0 {
		t.Fatalf("no version %d of %s", page.Version, url)
	}
	return dump.Versions[i].Record
}

// After a restore the mirror lacks what came since, and nobody has to do anything about that.
func TestVerifySaysThatTheMirrorIsMadeAnew(t *testing.T) {
	t.Parallel()
	site := serve(t, map[string]string{"/": "<title>One</title><p>Here."})
	config, data := configure(t, "")
	must(t, "run", "-c", config, site.URL+"/", "--for", "2s")
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	must(t, "backup", "-c", config, checkpoint)
	must(t, "restore", "--yes", "-c", config, checkpoint)
	mirrored, err := filepath.Glob(filepath.Join(data, "mirror", "127.0.0.1*", "index.html"))
	if err != nil || len(mirrored) != 1 || os.Remove(mirrored[0]) != nil {
		t.Fatalf("files of the mirror: %v, %v", mirrored, err)
	}
	code, stdout, stderr := command(t, "verify", "-c", config, "--only", "mirror")
	if code != exitFailed || !strings.Contains(stdout, "The daemon makes the mirror anew") || strings.Contains(stdout, "sink replay") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

// TestVerifyLooksAtTheRest: damage in what says what a segment is and bytes behind the last record are
// wrong, though no version leads to them.
func TestVerifyLooksAtTheRest(t *testing.T) {
	t.Parallel()
	site := serve(t, map[string]string{"/": "<title>One</title><p>Here."})
	config, data := configure(t, "mirror: {dir: off}\n")
	must(t, "run", "-c", config, site.URL+"/", "--for", "2s")
	if out, code := verifies(t, "-c", config); code != exitDone || out.Archive.Rest == nil || out.Archive.Rest.Records < 2 || out.Archive.Rest.Flaws != 0 {
		t.Fatalf("exit code %d, %+v; want a request and what says what the segment is, and no flaw", code, out.Archive.Rest)
	}
	record := dumpOf(t, data).Versions[0].Record
	rewrite(t, segmentPath(t, data, record.File), func(b []byte) []byte {
		b[60] ^= 16
		return append(b, "garbage"...)
	})
	out, code := verifies(t, "-c", config)
	if code != exitFailed || out.Right || out.Archive.Bad != 0 || out.Archive.Rest.Flaws != 2 || len(out.Troubles) != 2 || out.Troubles[1].Length != 7 {
		t.Errorf("exit code %d, %+v with %+v; want two flaws and no version that has lost its body", code, out.Archive.Rest, out.Troubles)
	}
	if code, stdout, stderr := command(t, "verify", "-c", config); code != exitFailed || !strings.Contains(stdout, "7 bytes at") || !strings.Contains(stderr, "2 flaws") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if out, code := verifies(t, "-c", config, "--sample", "100"); code != exitDone || out.Archive.Rest != nil {
		t.Errorf("of a sample: exit code %d, %+v; want that the rest is not looked at", code, out.Archive.Rest)
	}
}
