package intake

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// taken is what was read of an input.
type taken struct {
	URLs    []string
	Skipped int
	Bad     []string // their places
	Err     error
}

func take(s *Source) (got taken) {
	for item, err := range s.Items() {
		bad := new(Bad)
		switch {
		case errors.As(err, &bad):
			got.Bad = append(got.Bad, bad.Place.String())
		case err != nil:
			got.Err = err
		case item.Skip:
			got.Skipped++
		default:
			got.URLs = append(got.URLs, item.URL)
		}
	}
	return got
}

func packed(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wide is a text in UTF-16 with a byte order mark.
func wide(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b.Write([]byte{byte(unit), byte(unit >> 8)})
	}
	return b.String()
}

func record(kind, url, block string) string {
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, url, len(block), block)
}

const (
	answer200 = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hello"
	answer206 = "HTTP/1.1 206 Partial Content\r\n\r\nx"
	answer404 = "HTTP/1.1 404 Not Found\r\n\r\n"
	answer304 = "HTTP/1.1 304 Not Modified\r\n\r\n"
)

// formats are an input of each format and what is in it.
var formats = []struct {
	name, text string
	want       Format
	taken      taken
}{
	{"a list", "https://example.org/a\n\nhttps://example.org/b,3\nhttps://example.org/c,0\n", Lines,
		taken{URLs: []string{"https://example.org/a", "https://example.org/b"}, Bad: []string{"line 4"}}},
	{"nothing", "", Lines, taken{}},
	{"a list that Windows wrote", wide("https://example.org/ä\r\nhttps://example.org/b\r\n"), Lines,
		taken{URLs: []string{"https://example.org/ä", "https://example.org/b"}}},
	{"a sitemap", `<?xml version="1.0"?><!-- <opml> --><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` +
		`<url><loc> https://example.org/?a=1&amp;b=2 </loc><lastmod>2026-01-01</lastmod></url><url><priority>1</priority></url>` +
		`<url><loc>` + strings.Repeat("x", 3000) + `</loc></url></urlset>`, Sitemap,
		taken{URLs: []string{"https://example.org/?a=1&b=2"}, Bad: []string{"entry 2", "entry 3"}}},
	{"an index of sitemaps", `<sitemapindex><sitemap><loc>https://example.org/1.xml.gz</loc></sitemap></sitemapindex>`, Sitemap,
		taken{URLs: []string{"https://example.org/1.xml.gz"}}},
	{"a sitemap in UTF-16", wide(`<?xml version="1.0" encoding="utf-16"?><urlset><url><loc>https://example.org/ü</loc></url></urlset>`), Sitemap,
		taken{URLs: []string{"https://example.org/ü"}}},
	{"RSS", `<rss version="2.0"><channel><link>https://example.org/</link><item><link>https://example.org/1</link></item>` +
		`<item><guid isPermaLink="true">https://example.org/2</guid></item><item><title>none</title></item></channel></rss>`, Feed,
		taken{URLs: []string{"https://example.org/1", "https://example.org/2"}, Bad: []string{"entry 3"}}},
	{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.org/"/><entry><link rel="enclosure" href="https://example.org/x"/>` +
		`<link href="https://example.org/1"/></entry></feed>`, Feed, taken{URLs: []string{"https://example.org/1"}}},
	{"OPML", "\ufeff<?xml version=\"1.0\"?>\n<opml version=\"1.0\"><body><outline text=\"all\"><outline type=\"rss\" xmlUrl=\"https://example.org/f?a&amp;b\" " +
		`htmlUrl="https://example.org/"/><outline type="link" url="https://example.org/l"/><outline type="x" url="https://example.org/no"/></outline></body></opml>`,
		OPML, taken{URLs: []string{"https://example.org/f?a&b", "https://example.org/", "https://example.org/l"}}},
	{"OPML in Latin 1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><opml><outline xmlUrl=\"https://example.org/\xe4\"/></opml>", OPML,
		taken{URLs: []string{"https://example.org/ä"}}},
	{"OPML in UTF-16", wide(`<?xml version="1.0" encoding="UTF-16"?><opml><outline xmlUrl="https://example.org/ä"/></opml>`), OPML,
		taken{URLs: []string{"https://example.org/ä"}}},
	{"pages with their texts", `{"format": "json-pages-1.0", "id": "pages"}` + "\n" + `{"url": "https://example.org/", "text": "` +
		strings.Repeat("word ", 1<<16) + `"}` + "\n" + `{"url": "https://example.org/2"}` + "\n", JSONL,
		taken{URLs: []string{"https://example.org/", "https://example.org/2"}, Skipped: 1}},
	{"bookmarks", "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE><DL><p><DT><A HREF=\"https://example.org/?a&amp;b\" ICON=\"data:image/png;base64," +
		strings.Repeat("A", 1<<17) + "\">x</A><DT><A HREF=\"javascript:alert(1)\">y</A><DT><A FEEDURL=\"https://example.org/f\" HREF=\"https://example.org/\">z</A></DL>",
		Bookmarks, taken{URLs: []string{"https://example.org/?a&b", "https://example.org/", "https://example.org/f"}, Skipped: 1}},
	{"CDX", " CDX N b a m s k r M S V g\norg,example)/ 20200101000000 https://example.org/ text/html 200 AAA - - 1 2 f.warc.gz\n" +
		"org,example)/ 20200102000000 http://www.example.org/ text/html 200 AAA - - 1 2 f.warc.gz\n" +
		"org,example)/ 20200103000000 https://example.org/ warc/revisit - AAA - - 1 2 f.warc.gz\n" +
		"org,example)/gone 20200101000000 https://example.org/gone text/html 404 AAA - - 1 2 f.warc.gz\n" +
		"org,example)/old 20200101000000 https://example.org/old warc/revisit 304 AAA - - 1 2 f.warc.gz\nshort\n", CDX,
		taken{URLs: []string{"https://example.org/", "http://www.example.org/", "https://example.org/old"}, Skipped: 3, Bad: []string{"line 7"}}},
	{"CDX with other columns", "CDX\ta\ts\nhttps://example.org/\t200\nhttps://example.org/a\t301\n", CDX,
		taken{URLs: []string{"https://example.org/"}, Skipped: 2}},
	{"CDX without a heading", "org,example)/ 20200101000000 https://example.org/ text/html 200 AAA 123\n", CDX, taken{URLs: []string{"https://example.org/"}}},
	{"CDXJ", "!meta 0 {\"format\": \"cdxj\"}\norg,example)/ 20200101000000 {\"url\": \"https://example.org/\", \"mime\": \"text/html\", \"status\": \"200\"}\n" +
		"org,example)/ 20200102000000 {\"url\": \"https://example.org/\", \"status\": 200}\norg,example)/a 20200101000000 {\"url\": \"https://example.org/a\", \"status\": 500}\n" +
		"org,example)/b 20200101000000 {\"url\": \"https://example.org/b\", \"mime\": \"warc/revisit\"}\norg,example)/c 20200101000000 {\n", CDXJ,
		taken{URLs: []string{"https://example.org/", "https://example.org/b"}, Skipped: 3, Bad: []string{"line 6"}}},
	{"the list of pages of a package", "{\"format\": \"json-pages-1.0\", \"id\": \"pages\"}\n{\"url\": \"https://example.org/\", \"ts\": \"x\"}\n{\"id\": 3}\n" +
		"{\"url\": \"https://example.org/gone\", \"state\": \"gone\"}\n", JSONL, taken{URLs: []string{"https://example.org/"}, Skipped: 2, Bad: []string{"line 3"}}},
	{"WARC", record("warcinfo", "", "software: x\r\n") + record("request", "https://example.org/", "GET / HTTP/1.1\r\n\r\n") +
		record("response", "<https://example.org/>", answer200) + record("response", "https://example.org/part", answer206) +
		record("response", "https://example.org/no", answer404) + record("revisit", "https://example.org/again", answer304) +
		record("response", "dns:example.org", "20200101\n") + record("resource", "https://example.org/res", "x"), WARC,
		taken{URLs: []string{"https://example.org/", "https://example.org/part", "https://example.org/again"}, Skipped: 5}},
	{"HTTrack's list", "date\tsize'/'remotesize\tflags(request:Update,Range state:File response:Modified,Chunked,gZipped)\tstatuscode\tstatus ('servermsg')\tMIME\tEtag|Date\tURL\tlocalfile\t(from URL)\n" +
		"12:00:00\t10/10\t---M--\t200\tadded ('OK')\ttext/html\tdate:x\thttps://example.org/\tout/index.html\t(from )\n" +
		"12:00:01\t0/0\t---M--\t404\terror ('Not%20Found')\ttext/html\t\thttps://example.org/no\t\t(from https://example.org/)\nbroken\n", HTTrack,
		taken{URLs: []string{"https://example.org/"}, Skipped: 2, Bad: []string{"line 4"}}},
}

func TestFormatsAreToldByTheirBeginning(t *testing.T) {
	t.Parallel()
	for _, test := range formats {
		for how, text := range map[string]string{"plain": test.text, "in gzip": packed(t, test.text), "in gzip twice": packed(t, packed(t, test.text))} {
			s, err := Read(strings.NewReader(text), Options{})
			if err != nil {
				t.Errorf("%s, %s: %v", test.name, how, err)
				continue
			}
			if s.Format != test.want {
				t.Errorf("%s, %s, is taken for %s, want %s", test.name, how, s.Format, test.want)
			}
			if diff := cmp.Diff(test.taken, take(s)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", test.name, how, diff)
			}
		}
	}
}

// A file by another name is what it is, and one that is named for a format is not.
func TestNamesOfFilesDoNotCount(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "list.xml")
	if err := os.WriteFile(name, []byte("https://example.org/\nnonsense,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := take(s); s.Format != Lines || len(got.URLs) != 1 || len(got.Bad) != 1 {
		t.Errorf("format %s: %+v", s.Format, got)
	}
}

func TestAFormatThatIsNamedHolds(t *testing.T) {
	t.Parallel()
	s, err := Read(strings.NewReader("{\"url\": \"https://example.org/\"}\n"), Options{Format: Lines})
	if err != nil {
		t.Fatal(err)
	}
	if got := take(s); len(got.URLs) != 1 || got.URLs[0][0] != '{' {
		t.Errorf("read as lines: %+v", got)
	}
}

func TestLinksOfAPage(t *testing.T) {
	t.Parallel()
	const page = `<!doctype html><title>x</title><a href="a">a</a> <a href="https://other.example/b#c">b</a> <a href="mailto:x@example.org">m</a>`
	if _, err := Read(strings.NewReader(page), Options{}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "--format html") {
		t.Errorf("a page that is not named as one: %v, want the way to have its links", err)
	}
	for base, want := range map[string]taken{
		"":                        {URLs: []string{"https://other.example/b"}, Bad: []string{"link 1"}},
		"https://example.org/d/e": {URLs: []string{"https://example.org/d/a", "https://other.example/b"}},
	} {
		s, err := Read(strings.NewReader(page), Options{Format: HTML, Base: base})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, take(s)); diff != "" {
			t.Errorf("with base %q (-want +got):\n%s", base, diff)
		}
	}
	s, err := Read(strings.NewReader(page), Options{Format: HTML, Base: "nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	if got := take(s); !errors.Is(got.Err, ErrFormat) {
		t.Errorf("with a base that is none: %+v", got)
	}
}

// What is cut off is read up to there, and says where that is.
func TestWhatIsCutOff(t *testing.T) {
	t.Parallel()
	warc := record("response", "https://example.org/", answer200) + record("response", "https://example.org/b", answer200)
	var list strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&list, "https://example.org/%d\n", i*7919)
	}
	archive := packed(t, warc)
	lines := packed(t, list.String())
	for _, test := range []struct {
		name, text, where string
		urls              int
	}{
		{"a WARC file", warc[:len(warc)-30], "record 2", 1},
		{"a header of a WARC file", warc[:len(warc)/2+20], "record 2", 1},
		{"a WARC file that goes on with something else", warc + "<html>", "record 3", 2},
		{"a WARC file in gzip", packed(t, warc[:len(warc)/2]) + archive[:20], "record 2", 1},
		{"a sitemap", `<urlset><url><loc>https://example.org/</loc></url><url>`, "entry 2", 1},
		{"a list in gzip", lines[:len(lines)-100], "line 1", 1},
	} {
		s, err := Read(strings.NewReader(test.text), Options{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got := take(s)
		damaged := new(Damaged)
		if !errors.As(got.Err, &damaged) || !strings.HasPrefix(got.Err.Error(), test.where) || len(got.URLs) < test.urls {
			t.Errorf("%s: %d URLs, then %v; want at least %d, then %s to be damaged", test.name, len(got.URLs), got.Err, test.urls, test.where)
		}
	}
}

// A disk that fails is no damaged list, whatever reads it.
func TestADiskThatFailsIsNoDamage(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	for _, test := range formats {
		if len(test.text) == 0 {
			continue
		}
		text := test.text + strings.Repeat(" ", 2*sniffBytes)
		s, err := Read(io.MultiReader(strings.NewReader(text), failing{broken}), Options{})
		if err == nil {
			err = take(s).Err
		}
		damaged := new(Damaged)
		if !errors.Is(err, broken) || errors.As(err, &damaged) {
			t.Errorf("%s: %v, want %v", test.name, err, broken)
		}
	}
}

func TestAnEntryIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 8<<20)
	for name, text := range map[string]string{
		"a tag of a sitemap":   `<urlset><url x="` + long,
		"a text of a sitemap":  `<urlset><url><loc>` + long,
		"a bookmark":           `<!DOCTYPE NETSCAPE-Bookmark-file-1><a href="` + long,
		"a header of a record": "WARC/1.0\r\n" + long,
	} {
		s, err := Read(io.MultiReader(strings.NewReader(text), endless{}), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		damaged := new(Damaged)
		if got := take(s); !errors.As(got.Err, &damaged) {
			t.Errorf("%s without an end: %v", name, got.Err)
		}
	}
}

// endless is a reader without an end.
type endless struct{}

// Read implements io.Reader.
func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
