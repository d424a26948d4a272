package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readList reads a list to its end.
func readList(t *testing.T, in io.Reader) (lines []importLine, bad []int) {
	t.Helper()
	for r := newLineReader(in); ; {
		line, err := r.next()
		var wrong *badLine
		switch {
		case errors.Is(err, io.EOF):
			return lines, bad
		case errors.As(err, &wrong):
			bad = append(bad, wrong.Number)
		case err != nil:
			t.Fatal(err)
		default:
			lines = append(lines, line)
		}
	}
}

func TestImportLines(t *testing.T) {
	t.Parallel()
	list := "\ufeffURL,fr\n" +
		"https://example.org/\n" +
		"\r\n" +
		"# a remark, 5\n" +
		"https://example.org/a,7\r\n" +
		"https://example.org/b,2,c.html\n" +
		"\"https://example.org/d,5\"\n" +
		"\"https://example.org/e,5\", 3\n" +
		"https://example.org/f,\n" +
		"https://example.org/g,0\n" +
		"\"https://example.org/h\n" +
		"\"https://example.org/i\",often\n" +
		"https://example.org/" + strings.Repeat("x", 2*longestLine) + "\n" +
		"https://example.org/k,2,5\n" +
		"\"https://example.org/l\",2,5\n" +
		"https://example.org/j"
	lines, bad := readList(t, strings.NewReader(list))
	want := []importLine{
		{2, "https://example.org/", 0},
		{5, "https://example.org/a", 7},
		{6, "https://example.org/b,2,c.html", 0},
		{7, "https://example.org/d,5", 0},
		{8, "https://example.org/e,5", 3},
		{9, "https://example.org/f", 0},
		{16, "https://example.org/j", 0},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{10, 11, 12, 13, 14, 15}, bad); diff != "" {
		t.Errorf("bad lines (-want +got):\n%s", diff)
	}
}

func TestImportSaysThatReadingFailed(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	r := newLineReader(io.MultiReader(strings.NewReader("https://example.org/\nhttps://exa"), failing{broken}))
	if _, err := r.next(); err != nil {
		t.Fatalf("first line: %v", err)
	}
	if _, err := r.next(); !errors.Is(err, broken) {
		t.Errorf("after it: %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func FuzzImportLines(f *testing.F) {
	f.Add("url,fr\nhttps://example.org/,3\n\"a\",\n")
	f.Add("\"\"\"\n,,,\n\xff\x00,1")
	f.Add("url,")
	f.Fuzz(func(t *testing.T, list string) {
		var refused coded
		if _, err := newLineReader(strings.NewReader(list)).next(); errors.As(err, &refused) {
			return // its heading names columns that are not read
		}
		lines, bad := readList(t, strings.NewReader(list))
		if total := strings.Count(list, "\n") + 1; len(lines)+len(bad) > total {
			t.Errorf("%d lines and %d bad ones from %d lines", len(lines), len(bad), total)
		}
		for _, line := range lines {
			if line.FR < 0 || line.FR > 100_000 {
				t.Errorf("fr %d", line.FR)
			}
		}
	})
}

func TestImportRefusesColumnsThatAreNotRead(t *testing.T) {
	t.Parallel()
	for heading, good := range map[string]bool{
		"url": true, "URL, FR": true, `"url","fr"`: true, "url,fr,fr_max": false, "url,title": false, "url,fr,": false,
	} {
		_, err := newLineReader(strings.NewReader(heading + "\nhttps://example.org/\n")).next()
		if (err == nil) != good {
			t.Errorf("a list that begins with %q: %v, want good %v", heading, err, good)
		}
		if wrong := new(badLine); !good && errors.As(err, &wrong) {
			t.Errorf("a list that begins with %q is read on after %v", heading, err)
		}
	}
}
