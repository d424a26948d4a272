package content

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// chunks shows chunks as "headings: text".
func shownChunks(chunks []Chunk) []string {
	var shown []string
	for _, c := range chunks {
		shown = append(shown, strings.Join(c.Headings, " > ")+": "+c.Text)
	}
	return shown
}

// chunked are the chunks of a page with a main element.
func chunked(t testing.TB, main string, size int) []Chunk {
	body := "<html><head><title>T</title></head><body><nav><a href=/>Home</a></nav><main>" + main + "</main><footer>Imprint</footer></body></html>"
	return Read([]byte(body), "text/html", mustParse(t, "https://example.org/"), nil).Chunks(size)
}

func TestChunksFollowHeadings(t *testing.T) {
	t.Parallel()
	got := shownChunks(chunked(t, `<p>Before all.<h1>Guide</h1><p>About it.<p>More.<h2>Install</h2><h3>Linux</h3><p>With apt.<h3>Windows</h3>
		<h2>Use</h2><p>Run it.<h1>Index</h1>`, 1000))
	want := []string{
		": Before all.", "Guide: About it.\nMore.", "Guide > Install > Linux: With apt.", "Guide > Install > Windows: ", "Guide > Use: Run it.", "Index: ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("chunks (-want +got):\n%s", diff)
	}
}

// TestChunkIDs: they are those of headings and text, wherever these stand, and two alike on a page have two.
func TestChunkIDs(t *testing.T) {
	t.Parallel()
	one := chunked(t, `<h2>A</h2><p>Text.<h2>B</h2><p>Text.<h2>A</h2><p>Text.`, 1000)
	other := chunked(t, `<p>News of the day, which nobody has seen before.<h2>B</h2><p>Text.<h2>A</h2><p>Text.`, 1000)
	if len(one) != 3 || len(other) != 3 {
		t.Fatalf("chunks %q and %q, want three each", shownChunks(one), shownChunks(other))
	}
	if one[0].ID == one[1].ID || one[0].ID == one[2].ID {
		t.Errorf("IDs %s, %s and %s of one page, want each once", one[0].ID, one[1].ID, one[2].ID)
	}
	if one[1].ID != other[1].ID || one[0].ID != other[2].ID {
		t.Error("the same chunk has another ID on another page")
	}
	// Receivers keep them: another form of them would have every chunk of everybody embedded anew.
	if want := "gt5ctqys5nbnz4qz2q0dptzy"; one[0].ID != want {
		t.Errorf("the ID is %s, want %s as it has always been", one[0].ID, want)
	}
}

// section is a long section of n paragraphs, in which one is other than it was.
func section(n, edited int) string {
	var b strings.Builder
	b.WriteString("<h2>Long</h2>")
	for i := range n {
		if i == edited {
			b.WriteString("<p>This paragraph came in between the others, and it says what it has to say in some words.")
		}
		fmt.Fprintf(&b, "<p>Paragraph %d says that %d is its number. It goes on for a while about the number %d, as paragraphs do.", i, i*7919, i*104729)
	}
	return b.String()
}

// TestAnEditMovesFewCuts: a paragraph that comes into a long section changes the chunks around it alone.
func TestAnEditMovesFewCuts(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	before := chunked(t, section(200, -1), 600)
	for _, c := range before {
		known[c.ID] = true
	}
	changed, most := 0, 0
	for at := range 200 {
		news := 0
		for _, c := range chunked(t, section(200, at), 600) {
			if !known[c.ID] {
				news++
			}
		}
		changed, most = changed+news, max(most, news)
	}
	if mean := float64(changed) / 200; len(before) < 25 || mean > 3 || most > 10 {
		t.Errorf("of %d chunks %.1f are new on average and %d at most, want a few", len(before), mean, most)
	}
}

// TestChunksHoldAll: every word of the main content is in one chunk, in order, and none is too long or too short.
func TestChunksHoldAll(t *testing.T) {
	t.Parallel()
	at := mustParse(t, "https://example.org/")
	word := rapid.SampledFrom([]string{"a", "word", "sentence.", "Straße", "Donaudampfschifffahrtsgesellschaft", "終わり。", "x\u00a0y", "3.5", "!", "…"})
	rapid.Check(t, func(t *rapid.T) {
		var main, all strings.Builder
		var headings []string
		for i := range rapid.IntRange(0, 30).Draw(t, "blocks") {
			if level := rapid.IntRange(0, 12).Draw(t, "level"); level >= 1 && level <= 6 {
				headings = append(headings, fmt.Sprintf("Heading %d", i))
				fmt.Fprintf(&main, "<h%d>Heading %d</h%d>", level, i, level)
				continue
			}
			text := strings.Join(rapid.SliceOfN(word, 1, 60).Draw(t, "words"), " ")
			main.WriteString("<p>" + text + "</p>")
			all.WriteString(text)
		}
		size := rapid.IntRange(1, 400).Draw(t, "size")
		body := "<title>T</title><body><main>" + main.String() + "</main></body>"
		chunks := Read([]byte(body), "text/html", at, nil).Chunks(size)
		var got, under strings.Builder
		ids := make(map[string]bool)
		for i, c := range chunks {
			got.WriteString(c.Text)
			under.WriteString(strings.Join(c.Headings, "\n") + "\n")
			n := utf8.RuneCountInString(c.Text)
			last := i+1 == len(chunks) || strings.Join(chunks[i+1].Headings, "\n") != strings.Join(c.Headings, "\n")
			if n > size+size/2 || !last && n < size/2-1 {
				t.Errorf("a chunk of %d runes, the last of its section: %v; want about %d", n, last, size)
			}
			if ids[c.ID] {
				t.Errorf("the ID %s stands twice", c.ID)
			}
			ids[c.ID] = true
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if diff := cmp.Diff(bare(all.String()), bare(got.String())); diff != "" {
			t.Errorf("the text of all chunks (-want +got):\n%s", diff)
		}
		for _, heading := range headings {
			if !strings.Contains(under.String(), heading+"\n") {
				t.Errorf("%q stands over no chunk", heading)
			}
		}
	})
}

func BenchmarkChunks(b *testing.B) {
	view := Read(longPage(""), "text/html", mustParse(b, "https://example.org/dir/page"), nil)
	b.SetBytes(int64(len(view.Text())))
	b.ReportAllocs()
	for b.Loop() {
		view.Chunks(2000)
	}
}

// TestHeadingsDoNotMultiply: what repeats a page's headings at each of its chunks stays of the size of the page, whatever stands in them.
func TestHeadingsDoNotMultiply(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 20_000)
	deep := ""
	for level := range 5 {
		deep += fmt.Sprintf("<h%d>%s</h%[1]d>", level+1, strings.Repeat("word ", 55))
	}
	for name, page := range map[string]string{
		"a heading of a book's length": "<h1>" + long + "</h1>" + strings.Repeat("<h2>Next</h2><p>Text.", 2000),
		"six of them above each line":  deep + strings.Repeat("<h6>x</h6>", 200_000),
	} {
		var said, all int
		for _, c := range chunked(t, page, 200) {
			said += len(c.Text)
			for _, h := range c.Headings {
				all += len(h)
			}
		}
		if limit := mostHeadings + 300_000; all > limit {
			t.Errorf("%s: %d bytes of headings of a page of %d; want at most %d", name, all, len(page), limit)
		}
		if strings.Contains(page, long) && said < len(long) {
			t.Errorf("%s: %d bytes are said; want also the heading that is none, of %d", name, said, len(long))
		}
	}
}
