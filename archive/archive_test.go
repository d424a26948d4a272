package archive

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func testOptions() Options {
	return Options{Worker: "w0", Agent: "recrawld (test)", Now: func() time.Time { return noon }}
}

func open(t testing.TB, dir string, o Options) *Archive {
	t.Helper()
	a, err := Open(dir, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func capture(url, body string) models.Capture {
	return models.Capture{URL: url, Outcome: models.Outcome{
		At: noon.Add(1234 * time.Millisecond), Status: 200, Proto: "HTTP/1.1", RemoteIP: "127.0.0.1",
		Header:  fmt.Appendf(nil, "Content-Type: text/html\r\nContent-Length: %d\r\nETag: \"a\"\r\n", len(body)),
		Request: []byte("GET / HTTP/1.1\r\nHost: example.org\r\nUser-Agent: recrawld\r\n\r\n"),
		Body:    []byte(body), Digest: models.DigestOf([]byte(body)),
	}}
}

func appendOne(t testing.TB, a *Archive, c models.Capture) models.Record {
	t.Helper()
	r, err := a.Append(c)
	if err != nil {
		t.Fatalf("Append(%s): %v", c.URL, err)
	}
	return r
}

func wantBody(t testing.TB, a *Archive, r models.Record, want string) {
	t.Helper()
	got, err := a.Read(r)
	if err != nil {
		t.Fatalf("Read(%+v): %v", r, err)
	}
	if string(got.Body) != want {
		t.Fatalf("Read(%+v) has body %.40q, want %.40q", r, got.Body, want)
	}
}

func TestReadReturnsWhatWasAppended(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir(), testOptions())
	bodies := []string{"", "x", "<html>\r\n\r\nüñ\x00\xff</html>", strings.Repeat("0123456789", 300_000)}
	var records []models.Record
	for i, body := range bodies {
		records = append(records, appendOne(t, a, capture(fmt.Sprintf("http://example.org/%d", i), body)))
	}
	for i, body := range bodies {
		want := Answer{
			URL: fmt.Sprintf("http://example.org/%d", i), At: noon.Add(1234 * time.Millisecond), Proto: "HTTP/1.1",
			Status: 200, Header: capture("", body).Outcome.Header, Body: []byte(body),
			Digest: models.DigestOf([]byte(body)),
		}
		got, err := a.Read(records[i])
		if err != nil {
			t.Fatalf("Read(%+v): %v", records[i], err)
		}
		if !bytes.Equal(got.Body, want.Body) {
			t.Errorf("Read(%+v) has another body of %d bytes", records[i], len(got.Body))
		}
		got.Body, want.Body = nil, nil // too long for a diff
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("Read(%+v) differs (-want +got):\n%s", records[i], d)
		}
	}
}

func TestAppendRefusesABodyThatIsNotItsDigest(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir(), testOptions())
	c := capture("http://example.org/", "body")
	c.Outcome.Digest = models.DigestOf([]byte("another"))
	if r, err := a.Append(c); err == nil {
		t.Errorf("Append with a wrong digest = %+v, want an error", r)
	}
	c.Outcome.Digest = models.Digest{}
	wantBody(t, a, appendOne(t, a, c), "body")
}

func TestAppendRefusesABodyThatWasDamaged(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir(), testOptions())
	c := capture("http://example.org/", "body")
	c.Outcome.BodySum = crc32.ChecksumIEEE(c.Outcome.Body)
	wantBody(t, a, appendOne(t, a, c), "body")
	for i := range c.Outcome.Body {
		c.Outcome.Body[i] ^= 1
		if r, err := a.Append(c); err == nil {
			t.Errorf("Append of the body %q for another one = %+v, want an error", c.Outcome.Body, r)
		}
		c.Outcome.Body[i] ^= 1
	}
}

// Damage that leaves the CRC-32 as it was is stored, and never read as the body: its SHA-256 is of what was received.
func TestADamagedBodyOfTheSameCRCIsNeverRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, dir, testOptions())
	c := capture("http://example.org/", "a body that is damaged")
	c.Outcome.BodySum = crc32.ChecksumIEEE(c.Outcome.Body)
	polynomial := uint64(crc32.IEEE)<<1 | 1 // a multiple of it changes no remainder
	for i := range 5 {
		c.Outcome.Body[i] ^= byte(polynomial >> (8 * i))
	}
	if crc32.ChecksumIEEE(c.Outcome.Body) != c.Outcome.BodySum || models.DigestOf(c.Outcome.Body) == c.Outcome.Digest {
		t.Fatal("the damage is no collision")
	}
	damaged := appendOne(t, a, c)
	whole := appendOne(t, a, capture("http://example.org/2", "another body"))
	if err := a.Sync(); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Read(damaged); !errors.Is(err, ErrDamaged) {
		t.Errorf("Read of the damaged body = %q, %v, want ErrDamaged", got.Body, err)
	}
	wantBody(t, a, whole, "another body")
}

func TestHeadersCannotMoveTheBorderOfTheBody(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir(), testOptions())
	for _, header := range []string{"", "A: b", "A: b\n", "A: b\r\n\r\nC: d\r\n", "\r\n\r\n", "x\n\n\n\ny"} {
		c := capture("http://example.org/", "body")
		c.Outcome.Header = []byte(header)
		wantBody(t, a, appendOne(t, a, c), "body")
	}
	c := capture("http://example.org/\r\nWARC-Type: resource", "body")
	if _, err := a.Append(c); err == nil {
		t.Error("Append took a URL with a line break")
	}
}

func TestRevisitLeadsToTheFirstRecord(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir(), testOptions())
	first := appendOne(t, a, capture("http://example.org/1", "same"))
	again := capture("http://example.org/2", "same")
	again.Seen = &models.Content{Digest: models.DigestOf([]byte("same")), Record: first, URL: "http://example.org/1",
		At: models.At(noon.Add(1234 * time.Millisecond))}
	if got := appendOne(t, a, again); got != first {
		t.Errorf("Append of a seen body = %+v, want the first record %+v", got, first)
	}
	next := appendOne(t, a, capture("http://example.org/3", "other"))
	if next.Offset <= first.Offset+first.Length {
		t.Errorf("no revisit record between %+v and %+v", first, next)
	}
	wantBody(t, a, next, "other")
}

// TestABodyWhoseSegmentIsGoneIsStoredAgain moves the segment of a first record away, as somebody who needs room does.
func TestABodyWhoseSegmentIsGoneIsStoredAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := testOptions()
	o.MaxSegment, o.Recent = 1, 1<<20
	a := open(t, dir, o)
	seen := capture("http://example.org/2", "<p>one</p>")
	first := appendOne(t, a, capture("http://example.org/1", "<p>one</p>"))
	seen.Seen = &models.Content{Digest: seen.Outcome.Digest, Record: first, URL: "http://example.org/1", At: models.At(noon)}
	if r := appendOne(t, a, seen); r != first { // begins the next segment
		t.Errorf("Append of a body that is there = %+v, want %+v", r, first)
	}
	if err := os.Remove(filepath.Join(dir, first.File)); err != nil {
		t.Fatal(err)
	}
	again := appendOne(t, a, seen)
	if again == first {
		t.Fatal("the new version leads to a segment that is gone")
	}
	wantBody(t, a, again, "<p>one</p>")
	if _, ok := a.Take(again); !ok {
		t.Error("Take does not have what was stored again")
	}
}

func TestSegmentsRotateBySizeAndAgeAndStayReadable(t *testing.T) {
	t.Parallel()
	now := noon
	o := testOptions()
	o.Now = func() time.Time { return now }
	o.MaxSegment, o.MaxAge = 2500, time.Hour
	a := open(t, t.TempDir(), o)
	var records []models.Record
	for i := range 10 {
		records = append(records, appendOne(t, a, capture(fmt.Sprintf("http://example.org/%d", i), fmt.Sprint("body", i))))
	}
	now = now.Add(2 * time.Hour)
	records = append(records, appendOne(t, a, capture("http://example.org/10", "body10")))
	if last := records[len(records)-1].File; last == records[len(records)-2].File || !strings.Contains(last, "20260301140000") {
		t.Errorf("two hours later the segment is %s after %s, want a new one", last, records[len(records)-2].File)
	}
	for i, r := range records {
		wantBody(t, a, r, fmt.Sprint("body", i))
	}
	open, err := fs.Glob(a.root.FS(), "*"+openSuffix)
	if err != nil || len(open) != 1 {
		t.Errorf("open segments = %v (%v), want one", open, err)
	}
	closed, err := fs.Glob(a.root.FS(), "*.warc.gz")
	if err != nil || len(closed) < 4 {
		t.Errorf("closed segments = %v (%v), want at least 4", closed, err)
	}
}

func TestReadersAndWorkersShareADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var workers sync.WaitGroup
	for w := range 3 {
		o := testOptions()
		o.Worker, o.MaxSegment = fmt.Sprint("w", w), 4000
		a := open(t, dir, o)
		workers.Go(func() {
			for i := range 60 {
				body := fmt.Sprint("body", w, i)
				r, err := a.Append(capture("http://example.org/", body))
				if err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				reader, err := OpenReader(dir)
				if err != nil {
					t.Errorf("OpenReader: %v", err)
					return
				}
				if got, err := reader.Read(r); err != nil || string(got.Body) != body {
					t.Errorf("Read(%+v) = %q, %v, want %q", r, got.Body, err, body)
				}
				if err := errors.Join(reader.Close(), a.Sync()); err != nil {
					t.Errorf("Close, Sync: %v", err)
				}
			}
		})
	}
	workers.Wait()
}

func TestOpenRefusesBadNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "a/b", "..\x00", "a b", strings.Repeat("a", 101)} {
		o := testOptions()
		o.Worker = name
		if _, err := Open(t.TempDir(), o); err == nil {
			t.Errorf("Open took the worker name %q", name)
		}
	}
}

func TestFault_109_ReadRefusesWhatIsNoRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, dir, testOptions())
	good := appendOne(t, a, capture("http://example.org/", "body"))
	bad := map[string]models.Record{
		"path":     {File: "../" + good.File, Offset: good.Offset, Length: good.Length},
		"suffix":   {File: good.File + openSuffix, Offset: good.Offset, Length: good.Length},
		"offset":   {File: good.File, Offset: good.Offset + 1, Length: good.Length},
		"negative": {File: good.File, Offset: -1, Length: good.Length},
		"length":   {File: good.File, Offset: good.Offset, Length: good.Length - 1},
		"longer":   {File: good.File, Offset: good.Offset, Length: good.Length + 1},
		"huge":     {File: good.File, Offset: good.Offset, Length: 1 << 62},
		"warcinfo": {File: good.File, Offset: 0, Length: good.Offset},
		"none":     {},
	}
	for name, r := range bad {
		if _, err := a.Read(r); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: Read(%+v) error = %v, want ErrDamaged", name, r, err)
		}
	}
	missing := good
	missing.File = "recrawld-w9-20260101000000-00001.warc.gz"
	if _, err := a.Read(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read of a missing segment: error = %v, want fs.ErrNotExist", err)
	}
	path := filepath.Join(dir, good.File+openSuffix)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[good.Offset+good.Length/2] ^= 0x10
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read(good); !errors.Is(err, ErrDamaged) {
		t.Errorf("Read of a flipped bit: error = %v, want ErrDamaged", err)
	}
}

// failing is a segment file whose disk fails on command.
type failing struct {
	file
	disk *disk
}

type disk struct{ write, truncate, sync error }

func (f failing) WriteAt(p []byte, offset int64) (int, error) {
	if f.disk.write == nil {
		return f.file.WriteAt(p, offset)
	}
	n, err := f.file.WriteAt(p[:len(p)/2], offset)
	return n, errors.Join(f.disk.write, err)
}

func (f failing) Truncate(size int64) error {
	return errors.Join(f.disk.truncate, ignore(f.disk.truncate == nil, f.file.Truncate, size))
}

func ignore(do bool, f func(int64) error, size int64) error {
	if !do {
		return nil
	}
	return f(size)
}

func (f failing) Sync() error {
	if f.disk.sync != nil {
		return f.disk.sync
	}
	return f.file.Sync()
}

func onDisk(a *Archive) *disk {
	d := &disk{}
	a.openFile = func(root *os.Root, name string) (file, error) {
		f, err := openFile(root, name)
		return failing{f, d}, err
	}
	return d
}

func TestAFullDiskIsAnErrorAndNoMore(t *testing.T) {
	t.Parallel()
	for _, truncate := range []error{nil, syscall.EIO} {
		dir := t.TempDir()
		a := open(t, dir, testOptions())
		d := onDisk(a)
		first := appendOne(t, a, capture("http://example.org/1", "one"))
		d.write, d.truncate = syscall.ENOSPC, truncate
		if _, err := a.Append(capture("http://example.org/2", strings.Repeat("two", 1000))); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Append on a full disk: error = %v, want ENOSPC", err)
		}
		d.write, d.truncate = nil, nil
		third := appendOne(t, a, capture("http://example.org/3", "three"))
		wantBody(t, a, first, "one")
		wantBody(t, a, third, "three")
		if err := a.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		if got, want := urlsOf(t, filepath.Join(dir, first.File)), []string{"http://example.org/1", "http://example.org/3"}; !cmp.Equal(got, want) {
			t.Errorf("the segment holds %q, want %q", got, want)
		}
	}
}

func TestAFullDiskLeavesNoSegmentBehind(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir(), testOptions())
	d := onDisk(a)
	d.write = syscall.ENOSPC
	if _, err := a.Append(capture("http://example.org/", "one")); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("Append on a full disk: error = %v, want ENOSPC", err)
	}
	if names, err := fs.Glob(a.root.FS(), "*"); err != nil || !slices.Equal(names, []string{idFile}) {
		t.Errorf("files = %q (%v), want none but %s", names, err, idFile)
	}
	d.write = nil
	wantBody(t, a, appendOne(t, a, capture("http://example.org/", "one")), "one")
}

func TestFault_082_AFailedSyncIsFinal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, dir, testOptions())
	d := onDisk(a)
	r := appendOne(t, a, capture("http://example.org/", "one"))
	d.sync = syscall.EIO
	if err := a.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Sync: error = %v, want EIO", err)
	}
	d.sync = nil
	if err := a.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("second Sync: error = %v, want the first one's", err)
	}
	if _, err := a.Append(capture("http://example.org/", "two")); !errors.Is(err, syscall.EIO) {
		t.Errorf("Append after a failed fsync: error = %v, want it refused", err)
	}
	wantBody(t, a, r, "one")
	if err := a.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, r.File+openSuffix)); err != nil {
		t.Errorf("the segment that could not be synced: %v, want it open still, for the next start to check", err)
	}
}

// A record that was found to be lost is not looked for, wherever it lay.
func TestALostRecordIsDamaged(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir(), testOptions())
	at := appendOne(t, a, capture("http://example.org/", "body"))
	wantBody(t, a, at, "body")
	at.Length = -at.Length
	if _, err := a.Read(at); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "found to be lost") {
		t.Errorf("Read of a lost record: %v, want ErrDamaged that says so", err)
	}
}
