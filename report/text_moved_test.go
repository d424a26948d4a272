package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// movedDocument is of a page that moved.
func movedDocument() Document {
	moved := TextCell("https://docs.example.org/handbook/chapter/one")
	moved.To = "https://docs.example.org/manual/chapter/one"
	return Document{More: 1, Columns: []Column{{Key: "at", Head: "when"}, {Key: "kind", Head: "what"}, {Key: "url", Head: "page", Flex: true}},
		Rows: []Row{{TextCell("now"), TextCell("moved"), moved}, {TextCell("now"), TextCell("new"), TextCell("https://a.org/")}}}
}

// TestWhereAPageMovedIsShownWhole: beside it where there is room and in a pipe, else below.
func TestWhereAPageMovedIsShownWhole(t *testing.T) {
	t.Parallel()
	const one = "now   moved  https://docs.example.org/handbook/chapter/one → https://docs.example.org/manual/chapter/one\n"
	const two = "now   moved  https://docs.example.org/handbook/chapter/one\n" +
		"             → https://docs.example.org/manual/chapter/one\n"
	const many = "now   moved  https://docs.example.org/handboo\n" +
		"             k/chapter/one\n" +
		"             → https://docs.example.org/manua\n" +
		"             l/chapter/one\n"
	for width, want := range map[int]string{0: one, 120: one, 80: two, 45: many} {
		d := movedDocument()
		d.More, d.Rows = 0, d.Rows[:1]
		var b bytes.Buffer
		if err := WriteText(&b, d, Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("when  what   page\n"+want, b.String()); diff != "" {
			t.Errorf("at width %d (-want +got):\n%s", width, diff)
		}
		b.Reset()
		s := Stream{Style: Style{Width: width}, Columns: []StreamColumn{{"at", 4}, {"kind", 5}, {"url", 0}}}
		if err := s.Write(&b, d); err != nil || !strings.HasSuffix(b.String(), want) {
			t.Errorf("a stream at width %d: %v\n%s\nwant at its end\n%s", width, err, b.String(), want)
		}
	}
}

// TestASheetShowsAddressesWhole: where lines are not to be cut, each piece of an address leads where the whole does; and a list says in words
// of its own how to have more.
func TestASheetShowsAddressesWhole(t *testing.T) {
	t.Parallel()
	d := movedDocument()
	var b bytes.Buffer
	if err := WriteText(&b, d, Style{Width: 43, Links: true, Whole: true, All: "limit=9 lists more"}); err != nil {
		t.Fatal(err)
	}
	link := func(to, what string) string { return "\x1b]8;;" + to + "\x1b\\" + what + "\x1b]8;;\x1b\\" }
	from, to := d.Rows[0][2].Text, d.Rows[0][2].To
	want := "when  what   page\n" +
		"now   moved  " + link(from, "https://docs.example.org/handb") + "\n" +
		"             " + link(from, "ook/chapter/one") + "\n" +
		"             " + link(to, "→ https://docs.example.org/man") + "\n" +
		"             " + link(to, "ual/chapter/one") + "\n" +
		"\n… and 1 more (limit=9 lists more)\n"
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if diff := cmp.Diff(want, strings.Join(lines, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAddressesAreReadableForAPerson: in a table on a terminal or a sheet, where the link leads to the address itself; a pipe and JSON have it as
// it is.
func TestAddressesAreReadableForAPerson(t *testing.T) {
	t.Parallel()
	page := TextCell("https://a.org/caf%C3%A9")
	page.To = "https://a.org/th%C3%A9"
	d := Document{Columns: []Column{{Key: "url", Head: "page", Flex: true}}, Rows: []Row{{page}}}
	const readable, raw = "https://a.org/café → https://a.org/thé\n", "https://a.org/caf%C3%A9 → https://a.org/th%C3%A9\n"
	for style, want := range map[Style]string{{Width: 80}: "page\n" + readable, {}: "page\n" + raw,
		{Width: 80, Links: true}: "page\n\x1b]8;;https://a.org/caf%C3%A9\x1b\\" + strings.TrimSpace(readable) + "\x1b]8;;\x1b\\\n"} {
		var b bytes.Buffer
		if err := WriteText(&b, d, style); err != nil || b.String() != want {
			t.Errorf("%+v: %v\n%q, want\n%q", style, err, b.String(), want)
		}
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, d); err != nil || !strings.Contains(b.String(), `"https://a.org/caf%C3%A9"`) {
		t.Errorf("JSON: %v\n%s", err, b.String())
	}
	b.Reset()
	s := Stream{Style: Style{Width: 80}, Columns: []StreamColumn{{"url", 0}}}
	if err := s.Write(&b, d); err != nil || !strings.HasSuffix(b.String(), readable) {
		t.Errorf("a stream: %v\n%s", err, b.String())
	}
}
