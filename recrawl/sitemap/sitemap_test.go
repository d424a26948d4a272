package sitemap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/internal/shared"
	"recrawld/recrawl/canon"
)

var whole = Limits{URLs: MaxURLs, Bytes: MaxBytes}

func read(t testing.TB, list string) (Set, error) {
	t.Helper()
	return Read(strings.NewReader(list), whole)
}

func TestOwnSuite(t *testing.T) {
	t.Parallel()
	type row struct {
		From string `json:"fetched_from"`
		File string
		Want any `json:"want_urls"`
		Why  string
	}
	expected, err := os.Open(shared.Path(t, "conformance/sitemaps/own-expected.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer expected.Close()
	for lines := bufio.NewScanner(expected); lines.Scan(); {
		var c row
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		list, err := os.Open(shared.Path(t, "conformance/sitemaps/"+c.File))
		if err != nil {
			t.Fatal(err)
		}
		set, err := Read(list, whole)
		list.Close()
		got := ownURLs(t, set, c.From)
		low, high := 0, 0
		switch want := c.Want.(type) {
		case float64:
			low, high = int(want), int(want)
		case string:
			if n, _ := fmt.Sscanf(want, "index:%d", &low); n == 1 {
				high, got = low, len(set.Sitemaps)
			} else if n, _ := fmt.Sscanf(want, "%d..%d", &low, &high); n != 2 {
				t.Fatalf("%s: cannot read want %q", c.File, want)
			}
		}
		if got < low || got > high {
			t.Errorf("%s (%s): %d, want %v; %+v, %v", c.File, c.Why, got, c.Want, set, err)
		}
	}
}

// ownURLs counts the entries on the host that the list came from: what its user keeps.
func ownURLs(t *testing.T, set Set, from string) int {
	t.Helper()
	source, err := url.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, entry := range set.URLs {
		if u, err := url.Parse(entry.Loc); err == nil && u.Host == source.Host {
			n++
		}
	}
	return n
}

func TestPublishedFiles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ urls, dated, sitemaps int }{
		"gopher-parse-sitemap/sitemap.xml":                     {4, 3, 0},
		"gopher-parse-sitemap/sitemap-index.xml":               {0, 0, 3},
		"stormcrawler/stormcrawler.rss":                        {6, 6, 0},
		"stormcrawler/stormcrawler.sitemap.xml":                {6, 6, 0},
		"stormcrawler/stormcrawler.sitemap.xml.gz":             {6, 6, 0},
		"stormcrawler/stormcrawler.sitemap.index.xml":          {0, 0, 4},
		"stormcrawler/stormcrawler.sitemap.extensions.all.xml": {7, 7, 0},
	} {
		list, err := os.Open(filepath.Join(shared.Path(t, "conformance/sitemaps"), filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		set, err := Read(list, whole)
		list.Close()
		dated := 0
		for _, entry := range set.URLs {
			if !entry.LastMod.IsZero() {
				dated++
			}
		}
		if err != nil || set.Partial || len(set.URLs) != want.urls || dated != want.dated || len(set.Sitemaps) != want.sitemaps {
			t.Errorf("%s: %d URLs, %d with a date, %d sitemaps, %v, want %+v", name, len(set.URLs), dated, len(set.Sitemaps), err, want)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	over := day.Add(36 * time.Hour)
	for name, c := range map[string]struct {
		list string
		want Set
	}{
		"sitemap": {`<urlset><url><loc> HTTP://a/%7Ex#y </loc><lastmod>2026-01-02</lastmod><image:image><image:loc>http://a/i</image:loc></image:image></url></urlset>`,
			Set{Kind: Sitemap, URLs: []Entry{{"http://a/%7Ex", day, over, 0, false}}}},
		"index": {`<sitemapindex><sitemap><loc>http://a/s</loc></sitemap></sitemapindex>`, Set{Kind: Index, Sitemaps: []Entry{{Loc: "http://a/s"}}}},
		"text":  {"\ufeffhttp://a/\r\n\r\nhttp://a/b\nnonsense", Set{Kind: Plain, URLs: []Entry{{Loc: "http://a/"}, {Loc: "http://a/b"}}}},
		"rss": {`<rss><channel><link>http://a/</link><item><guid isPermaLink="false">http://a/g</guid></item><item><guid>http://a/h</guid>
			<pubDate>Fri, 2 Jan 2026 00:00:00 +0000</pubDate></item></channel></rss>`,
			Set{Kind: Feed, URLs: []Entry{{"http://a/h", day, day, markOf("http://a/h", ""), false}}}},
		"atom": {`<feed><link href="http://a/"/><entry><link rel="self" href="http://a/s"/><link href="http://a/e"/><title>E</title><updated>2026-01-02T01:00:00+01:00</updated></entry></feed>`,
			Set{Kind: Feed, URLs: []Entry{{"http://a/e", day, day, markOf("", "E"), false}}}},
		"references": {`<urlset><url><loc>http://a/?b=1&amp;utm_source=list&amp;c=&#50;</loc></url></urlset>`, Set{Kind: Sitemap, URLs: []Entry{{Loc: "http://a/?b=1&c=2", Bare: true}}}},
	} {
		got, err := read(t, c.list)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// TestAlternatesAreNoLocation: that a page exists in other languages may be said before where it is.
func TestAlternatesAreNoLocation(t *testing.T) {
	t.Parallel()
	set, err := read(t, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"><url>
		<xhtml:link rel="alternate" hreflang="de" href="https://a.org/de"/><loc>https://a.org/en</loc></url></urlset>`)
	if err != nil || len(set.URLs) != 1 || set.URLs[0].Loc != "https://a.org/en" {
		t.Errorf("Read = %+v, %v, want https://a.org/en", set.URLs, err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	const one = "<urlset><url><loc>http://a/</loc></url>"
	for name, c := range map[string]struct {
		list string
		urls int
		want error
	}{
		"empty":     {"", 0, ErrFormat},
		"html":      {"<!DOCTYPE html><html><a href=http://a/>", 0, ErrFormat},
		"prose":     {"404 not found", 0, ErrFormat},
		"truncated": {one + "<url><loc>http://a", 1, io.ErrUnexpectedEOF},
		"bad gzip":  {"\x1f\x8bnonsense", 0, gzip.ErrHeader},
	} {
		set, err := read(t, c.list)
		if !errors.Is(err, c.want) || len(set.URLs) != c.urls || !set.Partial {
			t.Errorf("%s: %+v, %v, want %d URLs and %v", name, set, err, c.urls, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	list := "<urlset>" + strings.Repeat("<url><loc>http://a/</loc></url>", 100) + "</urlset>"
	for _, c := range []struct {
		limits  Limits
		urls    int
		partial bool
	}{
		{Limits{URLs: 10, Bytes: 1 << 20}, 10, true},
		{Limits{URLs: 100, Bytes: int64(len(list))}, 100, false},
		{Limits{URLs: 1000, Bytes: 200}, 6, true},
		{Limits{}, 0, true},
	} {
		set, err := Read(strings.NewReader(list), c.limits)
		if err != nil || len(set.URLs) != c.urls || set.Partial != c.partial {
			t.Errorf("%+v: %d URLs, partial %v, %v, want %d, %v", c.limits, len(set.URLs), set.Partial, err, c.urls, c.partial)
		}
	}
}

func TestBombIsCut(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	fmt.Fprint(zip, "<urlset><url><loc>http://a/</loc></url>")
	space := bytes.Repeat([]byte{' '}, 1<<20)
	for range 20 {
		if _, err := zip.Write(space); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	set, err := Read(&packed, Limits{URLs: MaxURLs, Bytes: 1 << 20})
	if err != nil || len(set.URLs) != 1 || !set.Partial {
		t.Errorf("%d URLs, partial %v, %v, want 1 and partial", len(set.URLs), set.Partial, err)
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"2026": "2026-01-01T00:00:00Z", "2026-01": "2026-01-01T00:00:00Z", " 2026-01-02 ": "2026-01-02T00:00:00Z",
		"2026-01-02T03:04Z": "2026-01-02T03:04:00Z", "2026-01-02T03:04:05+01:00": "2026-01-02T02:04:05Z",
		"2026-01-02T03:04:05.678Z": "2026-01-02T03:04:05.678Z", "2026-01-02 03:04:05": "2026-01-02T03:04:05Z",
		"20260102": "2026-01-02T00:00:00Z", "Thu, 01 Jan 2026 00:00:00 GMT": "2026-01-01T00:00:00Z",
		"02.01.2026": "", "": "", "yesterday": "", "2026-13-01": "",
	} {
		got := ""
		at, end := parseTime(s)
		if !at.IsZero() {
			got = at.Format(time.RFC3339Nano)
		}
		if end.Before(at) || at.IsZero() != end.IsZero() {
			t.Errorf("parseTime(%q) is over at %v, begins at %v", s, end, at)
		}
		if got != want {
			t.Errorf("parseTime(%q) = %q, want %q", s, got, want)
		}
	}
}

func FuzzSitemap(f *testing.F) {
	for _, list := range []string{"<urlset><url><loc>http://a/</loc></url></urlset>", "<feed><entry><link href='http://a/'/></entry></feed>",
		"<rss><item><link>http://a/</link></item>", "http://a/\nhttp://b/", "<?xml version='1.0' encoding='latin1'?><urlset/>", "\xff\xfe<\x00",
		"<urlset></url></urlset><url><loc>", "<a:sitemapindex><sitemap><loc><![CDATA[http://a/]]>", "<urlset><url/><url></urlset>", "\x1f\x8b"} {
		f.Add([]byte(list))
	}
	names, _ := filepath.Glob(filepath.Join(shared.Path(f, "conformance/sitemaps"), "own", "*"))
	for _, name := range names {
		if list, err := os.ReadFile(name); err == nil {
			f.Add(list)
		}
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		limits := Limits{URLs: 5, Bytes: 1 << 20}
		set, err := Read(bytes.NewReader(list), limits)
		if len(set.URLs)+len(set.Sitemaps) > limits.URLs || err != nil && !set.Partial {
			t.Fatalf("%d URLs, %d sitemaps, partial %v, %v", len(set.URLs), len(set.Sitemaps), set.Partial, err)
		}
		for _, entry := range set.URLs {
			if u, err := canon.Parse(entry.Loc); err != nil || u.String() != entry.Loc {
				t.Fatalf("%q is not canonical: %v", entry.Loc, err)
			}
		}
	})
}
