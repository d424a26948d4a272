package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/internal/pgtest"
	"recrawld/models"
)

// versionIn is a version of a page of the filled data.
func versionIn(t *testing.T, dump models.Dump, url string, number int32) models.Version {
	t.Helper()
	page := pageIn(t, dump, url)
	i := slices.IndexFunc(dump.Versions, func(v models.Version) bool { return v.PageID == page.ID && v.Number == number })
	if i < 0 {
		t.Fatalf("no version %d of %s", number, url)
	}
	return dump.Versions[i]
}

// damages flips a bit of the records of versions.
func damages(t *testing.T, data string, versions ...models.Version) {
	t.Helper()
	for _, v := range versions {
		rewrite(t, segmentPath(t, data, v.Record.File), func(b []byte) []byte { b[v.Record.Offset+v.Record.Length-5] ^= 1; return b })
	}
}

const docsSite = "https://docs.example.org/"

// TestMendNotesWhatIsLost: what nobody has any more stays named as lost, in words, and is found again where the segment comes back.
func TestMendNotesWhatIsLost(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	flags := []string{"--data", dir, "--only", "archive"}
	before := dumpOf(t, dir)
	older, newest := versionIn(t, before, docsSite+"install", 2), versionIn(t, before, docsSite+"source-only", 2)
	path := segmentPath(t, dir, older.Record.File)
	backup, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out, code := verifies(t, flags...); code != exitDone || !out.Right || out.Archive.Bad != 0 {
		t.Fatalf("of whole data: exit code %d, %+v", code, out.Archive)
	}
	damages(t, dir, older, newest)
	out, code := verifies(t, append(flags, "--mend")...)
	if code != exitFailed || out.Archive.Bad != 2 || *out.Archive.Mended != (mended{Lost: 2, Asked: 1}) {
		t.Errorf("exit code %d, %+v, mended %+v; want 2 bad, noted as lost, and 1 page asked for", code, out.Archive, out.Archive.Mended)
	}
	if out, code = verifies(t, append(flags, "--mend")...); code != exitDone || out.Archive.Lost != 2 || *out.Archive.Mended != (mended{}) {
		t.Errorf("once more: exit code %d, %+v, mended %+v; want 2 lost before and nothing to do", code, out.Archive, out.Archive.Mended)
	}
	after := dumpOf(t, dir)
	if p := pageIn(t, after, docsSite+"source-only"); !p.Lost || p.Rule != models.RuleLost || pageIn(t, after, docsSite+"install").Lost {
		t.Errorf("the page whose newest version is lost: %v by %v", p.Lost, p.Rule)
	}
	for _, args := range [][]string{{"show", docsSite + "install", "--version", "2"}, {"diff", docsSite + "install", "2..3"}} {
		if _, says, code := desk(t, dir, args...); code != exitNotFound || !strings.Contains(says, "the copy of version 2 of "+docsSite+"install is lost") {
			t.Errorf("%v: exit code %d, %q", args, code, says)
		}
	}
	if answer, _, _ := desk(t, dir, "show", docsSite+"install"); !strings.Contains(answer, "the archive has lost the bodies of: 2\n") {
		t.Errorf("show does not name what is lost:\n%s", answer)
	}
	if err := os.WriteFile(path, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code = verifies(t, flags...); code != exitDone || out.Archive.Again != 2 || out.Archive.Lost != 0 {
		t.Errorf("with the segment of before: exit code %d, %+v, want 2 there again", code, out.Archive)
	}
	out, _ = verifies(t, append(flags, "--mend")...)
	after = dumpOf(t, dir)
	if out.Archive.Mended.Found != 2 || versionIn(t, after, docsSite+"install", 2) != older || pageIn(t, after, docsSite+"source-only").Lost {
		t.Errorf("mended %+v, version %+v; want 2 found and all as it was", out.Archive.Mended, versionIn(t, after, docsSite+"install", 2))
	}
}

// TestMendFindsAnotherRecord: where the archive has a body twice, its versions are pointed to the record that is whole.
func TestMendFindsAnotherRecord(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	twins := []string{docsSite + "twin-1", docsSite + "twin-2"}
	store, err := models.Open(t.Context(), filepath.Join(dir, databaseFile), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := archive.Open(filepath.Join(dir, "archive"), archive.Options{Worker: "w2", Now: func() time.Time { return filledNow }})
	if err != nil {
		t.Fatal(err)
	}
	f := &filler{t: t, store: store, archive: kept}
	for _, url := range twins {
		f.page(1, url, []step{{ago: day, kind: models.First, body: "<p>The same on both", frMax: 4}}, func(p *models.Page, _ *models.Host) {
			p.DueAt = models.At(filledNow.Add(day))
		})
	}
	f.must(kept.Close())
	f.must(store.Close())
	whole := versionIn(t, dumpOf(t, dir), twins[0], 1)
	damages(t, dir, versionIn(t, dumpOf(t, dir), twins[1], 1))
	if answer, says, code := desk(t, dir, "verify", "--only", "archive", "--mend"); code != exitFailed || !strings.Contains(answer, twins[1]+", version 1: ") ||
		!strings.Contains(answer, "1 damaged, 0 missing") || !strings.Contains(answer, "Mended: 1 version found again.") {
		t.Errorf("exit code %d, %q:\n%s", code, says, answer)
	}
	after := dumpOf(t, dir)
	if got := versionIn(t, after, twins[1], 1).Record; got != whole.Record || pageIn(t, after, twins[1]).Lost {
		t.Errorf("it lies at %+v, want %+v", got, whole.Record)
	}
	if out, code := verifies(t, "--data", dir, "--only", "archive"); code != exitDone || out.Archive.Lost != 0 {
		t.Errorf("then: exit code %d, %+v", code, out.Archive)
	}
}

// TestMendAsksWhereAllIsGone: an archive without any segment may only not be mounted.
func TestMendAsksWhereAllIsGone(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	if err := os.Rename(filepath.Join(dir, "archive"), filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	before := len(dumpOf(t, dir).Versions)
	out, code := verifies(t, "--data", dir, "--only", "archive", "--limit", "1")
	if code != exitFailed || out.Archive.Bad != int64(before) || out.Archive.Damaged != 0 || len(out.Troubles) != 1 || out.Troubles[0].More != int64(before-1) {
		t.Errorf("exit code %d, %+v, %+v; want all %d versions missing, in one line", code, out.Archive, out.Troubles, before)
	}
	if _, says, code := desk(t, dir, "verify", "--mend", "--only", "archive"); code != exitRefused || !strings.Contains(says, "mounted") {
		t.Errorf("exit code %d, %q; want it refused", code, says)
	}
	if out, _ = verifies(t, "--data", dir, "--only", "archive", "--mend", "--yes"); out.Archive.Mended.Lost != int64(before) {
		t.Errorf("mended %+v, want %d lost", out.Archive.Mended, before)
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	for _, flags := range [][]string{{"--sample", "0"}, {"--sample", "110%"}, {"--only", "half"}, {"--limit=-1"}, {"--site", "nowhere"}} {
		if _, says, code := desk(t, dir, append([]string{"verify"}, flags...)...); code != exitUsage && code != exitNotFound {
			t.Errorf("verify %v: exit code %d, %q", flags, code, says)
		}
	}
}

// A sample says what it proves, and one site is looked at alone.
func TestVerifyOfAPart(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	answer, says, code := desk(t, dir, "verify", "--only", "archive", "--sample", "5")
	if code != exitDone || !strings.Contains(answer, "with 95 % confidence at most 45 % of all have lost their bodies (Clopper and Pearson 1934)") {
		t.Errorf("exit code %d, %q: %s", code, says, answer)
	}
	if out, _ := verifies(t, "--data", dir, "--only", "archive", "--site", "blog"); out.Archive.Versions != 1 {
		t.Errorf("%d versions of the blog, want 1", out.Archive.Versions)
	}
}

// TestSegmentsOfOtherMachines: where several machines share a database, an archive ought to have the segments of its own workers, and of
// those whose segments it has.
func TestSegmentsOfOtherMachines(t *testing.T) {
	t.Parallel()
	store, err := models.Open(t.Context(), pgtest.DSN(t), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	self, err := os.Hostname()
	if err == nil {
		err = store.Migrate(t.Context(), filledNow)
	}
	for name, machine := range map[string]string{"near": self, "far": "another of " + self} {
		if err == nil {
			err = store.Beat(t.Context(), models.Worker{Name: name, Machine: machine, BeatAt: models.At(filledNow)})
		}
	}
	dir := t.TempDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "recrawld-shared-20260301120000-00001.warc.gz.open"), nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	here, err := segmentsHere(t.Context(), store, dir)
	if err != nil {
		t.Fatal(err)
	}
	for worker, want := range map[string]bool{"near": true, "far": false, "shared": true, "unknown": false} {
		if got := here("recrawld-" + worker + "-20260301120000-00002.warc.gz"); got != want {
			t.Errorf("a segment of %s ought to be here: %v, want %v", worker, got, want)
		}
	}
}
