package archive

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestASegmentIsSyncedBeforeItIsClosed: Sync asks the current segment alone, so rotation must not leave one behind.
func TestASegmentIsSyncedBeforeItIsClosed(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.MaxSegment = 100
	a := open(t, t.TempDir(), o)
	d := onDisk(a)
	r := appendOne(t, a, capture("http://example.org/1", "one"))
	d.sync = syscall.EIO
	if _, err := a.Append(capture("http://example.org/2", "two")); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Append that closes a segment: error = %v, want that of its fsync", err)
	}
	d.sync = nil
	if err := a.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("Sync after it: error = %v, want it final", err)
	}
	wantBody(t, a, r, "one")
}

func TestAClosedSegmentHasNoTornTail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, dir, testOptions())
	d := onDisk(a)
	r := appendOne(t, a, capture("http://example.org/1", "one"))
	d.write, d.truncate = syscall.ENOSPC, syscall.EIO
	if _, err := a.Append(capture("http://example.org/2", strings.Repeat("two", 1000))); err == nil {
		t.Fatal("Append on a full disk: want an error")
	}
	d.write, d.truncate = nil, nil
	if err := a.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if got, want := urlsOf(t, filepath.Join(dir, r.File)), []string{"http://example.org/1"}; !cmp.Equal(got, want) {
		t.Errorf("the segment holds %q, want %q", got, want)
	}
}

// unreadable is a file whose disk fails from an offset on.
type unreadable struct {
	*bytes.Reader
	from int64
}

func (u unreadable) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > u.from {
		n, _ := u.Reader.ReadAt(p[:max(u.from-at, 0)], at)
		return n, syscall.EIO
	}
	return u.Reader.ReadAt(p, at)
}

func TestADiskThatCannotBeReadIsNotATornTail(t *testing.T) {
	t.Parallel()
	_, raw, records := crashed(t, 3)
	last := records[2].Offset + records[2].Length/2
	if end, err := lastWhole(unreadable{bytes.NewReader(raw), last}, int64(len(raw))); !errors.Is(err, syscall.EIO) {
		t.Errorf("lastWhole = %d, %v, want the error of the disk", end, err)
	}
}
