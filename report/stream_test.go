package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changesOf is a document as those that are followed.
func changesOf(cursor string, urls ...string) Document {
	d := Document{Cursor: cursor, Columns: []Column{{Key: "at", Head: "when"}, {Key: "url", Head: "page", Flex: true},
		{Key: "bytes", Head: "size", Right: true, Drop: 1}, {Key: "site"}}}
	for _, url := range urls {
		d.Rows = append(d.Rows, Row{{Value: testNow, Text: "now"}, TextCell(url), BytesCell(2345), OnlyValue("docs")})
	}
	return d
}

func TestAStreamStaysAligned(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		0: "when                  size  page\n" +
			"21 Nov 12:00:00    2.3 KiB  https://a.org/\n" +
			"21 Nov 12:00:00    2.3 KiB  https://a.org/a/rather/long/path/to/a/page\n",
		68: "when                  size  page\n" +
			"21 Nov 12:00:00    2.3 KiB  https://a.org/\n" +
			"21 Nov 12:00:00    2.3 KiB  https://a.org/a/rat…/long/path/to/a/page\n",
		50: "when             page\n" +
			"21 Nov 12:00:00  https://a.org/\n" +
			"21 Nov 12:00:00  https://a.org/a/…g/path/to/a/page\n",
	} {
		s := Stream{Style: Style{Width: width}, Columns: []StreamColumn{{"at", 15}, {"bytes", 9}, {"url", 0}}}
		var b bytes.Buffer
		for _, d := range []Document{changesOf(""), changesOf("", "https://a.org/"), changesOf("", "https://a.org/a/rather/long/path/to/a/page")} {
			if err := s.Write(&b, d); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("at width %d (-want +got):\n%s", width, diff)
		}
	}
}

// A line of a stream is the row of the document, and the cursor comes behind all of them.
func TestLinesAreTheRowsOfTheDocument(t *testing.T) {
	t.Parallel()
	d := changesOf("here", "https://a.org/", "https://a.org/\n\"<b>")
	var lines, whole bytes.Buffer
	if err := WriteLines(&lines, d); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(&whole, d); err != nil {
		t.Fatal(err)
	}
	var document struct {
		Rows   []map[string]any
		Cursor string
	}
	if err := json.Unmarshal(whole.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	want := append(document.Rows, map[string]any{"cursor": document.Cursor})
	var got []map[string]any
	for line := range strings.Lines(lines.String()) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		got = append(got, row)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines differ from the document (-want +got):\n%s", diff)
	}
}
