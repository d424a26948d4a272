package archive

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFlaws: what is wrong beside answers is found by its place, in a segment that is closed; what follows the last record of one that
// grows may be about to be written.
func TestFlaws(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, dir, testOptions())
	first := appendOne(t, a, capture("http://example.org/1", "one"))
	second := appendOne(t, a, capture("http://example.org/2", "two"))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, first.File)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	request := first.Offset + first.Length // lies behind its answer
	requestBytes := second.Offset - request
	flip := func(at int64) func([]byte) []byte {
		return func(b []byte) []byte { b[at] ^= 16; return b }
	}
	for _, test := range []struct {
		name           string
		change         func([]byte) []byte
		offset, length int64 // length 0: no flaw
	}{
		{"whole", func(b []byte) []byte { return b }, 0, 0},
		{"the body of an answer", flip(first.Offset + first.Length - 20), 0, 0},
		{"a request", flip(request + requestBytes - 20), request, requestBytes},
		{"the head of a request", flip(request), request, requestBytes},
		{"what says what the segment is", flip(first.Offset - 6), 0, first.Offset}, // its CRC-32: the last byte before may have bits that say nothing
		{"text behind the last record", func(b []byte) []byte { return append(b, "garbage"...) }, int64(len(whole)), 7},
		{"half a record behind the last", func(b []byte) []byte { return append(b, whole[:40]...) }, int64(len(whole)), 40},
		{"zeros between records", func(b []byte) []byte {
			return bytes.Join([][]byte{b[:second.Offset], make([]byte, 9), b[second.Offset:]}, nil)
		}, second.Offset, 9},
	} {
		if err := os.WriteFile(path, test.change(bytes.Clone(whole)), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []Flaw
		records, err := reading(t, dir).Flaws(first.File, func(f Flaw) bool { got = append(got, f); return true })
		want := 1
		if test.length == 0 {
			want = 0
		}
		if err != nil || len(got) != want || want == 1 && (got[0].Offset != test.offset || got[0].Length != test.length || got[0].Why == "") {
			t.Errorf("%s: %+v, %v; want one at %d of %d bytes (0: none)", test.name, got, err, test.offset, test.length)
		}
		if test.name == "whole" && records != 3 {
			t.Errorf("%d records without an answer, want the segment's own and two requests", records)
		}
	}
	if err := os.Rename(path, path+openSuffix); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+openSuffix, append(bytes.Clone(whole), whole[:40]...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = reading(t, dir).Flaws(first.File, func(f Flaw) bool { t.Errorf("a segment that grows: %+v", f); return true })
	if err != nil {
		t.Error(err)
	}
	if _, err := reading(t, dir).Flaws(strings.Replace(first.File, "2026", "2025", 1), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a segment that is not there: %v", err)
	}
}

// reading reads a directory anew.
func reading(t *testing.T, dir string) *Reader {
	t.Helper()
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
