package intake

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write makes files below a new directory of that name.
func write(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for file, text := range files {
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openAll(t *testing.T, name string, o Options) (Format, taken) {
	t.Helper()
	s, err := Open(name, o)
	if err != nil {
		t.Fatal(err)
	}
	got := take(s)
	slices.Sort(got.URLs)
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	return s.Format, got
}

func TestATreeOfWget(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"example.org/index.html": "", "example.org/a/b.html": "", "example.org/a/index.html?x=1&y=#2.html": "", "example.org/robots.txt": "",
		"example.org/100%.txt": "", "example.org/a b%20c.txt": "", "example.org/a/b.html.orig": "", "example.org:8443/x?y": "", "wget-log": "",
		"images/x.png": "", "localhost/x": "",
	}
	want := taken{Skipped: 2, URLs: []string{
		"https://example.org/", "https://example.org/100%25.txt", "https://example.org/a%20b%20c.txt", "https://example.org/a/?x=1&y=%232",
		"https://example.org/a/b.html", "https://example.org:8443/x?y", "https://localhost/x",
	}}
	if format, got := openAll(t, write(t, "mirror", files), Options{}); format != Tree || cmp.Diff(want, got) != "" {
		t.Errorf("format %s, (-want +got):\n%s", format, cmp.Diff(want, got))
	}
	for name, test := range map[string]struct {
		dir   string
		files []string
		o     Options
		want  []string
	}{
		"a host's own directory": {"example.org", []string{"v1.2/index.html", "jquery.min/a.js"}, Options{Scheme: "http"}, []string{"http://example.org/jquery.min/a.js", "http://example.org/v1.2/"}},
		"a directory named for the host that was mirrored into it": {"example.org", []string{"example.org/x", "docs.example.org/y", "wget-log"}, Options{},
			[]string{"https://docs.example.org/y", "https://example.org/x"}},
		"a host with a page named for itself": {"example.org", []string{"example.org/x", "index.html"}, Options{}, []string{"https://example.org/", "https://example.org/example.org/x"}},
		"with directories of schemes":         {"mirror", []string{"http/a.example/x", "https/a.example/x"}, Options{}, []string{"http://a.example/x", "https://a.example/x"}},
		"a port that is written with a plus":  {"mirror", []string{"a.example+8080/x"}, Options{}, []string{"https://a.example:8080/x"}},
	} {
		files := make(map[string]string)
		for _, file := range test.files {
			files[file] = ""
		}
		if _, got := openAll(t, write(t, test.dir, files), test.o); cmp.Diff(test.want, got.URLs) != "" {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(test.want, got.URLs))
		}
	}
}

// A link out of the tree is no file of it.
func TestATreeIsNotLeft(t *testing.T) {
	t.Parallel()
	dir := write(t, "mirror", map[string]string{"example.org/a": ""})
	if err := os.Symlink("/etc", filepath.Join(dir, "example.org", "etc")); err != nil {
		t.Fatal(err)
	}
	if _, got := openAll(t, dir, Options{}); len(got.URLs) != 1 || got.Err != nil {
		t.Errorf("%+v, want the file alone", got)
	}
}

func TestAMirrorTellsItsPagesByAList(t *testing.T) {
	t.Parallel()
	const row = "12:00:00\t1/1\t---M--\t200\tadded ('OK')\ttext/html\t\thttps://example.org/x?y\texample.org/x1234.html\t(from )\n"
	heading := "date\tsize\tflags\tstatuscode\tstatus\tMIME\tEtag\tURL\tlocalfile\t(from URL)\n"
	httrack := write(t, "mirror", map[string]string{"hts-cache/new.txt": heading + row, "example.org/x1234.html": ""})
	format, got := openAll(t, httrack, Options{})
	if want := (taken{Skipped: 1, URLs: []string{"https://example.org/x?y"}}); format != HTTrack || cmp.Diff(want, got) != "" {
		t.Errorf("format %s, (-want +got):\n%s", format, cmp.Diff(want, got))
	}
	if format, got := openAll(t, httrack, Options{Format: Tree}); format != Tree || len(got.URLs) != 1 || got.URLs[0] != "https://example.org/x1234.html" {
		t.Errorf("by its names: %s, %+v", format, got)
	}
	own := write(t, "mirror", map[string]string{".recrawl/manifest.ndjson": `{"url":"https://example.org/y~","path":"example.org/y~q"}`, "example.org/y~q": ""})
	if format, got := openAll(t, own, Options{}); format != JSONL || len(got.URLs) != 1 || got.URLs[0] != "https://example.org/y~" {
		t.Errorf("by its manifest: %s, %+v", format, got)
	}
}

func TestDirectoriesThatAreNotRead(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{
		"without a host":       write(t, "mirror", map[string]string{"images/x.png": "", "v1.2/x": ""}),
		"HTTrack without list": write(t, "mirror", map[string]string{"hts-cache/new.zip": "", "example.org/x": ""}),
	} {
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v, want a refusal that names it", name, err)
		}
	}
	if _, err := Open(write(t, "mirror", map[string]string{"example.org/x": ""}), Options{Format: CDX}); !errors.Is(err, ErrFormat) {
		t.Errorf("a directory as an index: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
}

// archiveOf is a zip archive of those files.
func archiveOf(t *testing.T, files map[string]string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pages.wacz")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(out)
	for file, text := range files {
		f, err := w.Create(file)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAPackageGivesThePagesOfItsBestPart(t *testing.T) {
	t.Parallel()
	pages := "{\"format\": \"json-pages-1.0\"}\n{\"url\": \"https://example.org/\"}\nbroken\n"
	index := packed(t, "org,example)/a 20200101000000 {\"url\": \"https://example.org/a\", \"status\": \"200\"}\n")
	warc := packed(t, record("response", "https://example.org/b", answer200))
	for want, files := range map[string]map[string]string{
		"https://example.org/":  {"pages/pages.jsonl": pages, "indexes/index.cdx.gz": index, "archive/data.warc.gz": warc},
		"https://example.org/a": {"pages/pages.jsonl": "{\"format\": \"json-pages-1.0\"}\n", "indexes/index.cdx.gz": index, "archive/data.warc.gz": warc},
		"https://example.org/b": {"archive/data.warc.gz": warc, "datapackage.json": "{}"},
	} {
		format, got := openAll(t, archiveOf(t, files), Options{})
		if format != WACZ || len(got.URLs) != 1 || got.URLs[0] != want || got.Err != nil {
			t.Errorf("format %s: %+v, want %s", format, got, want)
		}
		if len(got.Bad) > 0 && got.Bad[0] != "pages/pages.jsonl, line 3" {
			t.Errorf("a bad line is at %s", got.Bad)
		}
	}
}

func TestArchivesThatAreNoPackage(t *testing.T) {
	t.Parallel()
	other := archiveOf(t, map[string]string{"x.txt": "https://example.org/"})
	if _, err := Open(other, Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("another archive: %v", err)
	}
	text, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(strings.NewReader(string(text)), Options{}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "give its name") {
		t.Errorf("a package as a stream: %v", err)
	}
	cut := filepath.Join(t.TempDir(), "cut.wacz")
	if err := os.WriteFile(cut, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(cut, Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("a package that is cut off: %v", err)
	}
}

// A package whose bytes are wrong is read up to there.
func TestADamagedPackage(t *testing.T) {
	t.Parallel()
	lines := new(strings.Builder)
	for i := range 20_000 {
		fmt.Fprintf(lines, "{\"url\": \"https://example.org/%d\"}\n", i*7919)
	}
	name := archiveOf(t, map[string]string{"pages/pages.jsonl": lines.String()})
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	copy(text[len(text)/2:], make([]byte, 64))
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, got := openAll(t, name, Options{})
	damaged := new(Damaged)
	if !errors.As(got.Err, &damaged) || !strings.Contains(got.Err.Error(), "pages/pages.jsonl") || len(got.URLs) == 0 {
		t.Errorf("%d URLs, then %v; want some, then where the damage is", len(got.URLs), got.Err)
	}
}
