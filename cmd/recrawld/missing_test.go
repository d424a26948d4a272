package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/pgtest"
	"recrawld/models"
)

// TestACheckpointWithoutItsArchive: the first start after a restore says once what the archive does not have and what to do, commands say what
// is not there, and the pages are fetched in full, although their validators still hold.
func TestACheckpointWithoutItsArchive(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); withoutItsArchive(t, "sqlite") })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); withoutItsArchive(t, pgtest.DSN(t)) })
}

func withoutItsArchive(t *testing.T, dsn string) {
	site := serve(t, smallSite)
	config, data := configure(t, "")
	runUntil(t, func() bool { return len(dumpOf(t, data).Versions) == len(smallSite) }, "run", "-c", config, site.URL)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	must(t, "backup", "-c", config, checkpoint)
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	says := func(want string, args ...string) {
		t.Helper()
		if _, got, complaint := command(t, append(args, "-c", config, "--store", dsn)...); !strings.Contains(got, want) {
			t.Errorf("recrawld %s does not say %q:\n%s%s", strings.Join(args, " "), want, got, complaint)
		}
	}
	must(t, "restore", "-c", config, "--store", dsn, "--yes", checkpoint)
	says("to be made anew", "sink", "list")
	must(t, "pause", "--all", "-c", config, "--store", dsn)
	p := launch(t, nil, "run", "-c", config, "--store", dsn)
	p.says(`msg="sink is anew"`)
	says("3 versions were not there after the restore", "status")
	says("mirror made anew, but for 3 pages whose bodies the archive has lost", "sink", "replay", "mirror")
	if log := p.output(); strings.Count(log, "level=ERROR") != 1 || !strings.Contains(log, "segments=1 versions=3 pages=3") {
		t.Errorf("want one error, with 1 segment, 3 versions and 3 pages:\n%s", log)
	}
	must(t, "resume", "--all", "-c", config, "--store", dsn)
	p.says("the archive did not have after the restore are fetched")
	says("3 files, 0 changed, 0 missing", "verify")
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	if _, got, _ := command(t, "status", "-c", config, "--store", dsn); strings.Contains(got, "restore") {
		t.Errorf("status goes on about it:\n%s", got)
	}
}

// TestMissingIsFollowedForAll: what a worker that is gone found missing is counted on by those that live, and what came with an older checkpoint
// is of no interest.
func TestMissingIsFollowedForAll(t *testing.T) {
	t.Parallel()
	store, now := emptyStore(t)
	if err := store.NoteRestored(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	restored, err := store.Restored(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []missing{{Worker: "gone", Restored: restored, Left: 7}, {Worker: "before", Restored: "2026-01-01T00:00:00Z", Left: 9}} {
		if err := m.keep(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
	archived, err := archive.Open(t.TempDir(), archive.Options{Worker: "w", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer archived.Close()
	d := &daemon{store: store, archive: archived, clock: clock.NewVirtual(now), log: slog.New(slog.DiscardHandler),
		start: config.Config{Data: t.TempDir(), Worker: config.Worker{Name: "w"}}}
	if err := d.lookForMissing(t.Context()); err != nil || !d.missed {
		t.Fatalf("something is missing: %v, %v", d.missed, err)
	}
	if err := chore(t, d, "missing")(now); err != nil || d.missed {
		t.Errorf("after a count of none something is missing: %v, %v", d.missed, err)
	}
	_, found, err := missings(t.Context(), store)
	if err != nil || len(found) != 2 || found[0].Left != 0 || found[1].Worker != "w" {
		t.Errorf("left are %+v, %v", found, err)
	}
}

// TestMissingIsLookedForOnceWhateverTheName: a worker that is named for a container, which has another name at each start, does not look through
// all versions and leave another note each time.
func TestMissingIsLookedForOnceWhateverTheName(t *testing.T) {
	t.Parallel()
	store, now := emptyStore(t)
	if err := store.NoteRestored(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	archived, err := archive.Open(filepath.Join(data, "archive"), archive.Options{Worker: "w", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer archived.Close()
	for _, name := range []string{"4f1c", "a07e", "4f1c"} {
		d := &daemon{store: store, archive: archived, clock: clock.NewVirtual(now), log: slog.New(slog.DiscardHandler),
			start: config.Config{Data: data, Worker: config.Worker{Name: name}}}
		if err := d.lookForMissing(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if keys, err := store.MetaKeys(t.Context(), missingPrefix); err != nil || len(keys) != 1 {
		t.Errorf("notes %q, %v; want one", keys, err)
	}
}

// killer is a clock by which a process is killed at the time it is asked for the nth time.
type killer struct {
	clock.Clock
	left int
	kill context.CancelFunc
}

func (k *killer) Now() time.Time {
	if k.left--; k.left < 0 {
		k.kill()
	}
	return k.Clock.Now()
}

// TestWhatIsMissingIsToldAsAWhole: who goes on after a kill tells what was missing in all, not what the one before had left, and not what had been
// lost before the restore.
func TestWhatIsMissingIsToldAsAWhole(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	damages(t, dir, versionIn(t, dumpOf(t, dir), docsSite+"source-only", 2))
	verifies(t, "--data", dir, "--only", "archive", "--mend") // lost before
	store, err := models.Open(t.Context(), filepath.Join(dir, databaseFile), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	kept := 0
	for k, err := range store.KeptVersions(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if !k.Record.Lost() {
			kept++
		}
	}
	segments := segmentFiles(t, dir)
	for _, path := range segments {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	archived, err := archive.Open(filepath.Join(dir, "archive"), archive.Options{Worker: "w", Now: func() time.Time { return filledNow }})
	if err != nil {
		t.Fatal(err)
	}
	defer archived.Close()
	before, err := store.LostPages(t.Context())
	if err != nil || before != 1 {
		t.Fatalf("%d pages are lost before, %v; want 1", before, err)
	}
	m := missing{}
	for starts, killed := 0, true; killed; starts++ {
		ctx, kill := context.WithCancel(t.Context())
		d := &daemon{store: store, archive: archived, log: slog.New(slog.DiscardHandler), clock: &killer{clock.NewVirtual(filledNow), 2, kill},
			start: config.Config{Data: dir, Worker: config.Worker{Name: "w"}}}
		m = missing{Restored: "lately", Worker: "w", Dir: archiveDir(&d.start)}
		err := d.loseMissing(ctx, &m, 2)
		if killed = ctx.Err() != nil; !killed && err != nil || killed && starts > kept {
			t.Fatalf("start %d: %v", starts, err)
		}
		kill()
		if !killed && starts == 0 {
			t.Fatal("it was never killed")
		}
	}
	left, err := store.LostPages(t.Context())
	if err != nil || m.Versions != int64(kept) || m.Segments == 0 || m.Segments > len(segments) || m.Pages != left-before || m.Pages < 2 {
		t.Errorf("told %+v of %d segments, %v; want %d versions and %d pages", m, len(segments), err, kept, left-before)
	}
}

// TestMendOfTheMirrorSaysWhatItCouldNotMake: where the archive has lost bodies, the mirror is not simply made anew.
func TestMendOfTheMirrorSaysWhatItCouldNotMake(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	if err := os.MkdirAll(filepath.Join(dir, "mirror"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, entry := range segmentFiles(t, dir) {
		if err := os.Remove(entry); err != nil {
			t.Fatal(err)
		}
	}
	answer, says, code := desk(t, dir, "verify", "--only", "mirror", "--mend")
	if code != exitFailed || !strings.Contains(answer, "The mirror is made anew, but for ") || !strings.Contains(answer, "whose bodies the archive has lost") {
		t.Errorf("exit code %d, %q:\n%s", code, says, answer)
	}
}

// segmentFiles are the paths of the segments of an archive.
func segmentFiles(t *testing.T, data string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "archive", "recrawld-*.warc.gz*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("segments of %s: %v, %v", data, files, err)
	}
	return files
}

// TestSegmentsThatAreTooShort: an archive that is older than the checkpoint may have the newest segment in part.
func TestSegmentsThatAreTooShort(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	last := versionIn(t, dumpOf(t, dir), docsSite+"install", 3).Record
	path := segmentPath(t, dir, last.File)
	if err := os.Truncate(path, last.Offset+last.Length-1); err != nil {
		t.Fatal(err)
	}
	reader, err := archive.OpenReader(filepath.Join(dir, "archive"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	shelf := reaches{of: reader.Reach, known: make(map[string]int64), lacking: make(map[string]bool)}
	for _, v := range dumpOf(t, dir).Versions {
		want := v.Record.Offset+v.Record.Length < last.Offset+last.Length
		if got, err := shelf.has(v.Record); got != want || err != nil {
			t.Errorf("the record at %d of %d bytes is there: %v, %v; want %v", v.Record.Offset, v.Record.Length, got, err, want)
		}
	}
	if len(shelf.lacking) != 1 {
		t.Errorf("segments lacking something: %v, want one", shelf.lacking)
	}
}
