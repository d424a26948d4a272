package sitemap

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// reading is when the lists of these tests are read.
var reading = time.Date(2026, 1, 8, 12, 0, 0, 0, time.UTC)

// urlset is a sitemap of pages of a, each with its date: "x 2026-01-05".
func urlset(entries ...string) string {
	var b strings.Builder
	b.WriteString("<urlset>")
	for _, e := range entries {
		path, date, dated := strings.Cut(e, " ")
		b.WriteString("<url><loc>http://a/" + path + "</loc>")
		if dated {
			b.WriteString("<lastmod>" + date + "</lastmod>")
		}
		b.WriteString("</url>")
	}
	return b.String() + "</urlset>"
}

// toldOf writes what a list tells as "x 2026-01-08T12:00:00Z".
func toldOf(n News) []string {
	var out []string
	for _, told := range n.Told {
		out = append(out, strings.TrimPrefix(told.Loc, "http://a/")+" "+told.At.Format(time.RFC3339))
	}
	return out
}

func TestCompare(t *testing.T) {
	t.Parallel()
	const now = "2026-01-08T12:00:00Z"
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"the same":                    {urlset("x 2026-01-05", "y"), urlset("x 2026-01-05", "y"), nil},
		"another order":               {urlset("x 2026-01-05", "y"), urlset("y", "x 2026-01-05"), nil},
		"named twice":                 {urlset("x 2026-01-05"), urlset("x 2026-01-05", "x 2026-01-05"), nil},
		"a second":                    {urlset("x 2026-01-05"), urlset("x 2026-01-07T10:20:30Z"), []string{"x 2026-01-07T10:20:30Z"}},
		"a second of another zone":    {urlset("x"), urlset("x 2026-01-07T10:20:30+05:30"), []string{"x 2026-01-07T04:50:30Z"}},
		"a day, over everywhere":      {urlset("x 2026-01-01"), urlset("x 2026-01-05"), []string{"x 2026-01-06T12:00:00Z"}},
		"a day, over here alone":      {urlset("x 2026-01-01"), urlset("x 2026-01-07"), []string{"x 2026-01-08T12:00:00Z"}},
		"today":                       {urlset("x 2026-01-01"), urlset("x 2026-01-08"), []string{"x " + now}},
		"no zone":                     {urlset("x 2026-01-01"), urlset("x 2026-01-08T01:00:00"), []string{"x " + now}},
		"this month":                  {urlset("x 2025-12"), urlset("x 2026-01"), []string{"x " + now}},
		"the future":                  {urlset("x 2026-01-01"), urlset("x 2026-02-01T00:00:00Z"), []string{"x " + now}},
		"back in time":                {urlset("x 2026-01-05"), urlset("x 2026-01-01"), []string{"x " + now}},
		"the same day in other words": {urlset("x 2026-01-05"), urlset("x 2026-01-05T00:00:00Z"), nil},
		"a first date":                {urlset("x"), urlset("x 2026-01-05T01:02:03Z"), []string{"x 2026-01-05T01:02:03Z"}},
		"no date any more":            {urlset("x 2026-01-05"), urlset("x"), nil},
		"new":                         {urlset("x"), urlset("x", "y"), []string{"y " + now}},
		"new and old":                 {urlset("x"), urlset("y 2025-03-01", "x"), []string{"y 2025-03-02T12:00:00Z"}},
		"gone":                        {urlset("x", "y 2026-01-01"), urlset("x"), nil},
		"cut now":                     {urlset("x", "y", "z"), strings.TrimSuffix(urlset("x", "y"), "</urlset>"), nil},
		"cut before":                  {strings.TrimSuffix(urlset("x"), "</urlset>"), urlset("x", "y"), nil},
		"cut before, dated":           {strings.TrimSuffix(urlset("x"), "</urlset>"), urlset("x", "y 2026-01-07T10:20:30Z"), []string{"y 2026-01-07T10:20:30Z"}},
		"of an index":                 {`<sitemapindex><sitemap><loc>http://a/1</loc><lastmod>2026-01-01</lastmod></sitemap></sitemapindex>`, `<sitemapindex><sitemap><loc>http://a/1</loc><lastmod>2026-01-08T10:00:00Z</lastmod></sitemap></sitemapindex>`, []string{"1 2026-01-08T10:00:00Z"}},
		"of a feed, another title":    {`<rss><item><link>http://a/x</link><title>X</title></item></rss>`, `<rss><item><link>http://a/x</link><title>Y</title></item></rss>`, []string{"x " + now}},
		"of a feed, one of two gone": {`<rss><item><link>http://a/x</link><guid>2</guid><pubDate>Wed, 7 Jan 2026 00:00:00 GMT</pubDate></item><item><link>http://a/x</link><guid>1</guid></item></rss>`,
			`<rss><item><link>http://a/x</link><guid>1</guid></item></rss>`, nil},
		"of text": {"http://a/x\n", "http://a/x\nhttp://a/y\n", []string{"y " + now}},
	} {
		before, _ := read(t, c.before)
		after, _ := read(t, c.after)
		if diff := cmp.Diff(c.want, toldOf(Compare(before, after, reading))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A list of a million entries is read as far as the limit, and what lies beyond it neither appears nor vanishes.
func TestCompareCutLists(t *testing.T) {
	t.Parallel()
	list := func(first int) Set {
		var b strings.Builder
		for i := range 1_000_000 {
			fmt.Fprintf(&b, "http://a/%d\n", first+i)
		}
		set, err := read(t, b.String())
		if err != nil || len(set.URLs) != MaxURLs || !set.Partial {
			t.Fatalf("%d URLs, partial %v, %v", len(set.URLs), set.Partial, err)
		}
		return set
	}
	n := Compare(list(1000), list(0), reading)
	if len(n.New) != 1000 || len(n.Told) != 0 || n.Vanished != 0 {
		t.Errorf("%d new, %d told, %d vanished, want 1000 that are new and nothing else", len(n.New), len(n.Told), n.Vanished)
	}
}

// dated is a list as rapid draws it: pages by a digit, each with a day of January or none.
func dated(t *rapid.T, name string) Set {
	var entries []string
	for i, page := range rapid.SliceOfN(rapid.StringMatching(`[0-9]`), 0, 12).Draw(t, name) {
		if day := rapid.IntRange(0, 12).Draw(t, fmt.Sprintf("%s day %d", name, i)); day > 0 {
			page += fmt.Sprintf(" 2026-01-%02d", day)
		}
		entries = append(entries, page)
	}
	set, err := Read(strings.NewReader(urlset(entries...)), whole)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Properties: a list compared with itself, in any order, is quiet; nothing is told twice, of what is not listed, or of a
// time to come; every page that is new is told of; what vanished is not.
func TestCompareProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, after := dated(t, "before"), dated(t, "after")
		turned := before
		turned.URLs = rapid.Permutation(before.URLs).Draw(t, "turned")
		if n := Compare(before, turned, reading); !n.Quiet() || len(n.Told) > 0 {
			t.Fatalf("a list in another order says %+v", n)
		}
		n := Compare(before, after, reading)
		told := make(map[string]bool)
		for _, page := range n.Told {
			if told[page.Loc] || page.At.After(reading) {
				t.Fatalf("told of %v again or too late: %+v", page, n.Told)
			}
			told[page.Loc] = true
			if !slices.ContainsFunc(after.URLs, func(e Entry) bool { return e.Loc == page.Loc }) {
				t.Fatalf("told of %s, which is not listed", page.Loc)
			}
		}
		for _, e := range n.New {
			if !told[e.Loc] {
				t.Fatalf("%s is new and nothing is told of it", e.Loc)
			}
		}
		if len(told) > len(n.New)+n.Renewed {
			t.Fatalf("%d told of %d new and %d renewed", len(told), len(n.New), n.Renewed)
		}
	})
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	fmt.Fprint(zip, urlset("x"))
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]Kind{
		urlset("x"): Sitemap, packed.String(): Sitemap, "\ufeff \n<?xml version='1.0'?><!-- c --><s:urlset xmlns:s='x'>": Sitemap,
		"<sitemapindex/>": Index, "<rss version='2.0'>": Feed, "<rdf:RDF>": Feed, "<feed>": Feed,
		"": None, "http://a/x": None, "<!doctype html><html>": None, "<svg/>": None, "\x1f\x8bnonsense": None, "<": None,
		"<!DOCTYPE a [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><urlset>&b;": Sitemap,
		"<!--" + strings.Repeat("-", sniffBytes):                           None,
	} {
		if got := KindOf([]byte(body)); got != want {
			t.Errorf("KindOf(%.40q) = %v, want %v", body, got, want)
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte(urlset("x 2026-01-05", "y")), []byte(urlset("x 2026-01-06", "z")))
	f.Add([]byte("<rss><item><link>http://a/</link></item>"), []byte("http://a/\nhttp://b/"))
	f.Fuzz(func(t *testing.T, one, other []byte) {
		limits := Limits{URLs: 100, Bytes: 1 << 16}
		before, _ := Read(bytes.NewReader(one), limits)
		after, _ := Read(bytes.NewReader(other), limits)
		n := Compare(before, after, reading)
		if len(n.New)+n.Renewed > limits.URLs || len(n.Told) > len(n.New)+n.Renewed {
			t.Fatalf("%+v of two lists of at most %d", n, limits.URLs)
		}
		for _, told := range n.Told {
			if told.At.After(reading) || told.At.IsZero() {
				t.Fatalf("%+v", told)
			}
		}
		KindOf(one)
	})
}

// BenchmarkCompare reads and compares two lists of 50,000 pages.
func BenchmarkCompare(b *testing.B) {
	var entries []string
	for i := range MaxURLs {
		entries = append(entries, fmt.Sprintf("section-%d/page-%d.html 2026-01-%02d", i%40, i, 1+i%28))
	}
	list := urlset(entries...)
	b.SetBytes(int64(2 * len(list)))
	for b.Loop() {
		before, _ := Read(strings.NewReader(list), whole)
		after, _ := Read(strings.NewReader(list), whole)
		if n := Compare(before, after, reading); !n.Quiet() {
			b.Fatal(len(n.Told))
		}
	}
}

// TestCame: a page that a list names and did not name before came, whatever its date; not where its date is another, or the list was not read
// whole before.
func TestCame(t *testing.T) {
	t.Parallel()
	read := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	entry := func(loc string, day int) Entry {
		at := read.AddDate(0, 0, -day)
		return Entry{Loc: loc, LastMod: at, End: at}
	}
	for _, partial := range []bool{false, true} {
		before := Set{Kind: Sitemap, URLs: []Entry{entry("a", 9)}, Partial: partial}
		now := Set{Kind: Sitemap, URLs: []Entry{entry("a", 1), entry("b", 400)}}
		told := Compare(before, now, read).Told
		if len(told) != 2 || told[0].Loc != "a" || told[0].Came || told[1].Loc != "b" || told[1].Came == partial {
			t.Errorf("before read in part %v: told of %+v, want of a, and of b that it came where it was read whole", partial, told)
		}
	}
}
