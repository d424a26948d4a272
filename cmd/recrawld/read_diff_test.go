package main

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawld/models"
	"recrawld/recrawl/canon"
)

func sidesOf(a, b, kind string) (side, side) {
	return side{version: models.Version{Number: 1, ContentType: kind}, body: []byte(a), kind: kind},
		side{version: models.Version{Number: 2, ContentType: kind}, body: []byte(b), kind: kind}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<b>x</b>", 60)
	tests := map[string]struct {
		a, b, kind string
		raw        bool
		of, words  string
		inDiff     string
	}{
		"text":            {"<p>one", "<p>two", "text/html", false, "text", "visible text: 1 line removed, 1 line added", "-one\n+two\n"},
		"raw":             {"<p>one", "<p>two", "text/html", true, "source", "source: 1 line", "-<p>one\n+<p>two\n"},
		"same text":       {"<p>one", "<p >one", "text/html", false, "source", "the visible text is the same; source: 1 line", "+<p >one"},
		"plain":           {"a\nb\n", "a\nc\n", "text/plain", false, "source", "source: 1 line", "-b\n+c\n"},
		"json":            {"{}", "[]", "application/json", false, "source", "source: 1 line", "-{}\n+[]\n"},
		"binary":          {"\x00a", "\x00bc", "image/png", false, "bytes", "not text: 2 B of image/png → 3 B of image/png", ""},
		"text to nothing": {"<p>one", "", "text/html", false, "source", "source: 1 line removed, 0 lines added", "-<p>one"},
		"same":            {"<p>one", "<p>one", "text/html", false, "bytes", "the same body", ""},
		"last line end":   {"{}", "{}\n", "application/json", false, "source", "nothing but the end of the last line", ""},
		"where it breaks": {long, strings.Replace(long, "><", ">\n<", 1), "text/css", false, "source", "source: 1 line removed, 2 lines added", "@@"},
		"sentences": {"<p>" + strings.Repeat("It is so. ", 20) + "Yes.", "<p>" + strings.Repeat("It is so. ", 20) + "No.", "text/html", false,
			"text", "visible text: 1 line removed, 1 line added", "-Yes.\n+No.\n"},
	}
	at, err := canon.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		a, b := sidesOf(test.a, test.b, test.kind)
		got := compare(at, a, b, test.raw)
		if got.Of != test.of || !strings.Contains(got.Words, test.words) || !strings.Contains(got.Diff, test.inDiff) {
			t.Errorf("%s: %+v, want of %q, %q, %q", name, got, test.of, test.words, test.inDiff)
		}
	}
}

// Whatever differs, something is shown: a difference, or a sentence that says why there is none.
func TestCompareIsNeverBlank(t *testing.T) {
	t.Parallel()
	at, err := canon.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.SampledFrom([]string{"<p>", "</p>", "a", "b ", "\n", "\r", "><", "<!-- c -->", "\x00", "<b hidden>"}), 0, 200)
		one, two := strings.Join(body.Draw(t, "one"), ""), strings.Join(body.Draw(t, "two"), "")
		a, b := sidesOf(one, two, rapid.SampledFrom([]string{"text/html", "text/plain", "", "x"}).Draw(t, "kind"))
		d := compare(at, a, b, rapid.Bool().Draw(t, "raw"))
		if d.Equal != bytes.Equal(a.body, b.body) {
			t.Fatalf("equal: %v for %q and %q", d.Equal, one, two)
		}
		quiet := d.Of == "bytes" || strings.Contains(d.Words, "nothing but the end of the last line")
		if (d.Diff == "") != quiet {
			t.Fatalf("%q and %q: %+v", one, two, d)
		}
	})
}
