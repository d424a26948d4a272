package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"recrawld/internal/solo"
	"recrawld/models"
)

// crashed writes n versions and leaves the segment as a killed process would.
func crashed(t testing.TB, n int) (name string, raw []byte, records []models.Record) {
	t.Helper()
	dir := t.TempDir()
	a := open(t, dir, testOptions())
	for i := range n {
		c := capture(fmt.Sprintf("http://example.org/%d", i), fmt.Sprintf("body %d", i))
		c.Outcome.Request = nil
		records = append(records, appendOne(t, a, c))
	}
	name = records[0].File
	raw, err := os.ReadFile(filepath.Join(dir, name+openSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return name, raw, records
}

// reopened opens an archive over a segment that a crash left with this content.
func reopened(t testing.TB, name string, raw []byte) *Archive {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name+openSuffix), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, dir, testOptions())
}

func TestFault_083_ATornTailIsCutAtEveryByte(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	name, raw, records := crashed(t, 3)
	last := records[2]
	for cut := last.Offset; cut < last.Offset+last.Length; cut++ {
		for _, torn := range [][]byte{raw[:cut], append(bytes.Clone(raw[:cut]), make([]byte, 40)...)} {
			if bytes.HasPrefix(torn, raw) {
				continue // the record ends in zeros, so this is all of it
			}
			a := reopened(t, name, torn)
			stat, err := a.root.Stat(name)
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			if stat.Size() != last.Offset {
				t.Fatalf("cut at %d: segment of %d bytes, want %d", cut, stat.Size(), last.Offset)
			}
			wantBody(t, a, records[1], "body 1")
			next := appendOne(t, a, capture("http://example.org/next", "next"))
			wantBody(t, a, next, "next")
			a.Close()
		}
	}
}

func TestAWholeSegmentIsOnlyClosed(t *testing.T) {
	t.Parallel()
	name, raw, records := crashed(t, 3)
	a := reopened(t, name, raw)
	got, err := fs.ReadFile(a.root.FS(), name)
	if err != nil || !bytes.Equal(got, raw) {
		t.Errorf("the segment has %d bytes (%v), want the same %d", len(got), err, len(raw))
	}
	for i, r := range records {
		wantBody(t, a, r, fmt.Sprintf("body %d", i))
	}
}

func TestADamagedMiddleIsNotCut(t *testing.T) {
	t.Parallel()
	name, raw, records := crashed(t, 5)
	for _, damage := range []func([]byte){
		func(b []byte) { clear(b) },
		func(b []byte) { b[len(b)/2] ^= 1 },
		func(b []byte) { clear(b[:8]) },
	} {
		hurt := bytes.Clone(raw)
		damage(hurt[records[2].Offset : records[2].Offset+records[2].Length])
		a := reopened(t, name, hurt)
		for _, i := range []int{0, 1, 3, 4} {
			wantBody(t, a, records[i], fmt.Sprintf("body %d", i))
		}
		if _, err := a.Read(records[2]); err == nil {
			t.Error("Read of the damaged record: want an error")
		}
	}
}

// TestARecordWithinATornBodyIsNone tears a record whose body is no text and has a whole record within it, of another site's page.
func TestARecordWithinATornBodyIsNone(t *testing.T) {
	t.Parallel()
	var m members
	var plain, forged bytes.Buffer
	bank := capture("https://bank.example/", "<p>send your money to</p>")
	bank.Outcome.Digest = models.Digest{}
	if err := errors.Join(marshalAnswer(&plain, bank, newID(), newID()), m.append(&forged, plain.Bytes())); err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 8000)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	dir := t.TempDir()
	a := open(t, dir, testOptions())
	first := appendOne(t, a, capture("http://example.org/", "body"))
	hostile := appendOne(t, a, capture("http://hostile.example/", string(noise[:4000])+forged.String()+string(noise[4000:])))
	raw, err := os.ReadFile(filepath.Join(dir, first.File+openSuffix))
	at := bytes.Index(raw, forged.Bytes())
	if err != nil || at < 0 {
		t.Fatalf("the record is not within the segment as it stands (%v)", err)
	}
	for _, end := range []int{at + forged.Len(), at + forged.Len() + 1000} {
		stat, err := reopened(t, first.File, raw[:end]).root.Stat(first.File)
		if err != nil || stat.Size() != hostile.Offset {
			t.Errorf("torn at %d: segment of %d bytes (%v), want %d", end, stat.Size(), err, hostile.Offset)
		}
	}
}

func TestASegmentWithoutARecordIsRemoved(t *testing.T) {
	t.Parallel()
	for _, raw := range [][]byte{nil, {0x1f, 0x8b}, make([]byte, 100_000)} {
		a := reopened(t, "recrawld-w0-20260301120000-00001.warc.gz", raw)
		if names, err := fs.Glob(a.root.FS(), "*"); err != nil || !slices.Equal(names, []string{idFile}) {
			t.Errorf("files = %q (%v), want none but %s", names, err, idFile)
		}
	}
}

// TestAClosedSegmentIsNotOverwritten has both names of a segment, as a copy taken while it was renamed may have them.
func TestAClosedSegmentIsNotOverwritten(t *testing.T) {
	t.Parallel()
	name, raw, records := crashed(t, 3)
	dir := t.TempDir()
	for file, content := range map[string][]byte{name: raw, name + openSuffix: raw[:records[1].Offset]} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := open(t, dir, testOptions())
	for i, r := range records {
		wantBody(t, a, r, fmt.Sprintf("body %d", i))
	}
}

func TestOtherWorkersSegmentsAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := []string{
		"recrawld-w1-20260301120000-00001.warc.gz.open", "recrawld-w0-x-20260301120000-00001.warc.gz.open",
		"recrawld-w0-20260301120000-00001.warc.gz", "recrawld-w0-20260301120000-1.warc.gz.open",
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := open(t, dir, testOptions())
	r := appendOne(t, a, capture("http://example.org/", "body"))
	for _, name := range names {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "torn" {
			t.Errorf("%s = %q, %v, want it untouched", name, b, err)
		}
		if name == r.File {
			t.Errorf("Append reused the name %s", name)
		}
	}
}
