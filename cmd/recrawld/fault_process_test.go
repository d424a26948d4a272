package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestFault_098_NothingGrows: after ten times as many visits the daemon has no more goroutines and descriptors than before, but for the files of
// its database, of which its pool opens some for each reader as it comes to need one, and it needs eight at most.
func TestFault_098_NothingGrows(t *testing.T) {
	t.Parallel()
	w := workAt(t, "sqlite", "360000")
	w.visits(20)
	before := w.held()
	w.visits(200)
	after := w.held()
	for name, was := range before {
		if now := after[name]; was == 0 || now > was+10 {
			t.Errorf("%s was %v after 30 visits and is %v after 200 more", name, was, now)
		}
	}
	w.endsWhole("sqlite:" + filepath.Join(w.data, databaseFile))
}

// held is what the daemon holds: goroutines, and descriptors that are none of its database's, nor of files that the mirror is about to give their
// names: it has as many of these as a batch, for a moment, more where other work lets the batch grow.
func (w *atWork) held() map[string]float64 {
	w.t.Helper()
	figures := w.figures("go_goroutines")
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", w.cmd.Process.Pid))
	if err != nil || len(links) == 0 {
		w.t.Fatalf("no descriptors of the daemon: %v", err)
	}
	files, others := 0.0, 0.0
	for _, link := range links {
		switch to, err := os.Readlink(link); {
		case err != nil: // closed meanwhile
		case strings.HasPrefix(to, filepath.Join(w.data, databaseFile)):
			files++
		case !strings.HasPrefix(to, w.data) || !strings.HasSuffix(to, " (deleted)"):
			others++
		}
	}
	if most := 9.0 * 3; files == 0 || files > most { // of eight readers and a writer: the database, its log and what they share
		w.t.Errorf("%v descriptors are the database's, want %v at most", files, most)
	}
	figures["descriptors"] = others
	return figures
}

// figures reads some of /metrics.
func (w *atWork) figures(names ...string) map[string]float64 {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.listen+"/metrics", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := new(http.Client).Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	found := make(map[string]float64)
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		for _, name := range names {
			if value, is := strings.CutPrefix(lines.Text(), name+" "); is {
				if found[name], err = strconv.ParseFloat(value, 64); err != nil {
					w.t.Fatal(err)
				}
			}
		}
	}
	if len(found) != len(names) {
		w.t.Fatalf("/metrics has %v of %v", found, names)
	}
	return found
}

// TestFault_099_ABadHostFillsNoLog: every page of a host fails in a way of its own, again and again. The log, which is for what
// the daemon does, has no line for each.
func TestFault_099_ABadHostFillsNoLog(t *testing.T) {
	t.Parallel()
	var failed atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := failed.Add(1); {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/html")
			for i := range 100 {
				fmt.Fprintf(w, "<a href=/%d>%d</a>", i, n)
			}
		case n%4 == 0:
			panic(http.ErrAbortHandler)
		case n%4 == 1:
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "no gzip\x1b[2J\nlevel=ERROR msg=forged")
		case n%4 == 2:
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer site.Close()
	path, data := configure(t, "")
	writeFast(t, path, data)
	w := &atWork{path: path, data: data, store: "sqlite", speed: "36000", url: site.URL, asked: &failed}
	w = w.again(t)
	w.visits(300)
	w.signal(syscall.SIGTERM)
	if code := w.ends(); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	if said := w.output(); strings.Count(said, "\n") > 10 || strings.Contains(said, "forged") {
		t.Errorf("%d answers left more than 10 lines in the log:\n%s", failed.Load(), said)
	}
}

// TestFault_119_ACheckpointOlderThanTheArchive: archive and mirror go on from a checkpoint with all that they have; what it does not
// know is found again, and the mirror is what the site is.
func TestFault_119_ACheckpointOlderThanTheArchive(t *testing.T) {
	t.Parallel()
	w := workOn(t, "sqlite")
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	must(t, "backup", "-c", w.path, checkpoint)
	w.visits(30)
	database := "sqlite:" + filepath.Join(w.data, databaseFile)
	w.endsWhole(database)
	before := w.segments()
	must(t, "restore", "-c", w.path, "--yes", checkpoint)
	again := w.again(t)
	again.visits(30)
	again.endsWhole(database)
	after := again.segments()
	for name, size := range before {
		if after[name] < size {
			t.Errorf("%s had %d bytes and has %d", name, size, after[name])
		}
	}
	if len(after) <= len(before) {
		t.Errorf("%d segments, want one more than the %d before", len(after), len(before))
	}
}

// segments are the files of the archive and their sizes.
func (w *atWork) segments() map[string]int64 {
	w.t.Helper()
	sizes := make(map[string]int64)
	err := filepath.WalkDir(filepath.Join(w.data, "archive"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sizes[filepath.Base(path)] = info.Size()
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return sizes
}

// TestFault_120_AnotherReleaseTakesOver under load: one process is told to end and the next begins at once. One of an earlier release
// refuses what a later one has written and leaves it as it is. Nothing is lost between them.
func TestFault_120_AnotherReleaseTakesOver(t *testing.T) {
	t.Parallel()
	w := workOn(t, "sqlite")
	file := filepath.Join(w.data, databaseFile)
	for range 2 {
		w.signal(syscall.SIGTERM)
		if code := w.ends(); code != exitDone {
			t.Errorf("exit code %d:\n%s", code, w.output())
		}
		w = w.again(t)
		w.visits(20)
	}
	w.signal(syscall.SIGKILL)
	w.ends()
	w = w.again(t)
	w.endsWhole("sqlite:" + file)

	schema := func(statement string) {
		t.Helper()
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	schema("INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (9999, 'later', '', 1)")
	held, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	segments := w.segments()
	if code, _, stderr := command(t, "run", "-c", w.path, "--speed", "36000", "--for", "100ms"); code != exitFailed || !strings.Contains(stderr, "later release") {
		t.Errorf("an earlier release: exit code %d, said %q; want %d and why", code, stderr, exitFailed)
	}
	if left, err := os.ReadFile(file); err != nil || !bytes.Equal(left, held) || !maps.Equal(w.segments(), segments) {
		t.Errorf("an earlier release wrote something (%v)", err)
	}
	schema("DELETE FROM schema_migrations WHERE version = 9999")
	w = w.again(t)
	w.visits(20)
	w.endsWhole("sqlite:" + file)
}
