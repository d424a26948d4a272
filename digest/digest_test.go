package digest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recrawld/models"
	"recrawld/report"
)

var update = flag.Bool("update", false, "write the golden files")

var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

func event(page int64, seq int64, kind models.EventKind, more ...func(*models.Event)) models.Event {
	e := models.Event{Bucket: int16(page / 100), Seq: seq, PageID: page, SiteID: 1, Kind: kind, At: models.At(noon.Add(time.Duration(seq) * time.Minute)),
		URL: "https://docs.example.org/a"}
	for _, set := range more {
		set(&e)
	}
	return e
}

func versions(from, to int32, significance float32) func(*models.Event) {
	return func(e *models.Event) {
		e.Previous, e.Version, e.Significance, e.Reasons = from, to, significance, models.ReasonText
	}
}

func of(site int32) func(*models.Event) { return func(e *models.Event) { e.SiteID = site } }

// All that happened to a page is one entry: from what its reader saw last to what it is now.
func TestEventsOfAPageAreOne(t *testing.T) {
	t.Parallel()
	type said struct {
		Kind     models.EventKind
		From, To int32
		Weight   float32
		Times    int
	}
	for name, test := range map[string]struct {
		events []models.Event
		want   said
	}{
		"changes": {[]models.Event{event(1, 1, models.EventChanged, versions(3, 4, 0.9)), event(1, 2, models.EventChanged, versions(4, 5, 0.2))},
			said{models.EventChanged, 3, 5, 0.9, 2}},
		"a change, refreshed": {[]models.Event{event(1, 1, models.EventChanged, versions(3, 4, 0.9)), event(1, 2, models.EventRefreshed, versions(4, 5, 0.1))},
			said{models.EventChanged, 3, 5, 0.9, 2}},
		"new, then changed": {[]models.Event{event(1, 1, models.EventNew, versions(0, 1, 0)), event(1, 2, models.EventChanged, versions(1, 2, 0.7))},
			said{models.EventNew, 0, 2, 0.7, 2}},
		"new, then refreshed": {[]models.Event{event(1, 1, models.EventNew, versions(0, 1, 0)), event(1, 2, models.EventRefreshed, versions(1, 2, 0.1)),
			event(1, 3, models.EventRefreshed, versions(2, 2, 0))}, said{models.EventNew, 0, 2, 0, 1}},
		"gone at last": {[]models.Event{event(1, 1, models.EventChanged, versions(3, 4, 0.9)), event(1, 2, models.EventGone)},
			said{models.EventGone, 0, 0, 0, 1}},
		"back": {[]models.Event{event(1, 1, models.EventGone), event(1, 2, models.EventRestored, versions(0, 4, 0)),
			event(1, 3, models.EventChanged, versions(4, 5, 0.6))}, said{models.EventChanged, 4, 5, 0.6, 1}},
	} {
		g := Gather{Most: 5}
		for _, e := range test.events {
			g.Add(e)
		}
		found, tally := g.Found()
		if len(found) != 1 || tally[1].Pages() != 1 {
			t.Errorf("%s: %d entries of %d pages, want one", name, len(found), tally[1].Pages())
			continue
		}
		f := found[0]
		if diff := cmp.Diff(test.want, said{f.Kind, f.Previous, f.Version, f.Significance, f.Times}); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// Of many what weighs most is kept, of the same weight the newest, whatever their order; and all are counted.
func TestWhatWeighsMostIsKept(t *testing.T) {
	t.Parallel()
	g := Gather{Most: 4}
	for page := range int64(1000) {
		g.Add(event(page, page, models.EventChanged, versions(1, 2, 0.3)))
	}
	g.Add(event(2000, 2, models.EventChanged, versions(1, 2, 0.8)))
	g.Add(event(2001, 3, models.EventNew))
	g.Add(event(2003, 4, models.EventRefreshed)) // a duplicate, or none any more
	g.Add(event(2002, 1, models.EventGone))
	for page := range int64(300) {
		g.Add(event(3000+page, 5, models.EventRemoved, of(7)))
	}
	found, tally := g.Found()
	var got []int64
	for _, f := range found {
		got = append(got, f.PageID)
	}
	if diff := cmp.Diff([]int64{3000, 2002, 2000, 2001, 999}, got); diff != "" || found[0].Pages != 300 {
		t.Errorf("kept: -want +got:\n%s\nand %d pages of the site that was removed, want 300", diff, found[0].Pages)
	}
	if diff := cmp.Diff(map[int32]Tally{1: {models.EventChanged: 1001, models.EventNew: 1, models.EventRefreshed: 1, models.EventGone: 1}}, tally); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// sample has all that a digest can have, and text that would break out of it.
func sample() *Digest {
	return &Digest{From: noon.Add(-24 * time.Hour), To: noon, More: 312, Command: "recrawld changes --since 3d --limit 0",
		Unusual: []string{"docs is unusual: 80 % of 40 visits since yesterday failed, 1 % in the 28 days before 24 November", "blog is as usual again (quiet)"},
		Notes:   []string{"Some of what happened is not told here: it was older than history.keep when this mail was due."},
		Removed: []Removal{{Name: "old", Pages: 1234, At: noon.Add(-time.Hour)}},
		Sites: []Site{{Name: "blog", Tally: Tally{models.EventMoved: 1}, Entries: []Entry{{Kind: models.EventMoved, At: noon.Add(-2 * time.Hour), Times: 1,
			URL: "https://blog.example.org/2026/11/a-post-whose-address-is-so-long-that-no-line-of-eighty-columns-has-room-for-it", RedirectTo: "https://blog.example.org/b",
			Said: "<p>The page leads to another one now.</p>"}}},
			{Name: "docs", Tally: Tally{models.EventChanged: 314, models.EventNew: 2}, Entries: []Entry{
				{Kind: models.EventChanged, At: noon.Add(-3 * time.Hour), Times: 3, Significance: 0.83, Title: "Install \u202e<script>alert(1)</script>\r\nBcc: x",
					URL: "https://docs.example.org/install?a=1&b=%22", Said: "<p>1 line changed in the content</p><p>Get version <del>1.0</del> <ins>1.1</ins> &amp; run it, and then read on in what is a line so long that it takes two of them here</p>"},
				{Kind: models.EventNew, At: noon.Add(-5 * time.Hour), Times: 1, URL: "https://docs.example.org/new", Said: "<p>It begins so &lt;b&gt; …</p>"}}}}}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	path := "testdata/" + file
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got:\n%s", file, diff)
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	d := sample()
	text := d.Text()
	golden(t, "digest.txt", text)
	for line := range strings.Lines(text) {
		if len([]rune(line)) > 81 && !strings.Contains(line, "://") {
			t.Errorf("a line of %d columns: %s", len([]rune(line)), line)
		}
	}
	html, err := d.HTML()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "digest.html", html)
	for _, bad := range []string{"<script", "\u202e", "src=", "<link", "<img"} {
		if strings.Contains(html, bad) {
			t.Errorf("the HTML has %q in it", bad)
		}
	}
	if strings.Contains(text, "\u202e") {
		t.Error("the text can be turned round")
	}
}

// A page is new once, however often it changed since.
func TestHowOftenSomethingHappened(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]Entry{
		"changed, 3 times, last Wed 25 Nov 11:00":           {Kind: models.EventChanged, Times: 3},
		"new, changed 2 times since, last Wed 25 Nov 11:00": {Kind: models.EventNew, Times: 3},
		"new, changed once since, last Wed 25 Nov 11:00":    {Kind: models.EventNew, Times: 2},
		"new, Wed 25 Nov 11:00":                             {Kind: models.EventNew, Times: 1},
	} {
		e.At = noon.Add(-time.Hour)
		if got := e.head(noon); got != want {
			t.Errorf("%d times is told as %q, want %q", e.Times, got, want)
		}
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	site := func(name string, tally Tally) Site { return Site{Name: name, Tally: tally} }
	for want, d := range map[string]Digest{
		"recrawld: 1 page changed on docs":                                     {Sites: []Site{site("docs", Tally{models.EventChanged: 1})}},
		"recrawld: 14 pages changed, 2 new, 1 gone on blog, docs; old removed": {Sites: []Site{site("blog", Tally{models.EventChanged: 4, models.EventGone: 1}), site("docs", Tally{models.EventChanged: 10, models.EventNew: 2})}, Removed: []Removal{{Name: "old"}}},
		"recrawld: 5 pages new on a, b, c and 2 more": {Sites: []Site{site("a", Tally{models.EventNew: 1}), site("b", Tally{models.EventNew: 1}),
			site("c", Tally{models.EventNew: 1}), site("d", Tally{models.EventNew: 1}), site("e", Tally{models.EventNew: 1})}},
		"recrawld: docs is unusual: all fails": {Unusual: []string{"docs is unusual: all fails"}},
	} {
		if got := d.Subject(); got != want || d.Empty() {
			t.Errorf("subject %q, empty %v; want %q", got, d.Empty(), want)
		}
	}
	if d := (&Digest{From: noon, To: noon}); !d.Empty() {
		t.Error("a digest of nothing is not empty")
	}
}

// plain and angled are two ways to write a text.
var (
	plain = Wording{Most: 900, Text: func(text string) string { return text }, Link: func(title, url string) string {
		if title == "" {
			return url
		}
		return title + "\n" + url
	}}
	angled = Wording{Most: 5000, Text: strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace,
		Link: func(title, url string) string { return "<" + url + "|" + strings.ReplaceAll(title, "<", "&lt;") + ">" }}
)

func TestBrief(t *testing.T) {
	t.Parallel()
	golden(t, "brief.txt", sample().Brief(plain)+"\n")
	golden(t, "brief_angled.txt", sample().Brief(angled)+"\n")
}

// A site that has much to say leaves room to name the pages of others.
func TestABriefTextNamesThePagesOfAllSites(t *testing.T) {
	t.Parallel()
	d := &Digest{From: noon, To: noon, Command: "recrawld changes"}
	for _, name := range []string{"a", "b"} {
		s := Site{Name: name, Tally: Tally{models.EventChanged: 5}}
		for i := range 5 {
			s.Entries = append(s.Entries, Entry{Kind: models.EventChanged, URL: fmt.Sprintf("https://%s.org/%d", name, i), Title: "http://c.org/", Said: Paragraph(strings.Repeat("word ", 40))})
		}
		d.Sites = append(d.Sites, s)
	}
	got := d.Brief(plain)
	for _, want := range []string{"https://a.org/4", "https://b.org/0", "https://b.org/4", "word word"} {
		if !strings.Contains(got, want) {
			t.Errorf("it has no %s:\n%s", want, got)
		}
	}
	if strings.Contains(got, "more") || strings.Contains(got, "c.org") {
		t.Errorf("it leaves out pages, or has an address for a title:\n%s", got)
	}
}

// A brief text never has more bytes than it may, and its entries and what it counts are all pages.
func TestABriefTextHasRoomForWhatItSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 60, 300)
		d := &Digest{From: noon, To: noon, More: rapid.Int64Range(0, 1_000_000).Draw(t, "more"), Command: "recrawld changes --since 2d --limit 0",
			Unusual: rapid.SliceOfN(text, 0, 8).Draw(t, "unusual")}
		urls := 0
		for range rapid.IntRange(0, 4).Draw(t, "sites") {
			s := Site{Name: "docs", Tally: Tally{models.EventChanged: 3}}
			for range rapid.IntRange(0, 10).Draw(t, "entries") {
				urls++
				s.Entries = append(s.Entries, Entry{Kind: models.EventChanged, At: noon, URL: "https://a.org/\x01" + strings.Repeat("x", rapid.IntRange(0, 2000).Draw(t, "length")),
					Title: text.Draw(t, "title"), Said: Paragraph(text.Draw(t, "said"))})
			}
			d.Sites = append(d.Sites, s)
		}
		w := plain
		w.Most = rapid.IntRange(500, 4000).Draw(t, "most")
		got := d.Brief(w)
		if len(got) > w.Most {
			t.Fatalf("%d bytes, at most %d", len(got), w.Most)
		}
		lines := len(d.Unusual) - strings.Count("\n"+got, "\n!")
		if said := strings.Contains(got, report.Plural(lines, "line")+" like these: recrawld status"); said != (lines > 0) {
			t.Fatalf("of %d lines that are left out it says\n%s", lines, got)
		}
		left := d.More + int64(urls-strings.Count(got, "\x01"))
		if said := strings.HasSuffix(got, d.rest(left)); said != (left > 0) {
			t.Fatalf("of %d pages that are left out it says\n%s", left, got)
		}
	})
}

// TestTextFromTheRight holds that what is said of a page that is read from the right is text in a mail and a message: of its paragraphs the tag
// has an attribute.
func TestTextFromTheRight(t *testing.T) {
	t.Parallel()
	d := Digest{From: noon.Add(-24 * time.Hour), To: noon, Sites: []Site{{Name: "he.example.org", Tally: Tally{models.EventChanged: 1}, Entries: []Entry{{
		Kind: models.EventChanged, At: noon.Add(-time.Hour), Times: 1, URL: "https://he.example.org/", Said: `<p>1 line changed</p><p dir="auto">נשלח תוך <del>3</del> <ins>5</ins> ימים</p>`}}}}}
	for name, got := range map[string]string{"mail": d.Text(), "message": d.Brief(plain)} {
		if !strings.Contains(got, "נשלח תוך [-3-] {+5+} ימים") || strings.Contains(got, "<p") {
			t.Errorf("the %s says %q", name, got)
		}
	}
}
