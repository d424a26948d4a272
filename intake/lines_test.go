package intake

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func lineReaderOf(in io.Reader) *lineReader {
	return newLineReader(bufio.NewReaderSize(in, longestLine))
}

// readList reads a list to its end.
func readList(t *testing.T, in io.Reader) (lines []Item, bad []int) {
	t.Helper()
	for r := lineReaderOf(in); ; {
		line, err := r.next()
		var wrong *Bad
		switch {
		case errors.Is(err, io.EOF):
			return lines, bad
		case errors.As(err, &wrong):
			bad = append(bad, wrong.Place.Number)
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
	want := []Item{
		{URL: "https://example.org/", FR: 0, Place: Place{Unit: "line", Number: 2}},
		{URL: "https://example.org/a", FR: 7, Place: Place{Unit: "line", Number: 5}},
		{URL: "https://example.org/b,2,c.html", FR: 0, Place: Place{Unit: "line", Number: 6}},
		{URL: "https://example.org/d,5", FR: 0, Place: Place{Unit: "line", Number: 7}},
		{URL: "https://example.org/e,5", FR: 3, Place: Place{Unit: "line", Number: 8}},
		{URL: "https://example.org/f", FR: 0, Place: Place{Unit: "line", Number: 9}},
		{URL: "https://example.org/j", FR: 0, Place: Place{Unit: "line", Number: 16}},
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
	r := lineReaderOf(io.MultiReader(strings.NewReader("https://example.org/\nhttps://exa"), failing{broken}))
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
		if _, err := lineReaderOf(strings.NewReader(list)).next(); errors.Is(err, ErrFormat) {
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
		_, err := lineReaderOf(strings.NewReader(heading + "\nhttps://example.org/\n")).next()
		if (err == nil) != good {
			t.Errorf("a list that begins with %q: %v, want good %v", heading, err, good)
		}
		if wrong := new(Bad); !good && errors.As(err, &wrong) {
			t.Errorf("a list that begins with %q is read on after %v", heading, err)
		}
	}
}
