package verify

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/models"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// stored is an archive of three segments with three bodies of one size each; the last segment still grows. Each body has two versions.
func stored(t *testing.T) (dir string, versions []models.Kept) {
	t.Helper()
	dir = t.TempDir()
	for segment := range 3 {
		a, err := archive.Open(dir, archive.Options{Worker: fmt.Sprintf("w%d", segment), Now: func() time.Time { return noon }})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			body := fmt.Appendf(nil, "<title>Page %d of %d</title>", i, segment)
			at, err := a.Append(models.Capture{URL: "https://example.org/", Outcome: models.Outcome{At: noon, Status: 200, Body: body}})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				n := len(versions)
				versions = append(versions, models.Kept{Bucket: int16(n), PageID: int64(n), Number: 1, Digest: models.DigestOf(body), Record: at})
			}
		}
		if segment < 2 {
			err = a.Close()
		} else {
			err = a.Sync()
			t.Cleanup(func() { a.Close() })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, versions
}

func sequence(versions []models.Kept) iter.Seq2[models.Kept, error] {
	return func(yield func(models.Kept, error) bool) {
		for _, k := range slices.Backward(versions) { // not in the order of their places
			if !yield(k, nil) {
				return
			}
		}
	}
}

func pathOf(t *testing.T, dir string, at models.Record) string {
	t.Helper()
	for _, suffix := range []string{"", ".open"} {
		if _, err := os.Stat(filepath.Join(dir, at.File+suffix)); err == nil {
			return filepath.Join(dir, at.File+suffix)
		}
	}
	t.Fatalf("no segment %s", at.File)
	return ""
}

func rewrite(t *testing.T, dir string, at models.Record, change func(segment []byte) []byte) {
	t.Helper()
	path := pathOf(t, dir, at)
	segment, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(segment), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// flip damages one bit, so many bytes behind the beginning of a record, or before its end.
func flip(by int64) func(*testing.T, string, models.Record, models.Record) {
	return func(t *testing.T, dir string, at, _ models.Record) {
		rewrite(t, dir, at, func(b []byte) []byte {
			i := at.Offset + by
			if by < 0 {
				i += at.Length
			}
			b[i] ^= 16
			return b
		})
	}
}

const swapped = "another body"

// TestCheck: real archives, damaged in many ways. The record that is damaged is the second of three in its segment.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name             string
		damage           func(t *testing.T, dir string, at, next models.Record)
		bad              int64 // versions
		damaged, missing int64 // records
		why              string
	}{
		{"whole", func(*testing.T, string, models.Record, models.Record) {}, 0, 0, 0, ""},
		{"the magic of the header", flip(0), 2, 1, 0, "gzip"},
		{"the body", flip(90), 2, 1, 0, ""},
		{"the trailer's checksum", flip(-8), 2, 1, 0, "checksum"},
		{"the trailer's length", flip(-4), 2, 1, 0, "checksum"},
		{"cut within the record", func(t *testing.T, dir string, at, _ models.Record) {
			rewrite(t, dir, at, func(b []byte) []byte { return b[:at.Offset+at.Length/2] })
		}, 4, 2, 0, "past the end"},
		{"the segment is removed", func(t *testing.T, dir string, at, _ models.Record) {
			if err := os.Remove(pathOf(t, dir, at)); err != nil {
				t.Fatal(err)
			}
		}, 6, 0, 3, "missing"},
		{"zeros", func(t *testing.T, dir string, at, _ models.Record) {
			rewrite(t, dir, at, func(b []byte) []byte { clear(b[at.Offset : at.Offset+at.Length]); return b })
		}, 2, 1, 0, "gzip"},
		{"two records swapped", func(t *testing.T, dir string, at, next models.Record) {
			rewrite(t, dir, at, func(b []byte) []byte {
				one := bytes.Clone(b[at.Offset : at.Offset+at.Length])
				copy(b[at.Offset:], b[next.Offset:next.Offset+next.Length])
				copy(b[next.Offset:], one)
				return b
			})
		}, 4, 2, 0, swapped},
	} {
		for segment, state := range map[int]string{0: "closed", 2: "open"} {
			t.Run(test.name+" in a segment that is "+state, func(t *testing.T) {
				t.Parallel()
				dir, versions := stored(t)
				for test.why == swapped && versions[6*segment+2].Record.Length != versions[6*segment+4].Record.Length {
					dir, versions = stored(t) // random IDs make them a byte longer or shorter
				}
				test.damage(t, dir, versions[6*segment+2].Record, versions[6*segment+4].Record)
				found, troubles := checked(t, dir, versions, Options{})
				want := Found{All: 18, Versions: 18, Records: 9, Segments: 3, Bytes: found.Bytes, Bad: test.bad, Damaged: test.damaged, Missing: test.missing}
				if found != want {
					t.Errorf("found %+v, want %+v", found, want)
				}
				for _, trouble := range troubles {
					if !strings.Contains(trouble.Why, test.why) {
						t.Errorf("said of it: %q, want %q in it", trouble.Why, test.why)
					}
				}
			})
		}
	}
}

func checked(t *testing.T, dir string, versions []models.Kept, o Options) (Found, []Trouble) {
	t.Helper()
	r, err := archive.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var troubles []Trouble
	o.Dir = t.TempDir()
	o.Bad = func(trouble Trouble) error { troubles = append(troubles, trouble); return nil }
	found, err := Check(t.Context(), sequence(versions), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return found, troubles
}

// TestWhatIsKnown: versions that were found to be lost are no new trouble, and are seen to be there again; segments of other machines are
// not looked at, and what the database says otherwise by now is not wrong.
func TestWhatIsKnown(t *testing.T) {
	t.Parallel()
	dir, versions := stored(t)
	flip(90)(t, dir, versions[0].Record, models.Record{})
	flip(90)(t, dir, versions[12].Record, models.Record{})
	for _, i := range []int{0, 2} {
		versions[i].Record.Length = -versions[i].Record.Length
	}
	var again, gone []int64
	found, troubles := checked(t, dir, versions, Options{
		Here:    func(segment string) bool { return archive.WorkerOf(segment) != "w1" },
		Refuted: func(k models.Kept) bool { return k.PageID == 12 },
		Again:   func(k models.Kept) error { again = append(again, k.PageID); return nil },
		Gone:    func(k models.Kept) error { gone = append(gone, k.PageID); return nil },
	})
	want := Found{All: 10, Versions: 10, Records: 6, Segments: 2, Bytes: found.Bytes, Bad: 2, Damaged: 2, Lost: 1, Again: 1, Elsewhere: 6}
	if found != want || len(troubles) != 2 || troubles[0].PageID != 1 || troubles[1].PageID != 13 {
		t.Errorf("found %+v with %+v, want %+v with pages 1 and 13", found, troubles, want)
	}
	if !slices.Equal(again, []int64{2}) || !slices.Equal(gone, []int64{0}) {
		t.Errorf("there again are %v, and gone %v; want 2 and 0", again, gone)
	}
}

func TestCheckOfASample(t *testing.T) {
	t.Parallel()
	dir, versions := stored(t)
	flip(90)(t, dir, versions[8].Record, models.Record{})
	for _, s := range []Sample{{Number: 4}, {Number: 40}, {Share: 1}} {
		found, troubles := checked(t, dir, versions, Options{Sample: s})
		n := int64(18)
		if s.Number > 0 {
			n = min(n, int64(s.Number))
		}
		if found.All != 18 || found.Versions != n || found.Bad != int64(len(troubles)) || n == 18 && found.Bad != 2 {
			t.Errorf("%+v found %+v with %d troubles", s, found, len(troubles))
		}
	}
}

// failing is a reader with an error, and ends a context at its third record.
type failing struct {
	err  error
	end  context.CancelFunc
	read int
}

func (f *failing) Read(models.Record) (archive.Answer, error) {
	if f.read++; f.read == 3 && f.end != nil {
		f.end()
	}
	return archive.Answer{}, f.err
}

func TestCheckEndsEarly(t *testing.T) {
	t.Parallel()
	_, versions := stored(t)
	ctx, cancel := context.WithCancel(t.Context())
	found, err := Check(ctx, sequence(versions), &failing{err: archive.ErrDamaged, end: cancel}, Options{Dir: t.TempDir()})
	if err != nil || !found.Ended || found.Records != 3 || found.Bad != 5 && found.Bad != 6 {
		t.Errorf("found %+v, %v; want what the first three records are, and that it ended", found, err)
	}
	if found, err = Check(t.Context(), sequence(versions), &failing{err: fs.ErrPermission}, Options{Dir: t.TempDir()}); err == nil || found.Bad != 0 {
		t.Errorf("without leave to read: %+v, %v; want the error, and nothing called damaged", found, err)
	}
}
