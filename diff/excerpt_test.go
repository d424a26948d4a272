package diff

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// elements are the names of the elements of a piece of HTML, which is XML, too.
func elements(t *testing.T, fragment string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader("<body>" + fragment + "</body>")); ; {
		token, err := d.Token()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, fragment)
		}
		if e, begins := token.(xml.StartElement); begins {
			if found[e.Name.Local]++; len(e.Attr) > 0 && !strings.Contains(fragment, "נ") {
				t.Errorf("an element has attributes: %v", e)
			}
		}
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ö and so on ", 40)
	for _, test := range []struct{ name, a, b, want string }{
		{"words", "<p>Get version 1.0 & <b>run</b> it", "<p>Get version 1.1 & <b>run</b> it",
			"<p>1 line changed in the content</p><p>Get version <del>1.0</del> <ins>1.1</ins> &amp; run it</p>"},
		{"lines", "<p>It stays<p>Nobody will miss these words", "<p>It stays<p>Something wholly else &lt;script>",
			"<p>1 line removed, 1 added in the content</p><p><del>Nobody will miss these words</del></p><p><ins>Something wholly else &lt;script&gt;</ins></p>"},
		{"the title", "<title>Old</title><p>x", "<title>New</title><p>x", "<p>1 line removed, 1 added in the content</p><p>title: <del>Old</del></p><p>title: <ins>New</ins></p>"},
		{"a link", `<p><a href="/a">Read on</a>`, `<p><a href="/b">Read on</a>`, "<p>1 line changed in the content</p><p>Read on (link: <del>https://docs.example.org/a</del> → <ins>https://docs.example.org/b</ins>)</p>"},
		{"from the right", "<p>נשלח תוך 3 ימים", "<p>נשלח תוך 5 ימים",
			`<p>1 line changed in the content</p><p dir="auto">נשלח תוך <del>3</del> <ins>5</ins> ימים</p>`},
		{"a long line", "<p>" + long + "1 " + long, "<p>" + long + "2 " + long, ""},
		{"nothing to see", "<p>x<!-- 1 -->", "<p>x<!-- 2 -->", "<p>what a reader sees is the same; what differs: 2 headers, 1 comment</p>"},
	} {
		got := string(Excerpt(compare(t, test.a, test.b, "text/html", Options{}), 20, 10_000))
		elements(t, got)
		switch {
		case test.want == "" && (!strings.Contains(got, "on  … ") && !strings.Contains(got, " … ") || len(got) > 600 || !strings.Contains(got, "<del>1</del> <ins>2</ins>")):
			t.Errorf("%s: %s", test.name, got)
		case test.want != "" && got != test.want:
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// However much differs, and whatever it holds, an excerpt is short and whole.
func TestAnExcerptIsShort(t *testing.T) {
	t.Parallel()
	lines := func(n int, text string) string { return strings.Repeat("<p>"+text+"</p>", n) }
	for name, test := range map[string]struct {
		after       string
		lines, size int
		paragraphs  int
	}{
		"as many lines": {lines(5, "one more"), 5, 1000, 6},
		"more lines":    {lines(50, "one more"), 5, 1000, 7},
		"more bytes":    {lines(50, strings.Repeat("&lt;\xff\"", 50)), 20, 1000, 4},
	} {
		got := string(Excerpt(compare(t, "<p>x", "<p>x</p>"+test.after, "text/html", Options{}), test.lines, test.size))
		if found := elements(t, got); len(got) > test.size+200 || found["p"] > test.paragraphs || strings.HasSuffix(got, "…</p>") == (name == "as many lines") {
			t.Errorf("%s: %d bytes with %v: %s", name, len(got), found, got)
		}
	}
}

// Lines that do not count are left out where others do.
func TestAnExcerptShowsWhatCounts(t *testing.T) {
	t.Parallel()
	d := Difference{Of: Content, Lines: []Line{{Op: Added, New: "visit 7", Noise: true}, {Op: Added, New: "news"}, {Op: Same, New: "same"}}}
	if got := string(Excerpt(d, 20, 1000)); got != "<p></p><p><ins>news</ins></p>" {
		t.Errorf("got %s", got)
	}
	if d.Lines = d.Lines[:1]; string(Excerpt(d, 20, 1000)) != "<p></p><p><ins>visit 7</ins></p>" {
		t.Errorf("got %s", Excerpt(d, 20, 1000))
	}
}
