package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

func TestSegmentsByWorkerAndTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"recrawld-w2-20260301120000-00001.warc.gz.open", "recrawld-w1-20260302120000-00001.warc.gz",
		"recrawld-w1-20260301120000-00010.warc.gz", "recrawld-w1-20260301120000-00009.warc.gz", "recrawld-w1-20261399120000-00001.warc.gz",
		"other.warc.gz", "recrawld-w1-20260302120000-00001.warc.gz.open"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := r.Segments()
	if err != nil {
		t.Fatal(err)
	}
	day := func(n int) time.Time { return time.Date(2026, 3, n, 12, 0, 0, 0, time.UTC) }
	want := []Segment{
		{"recrawld-w1-20260301120000-00009.warc.gz", day(1), day(1)},
		{"recrawld-w1-20260301120000-00010.warc.gz", day(1), day(2)},
		{"recrawld-w1-20260302120000-00001.warc.gz", day(2), time.Time{}},
		{"recrawld-w2-20260301120000-00001.warc.gz", day(1), time.Time{}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("segments differ (-want +got):\n%s", diff)
	}
}

// Revisit records are found behind damaged places, in a segment that grows, and with others as long as a window between them.
func TestRevisitsAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, dir, testOptions())
	first := appendOne(t, a, capture("http://example.org/1", "one"))
	broken := appendOne(t, a, capture("http://example.org/broken", "damaged"))
	large := make([]byte, 3*windowBytes)
	for i := range large {
		large[i] = byte(i * i >> 7)
	}
	appendOne(t, a, capture("http://example.org/large", string(large)))
	var want []string
	for _, url := range []string{"http://example.org/2", "http://example.org/3"} {
		seen := capture(url, "one")
		seen.Seen = &models.Content{Digest: seen.Outcome.Digest, Record: first, URL: "http://example.org/1", At: models.At(noon)}
		appendOne(t, a, seen)
		want = append(want, url+" "+seen.Outcome.At.Format(time.RFC3339Nano)+" "+seen.Outcome.Digest.String())
	}
	path := filepath.Join(dir, first.File+openSuffix)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(text[broken.Offset : broken.Offset+memberHead])
	text = append(text, "\x1f\x8b\x08 half a record"...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	session := a.NewSession()
	defer session.Close()
	err = a.Revisits(first.File, func(r Revisit) bool {
		got = append(got, r.URL+" "+r.At.Format(time.RFC3339Nano)+" "+r.Digest)
		if s, err := session.Answer(r.Record); err != nil || s.URL() != r.URL || s.Status() != 200 || s.Header("etag") != `"a"` || len(s.Body()) > 0 {
			t.Errorf("%s leads to %s, %d, %v", r.URL, s.URL(), s.Status(), err)
		}
		return true
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("revisits differ (-want +got), %v:\n%s", err, diff)
	}
}

// TestReach: a segment is there as far as it goes, under either name.
func TestReach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, dir, testOptions())
	at := appendOne(t, a, capture("http://example.org/1", "one"))
	beyond, missing, odd := at, at, at
	size := fileSize(t, filepath.Join(dir, at.File+openSuffix))
	beyond.Offset = size - beyond.Length + 1
	missing.File = "recrawld-w9-20260101000000-00001.warc.gz"
	odd.File = "../recrawld.db"
	for _, c := range []struct {
		at   models.Record
		size int64
		want error
	}{{at, size, nil}, {beyond, size, ErrDamaged}, {missing, 0, fs.ErrNotExist}, {odd, 0, ErrDamaged}} {
		if size, err := a.Reach(c.at); size != c.size || !errors.Is(err, c.want) {
			t.Errorf("Reach(%+v) = %d, %v; want %d, %v", c.at, size, err, c.size, c.want)
		}
	}
	a.Elsewhere(func(string) string { return "on another machine" })
	if _, err := a.Reach(beyond); !errors.Is(err, ErrElsewhere) {
		t.Errorf("Reach beyond the end of a segment that goes on elsewhere: %v, want ErrElsewhere", err)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	stat, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return stat.Size()
}
