package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/export"
	"recrawld/models"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 250e6, time.UTC)

// shelf is an archive with pages.
type shelf struct {
	dir    string
	reader *archive.Reader
	pages  []Page
}

// page is what a page of a shelf is made of.
type bookPage struct{ url, contentType, modified, body string }

func newShelf(t *testing.T, pages ...bookPage) *shelf {
	t.Helper()
	s := &shelf{dir: t.TempDir()}
	now := noon
	a, err := archive.Open(s.dir, archive.Options{Worker: "w0", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pages {
		now = noon.Add(time.Duration(i) * time.Minute)
		header := fmt.Appendf(nil, "Content-Type: %s\r\n", p.contentType)
		if p.modified != "" {
			header = fmt.Appendf(header, "Last-Modified: %s\r\n", p.modified)
		}
		record, err := a.Append(models.Capture{URL: p.url, Outcome: models.Outcome{At: now, Status: 200, Proto: "HTTP/1.1", Header: header,
			Body: []byte(p.body)}})
		if err != nil {
			t.Fatal(err)
		}
		media, _, _ := strings.Cut(p.contentType, ";")
		s.pages = append(s.pages, Page{Number: int32(i + 1), MediaType: media, Version: export.Version{URL: p.url, At: models.At(now),
			Digest: models.DigestOf([]byte(p.body)), Record: record}})
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if s.reader, err = archive.OpenReader(s.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.reader.Close() })
	return s
}

// export writes a folder.
func (s *shelf) export(t *testing.T, path string, force bool, redirects ...string) (sum Summary, losses []export.Loss, err error) {
	t.Helper()
	step := func(string, int64) {}
	x := export.New(export.Options{Archive: s.reader, Temp: s.dir, Now: noon, Step: step, Lost: func(l export.Loss) { losses = append(losses, l) }})
	defer x.Close()
	w := New(Options{Versions: x, Path: path, Force: force, Temp: s.dir, Software: "recrawld test", About: "all <pages>", Now: noon, Step: step,
		Starts: []Start{{Site: "docs", URL: "https://example.org/moved"}, {Site: "none", URL: "https://example.com/"}}})
	defer w.Close()
	for _, p := range s.pages {
		if err := w.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i+1 < len(redirects); i += 2 {
		if err := w.Redirect(redirects[i], redirects[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	sum, err = w.Write(t.Context())
	return sum, losses, err
}

var book = []bookPage{
	{"https://example.org/", "text/html; charset=utf-8", "Sun, 01 Feb 2026 10:00:00 GMT", `<link rel=stylesheet href=/style.css><a href="/docs/a">a</a><a href=/moved>m</a><img src=/none.png>`},
	{"https://example.org/docs/a", "text/html", "Sun, 01 Mar 2027 10:00:00 GMT", `<a href="/">home</a><a href=/docs/b#x>b</a>`},
	{"https://example.org/docs/b", "text/html", "yesterday", `<a href="a">a</a>`},
	{"https://example.org/style.css", "text/css", "", `body{background:url(img/x.png)}`},
	{"https://example.org/img/x.png", "image/png", "", "\x89PNG"},
}

// read is a file of a folder.
func read(t *testing.T, path, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "site")
	sum, losses, err := newShelf(t, book...).export(t, path, false, "https://example.org/moved", "https://example.org/moved/on",
		"https://example.org/moved/on", "https://example.org/docs/b", "https://example.org/away", "https://example.com/", "https://example.org/loop", "https://example.org/loop")
	if err != nil || len(losses) > 0 || sum.Versions != 5 || sum.Redirects != 2 || sum.Away != 1 || sum.Needs != 1 || sum.Reused != 0 {
		t.Fatalf("%+v, %v, %v", sum, losses, err)
	}
	for name, want := range map[string]string{
		"example.org/index.html": `<link rel=stylesheet href="style.css"><a href="docs/a.html">a</a><a href="docs/b.html">m</a>` +
			`<img src="https://example.org/none.png">`,
		"example.org/docs/a.html": `<a href="../index.html">home</a><a href="b.html#x">b</a>`,
		"example.org/docs/b.html": `<a href="a.html">a</a>`,
		"example.org/style.css":   `body{background:url("img/x.png")}`,
		"example.org/img/x.png":   "\x89PNG",
	} {
		if got := strings.TrimPrefix(read(t, path, name), `<meta charset="utf-8">`); got != want && name != "example.org/style.css" {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]time.Time{
		"example.org/index.html": time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC), "example.org/docs/a.html": noon.Add(time.Minute).Truncate(time.Second),
		"example.org/docs/b.html": noon.Add(2 * time.Minute).Truncate(time.Second),
	} {
		if there, err := os.Stat(filepath.Join(path, name)); err != nil || !there.ModTime().Equal(want) {
			t.Errorf("%s is of %v (%v), want %v", name, there.ModTime(), err, want)
		}
	}
	begin := read(t, path, start)
	for _, want := range []string{"<title>all &lt;pages&gt;</title>", `<a href="example.org/docs/b.html">https://example.org/moved</a>`,
		`<a href="example.org/index.html">https://example.org</a><td class="n">5`, "that lead out of this folder, to the web: 1"} {
		if !strings.Contains(begin, want) {
			t.Errorf("the page to begin with lacks %s:\n%s", want, begin)
		}
	}
	checkList(t, read(t, path, listName), sum)
}

// checkList checks the list of pages.
func checkList(t *testing.T, text string, sum Summary) {
	t.Helper()
	last, pages, redirects := "", int64(0), int64(0)
	for row := range strings.Lines(text) {
		var l line
		if err := json.Unmarshal([]byte(row), &l); err != nil {
			t.Fatal(err)
		}
		if l.URL <= last {
			t.Errorf("%s stands behind %s", l.URL, last)
		}
		switch last = l.URL; {
		case l.To != "" && l.File == "example.org/docs/b.html":
			redirects++
		case l.Version > 0 && l.Type != "" && len(l.Digest) == 64 && strings.HasPrefix(l.FoundAt, "2026-03-01T12:0"):
			pages++
		default:
			t.Errorf("the list has %s", row)
		}
	}
	if pages != sum.Versions || redirects != sum.Redirects {
		t.Errorf("the list has %d pages and %d redirects, want %d and %d", pages, redirects, sum.Versions, sum.Redirects)
	}
}

// What has not changed since the former export is the same file; what was in it besides is gone, and so is it.
func TestFolderAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "site")
	if _, _, err := newShelf(t, book...).export(t, path, false); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(path, "example.org/img/x.png"))
	if err != nil {
		t.Fatal(err)
	}
	spoilt := filepath.Join(path, "example.org/docs/a.html") // somebody has changed it, and kept its length and time
	there, err := os.Stat(spoilt)
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, path, "example.org/docs/a.html")
	if err := errors.Join(os.WriteFile(spoilt, []byte(strings.ToUpper(text)), 0o600), os.Chtimes(spoilt, there.ModTime(), there.ModTime())); err != nil {
		t.Fatal(err)
	}
	changed := append([]bookPage(nil), book...)
	changed[2].body += "!"
	sum, _, err := newShelf(t, changed...).export(t, path, true)
	if err != nil || sum.Reused != 3 {
		t.Errorf("%+v, %v: want 3 files that stay", sum, err)
	}
	after, err := os.Stat(filepath.Join(path, "example.org/img/x.png"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the image is another file (%v)", err)
	}
	if got := read(t, path, "example.org/docs/a.html"); got != text {
		t.Errorf("a is %s, want %s", got, text)
	}
	if got := read(t, path, "example.org/docs/b.html"); !strings.HasSuffix(got, "!") {
		t.Errorf("b is %s", got)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// Nothing but a former export is replaced, and that by force alone; a symbolic link is neither followed nor replaced.
func TestFolderRefuses(t *testing.T) {
	t.Parallel()
	s := newShelf(t, book[0])
	dir := t.TempDir()
	path := filepath.Join(dir, "site")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.export(t, path, false); err != nil {
		t.Fatalf("into an empty folder: %v", err)
	}
	if _, _, err := s.export(t, path, false); !errors.Is(err, ErrTaken) {
		t.Errorf("again: %v, want ErrTaken", err)
	}
	link, file, other, claims := filepath.Join(dir, "link"), filepath.Join(dir, "file"), filepath.Join(dir, "other"), filepath.Join(dir, "claims")
	err := errors.Join(os.Symlink(path, link), os.WriteFile(file, nil, 0o600), os.MkdirAll(filepath.Join(other, ours), 0o700), os.Mkdir(claims, 0o700),
		os.WriteFile(filepath.Join(other, aboutName), []byte("{}"), 0o600), os.Symlink(filepath.Join(path, ours), filepath.Join(claims, ours)))
	if err != nil {
		t.Fatal(err)
	}
	for _, foreign := range []string{link, file, other, claims} {
		if _, _, err := s.export(t, foreign, true); !errors.Is(err, ErrForeign) {
			t.Errorf("%s by force: %v, want ErrForeign", filepath.Base(foreign), err)
		}
	}
	if err := Vacant(filepath.Join(dir, "no", "where"), true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 5 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// A link that was put into the former export is not followed: its file is not taken for ours.
func TestFolderFollowsNoLinkOfTheFormerOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, elsewhere := filepath.Join(dir, "site"), filepath.Join(dir, "elsewhere")
	s := newShelf(t, book...)
	if _, _, err := s.export(t, path, false); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(filepath.Join(path, "example.org"), elsewhere), os.Symlink(elsewhere, filepath.Join(path, "example.org"))); err != nil {
		t.Fatal(err)
	}
	if sum, _, err := s.export(t, path, true); err != nil || sum.Reused != 0 {
		t.Errorf("%+v, %v: want no file reused", sum, err)
	}
	if there, err := os.Lstat(filepath.Join(path, "example.org")); err != nil || !there.IsDir() {
		t.Errorf("%v (%v), want a folder", there, err)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "img/x.png")); err != nil {
		t.Errorf("what the link led to: %v", err)
	}
}

// No link leads to the file of a page that turned out to be lost, wherever it lies in the archive.
func TestLinksToLostPagesLeadToTheWeb(t *testing.T) {
	t.Parallel()
	s := newShelf(t, book...)
	at := s.pages[2].Record
	segment := filepath.Join(s.dir, at.File)
	text, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	text[at.Offset+at.Length/2] ^= 0xff
	if err := os.WriteFile(segment, text, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "site")
	sum, losses, err := s.export(t, path, false)
	if err != nil || sum.Versions != 4 || sum.Lost != 1 || len(losses) != 1 || losses[0].URL != "https://example.org/docs/b" {
		t.Fatalf("%+v, %v, %v", sum, losses, err)
	}
	if got := read(t, path, "example.org/docs/a.html"); !strings.Contains(got, `href="https://example.org/docs/b#x"`) {
		t.Errorf("a is %s", got)
	}
	if _, err := os.Lstat(filepath.Join(path, "example.org/docs/b.html")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("b: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v is left (%v)", left, err)
	}
	if list := read(t, path, listName); strings.Contains(list, "docs/b") || !bytes.Contains([]byte(read(t, path, start)), []byte("could not be read any more: 1")) {
		t.Errorf("the list has %s", list)
	}
}

// What exports that were killed left beside the folder is removed by the next one; what somebody writes just now, and what is not ours, stays.
func TestFolderSweepsWhatWasLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "site")
	left, err := newDraft(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := left.write("example.org/a.html", []byte("half"), noon); err != nil {
		t.Fatal(err)
	}
	left.close() // as the system does when a process is killed
	busy, err := newDraft(path)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.close()
	foreign := filepath.Join(dir, "site.123.tmp")
	if err := errors.Join(os.Mkdir(foreign, 0o700), os.WriteFile(filepath.Join(foreign, "mine"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, _, err := newShelf(t, book...).export(t, path, true); err != nil {
			t.Fatal(err)
		}
	}
	for path, stays := range map[string]bool{left.path: false, busy.path: true, filepath.Join(foreign, "mine"): true, filepath.Join(path, draftName): false} {
		if _, err := os.Lstat(path); (err == nil) != stays {
			t.Errorf("%s: %v, want it there: %t", path, err, stays)
		}
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) != 3 {
		t.Errorf("there is %v (%v), want the folder, what is being written and what is not ours", there, err)
	}
}

// Where the two folders cannot change places at once, the new one takes the name all the same.
func TestTurnOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, other := filepath.Join(dir, "one"), filepath.Join(dir, "other")
	if err := errors.Join(os.Mkdir(one, 0o700), os.Mkdir(other, 0o700), os.WriteFile(filepath.Join(one, "new"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	old, err := turnOver(one, other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(other, "new")); err != nil {
		t.Error(err)
	}
	if there, err := os.Stat(old); err != nil || !there.IsDir() {
		t.Errorf("the old one: %v", err)
	}
	if err := os.RemoveAll(other); err != nil {
		t.Fatal(err)
	}
	if _, err := turnOver(filepath.Join(dir, "none"), old); err == nil {
		t.Error("what is not there took a name")
	}
	if _, err := os.Stat(old); err != nil {
		t.Errorf("after that failed: %v", err)
	}
}
