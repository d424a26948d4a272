package export

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/models"
)

// A body that cannot be read costs the versions that have it and is told of once; all else is there.
func TestLostBodies(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, *library) error{
		"damaged": func(t *testing.T, l *library) error {
			l.damage(t, l.versions[0].Record)
			return archive.ErrDamaged
		},
		"missing": func(t *testing.T, l *library) error {
			if err := os.Remove(filepath.Join(l.dir, l.versions[0].Record.File)); err != nil {
				t.Fatal(err)
			}
			return fs.ErrNotExist
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t)
			want := lose(t, l)
			for _, format := range []Format{CDXJ, WARC, WACZ} {
				out, sum, losses := l.export(t, format, 0, 1, 2, 3, 4)
				if len(losses) != 1 || losses[0].Versions != 3 || !errors.Is(losses[0].Err, want) || losses[0].Segment != l.versions[0].Record.File ||
					sum.Lost != 3 || sum.Versions != 2 {
					t.Errorf("%s: %+v, %+v", format, sum, losses)
				}
				if format == WARC {
					checkRecords(t, l, []int{2, 4}, readStrictly(t, out))
				}
			}
		})
	}
}

// A revisit record that cannot be read costs a version its own header and the exact time, and not its body.
func TestLostRevisits(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	lost, ok := l.revisits(t)[l.sent[1]]
	if !ok {
		t.Fatal("the second version has no revisit record")
	}
	l.damage(t, lost.Record)
	for _, numbers := range [][]int{{0, 1}, {1}, {1, 3}} {
		out, sum, losses := l.export(t, WARC, numbers...)
		records := readStrictly(t, out)
		i := slices.IndexFunc(records, func(r record) bool { return r.url == l.versions[1].URL })
		if i < 0 || len(losses) > 0 || sum.Versions != int64(len(numbers)) {
			t.Fatalf("%v: %+v, lost %v", numbers, sum, losses)
		}
		if r := records[i]; r.date != l.versions[1].At.Time().Format(isoMillis) || !strings.Contains(r.head, "X-Answer: 0") {
			t.Errorf("%v: %+v", numbers, r)
		}
	}
}

// A segment that cannot be read at all costs what lies in it, and is told of; a segment that was begun after the export was is read.
func TestSegmentsComeAndGo(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	lost := l.revisits(t)[l.sent[1]].Record.File
	path := filepath.Join(l.dir, lost)
	if err := os.Rename(path, path+".held"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		begun func() error // once the export was
		head  string
		tells int
	}{
		{"a segment begun meanwhile", func() error { return os.Rename(path+".held", path) }, "X-Answer: 1", 0},
		{"a segment that cannot be read", func() error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "X-Answer: 0", 1},
	} {
		var losses []Loss
		x := New(Options{Format: WARC, Archive: l.reader, Temp: l.dir, Software: "recrawld test", Now: noon,
			Step: func(string, int64) {}, Lost: func(loss Loss) { losses = append(losses, loss) }})
		defer x.Close()
		if err := errors.Join(test.begun(), x.Add(l.versions[0]), x.Add(l.versions[1])); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := x.Write(t.Context(), &out); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		records := readStrictly(t, out.Bytes())
		i := slices.IndexFunc(records, func(r record) bool { return r.url == l.versions[1].URL })
		if i < 0 || !strings.Contains(records[i].head, test.head) {
			t.Errorf("%s: record %d of %+v, want one with %s", test.name, i, records, test.head)
		}
		if len(losses) != test.tells || test.tells > 0 && (losses[0].Segment != lost || losses[0].Versions != 0) {
			t.Errorf("%s: told of %+v", test.name, losses)
		}
	}
}

// No two versions are said to be the same record, also where records of their own are not found.
func TestVersionsOfOneHour(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	first, second := l.versions[0], l.versions[1]
	for _, v := range []Version{first, second} { // visited again after some minutes, and no record of that is left
		v.At += models.Instant((10 * time.Minute).Milliseconds())
		l.versions = append(l.versions, v)
	}
	for _, numbers := range [][]int{{0, 5}, {1, 6}, {0, 1, 5, 6}} {
		out, _, _ := l.export(t, WARC, numbers...)
		taken := make(map[string]bool)
		for _, r := range readStrictly(t, out) {
			if r.kind == "warcinfo" {
				continue
			}
			if taken[r.id] || r.kind != "request" && taken[r.url+r.date] {
				t.Errorf("%v: %s of %s at %s is there twice", numbers, r.kind, r.url, r.date)
			}
			taken[r.id], taken[r.url+r.date] = true, true
		}
		index, _, _ := l.export(t, CDXJ, numbers...)
		if lines := readLines(t, index); len(lines) != len(numbers) {
			t.Errorf("%v: %d lines", numbers, len(lines))
		}
	}
}
