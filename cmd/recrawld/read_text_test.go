package main

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/models"
)

func TestWhatAPageSays(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	const site = "https://docs.example.org/"
	add := func(name, body string) {
		f.page(1, site+name, []step{{ago: time.Hour, kind: models.First, body: body, frMax: 4}}, func(p *models.Page, _ *models.Host) {
			p.DueAt, p.Canonical = models.At(filledNow.Add(day)), site+"canonical"
		})
	}
	add("page", `<html lang=de-CH><title>A  title</title><meta name=robots content="noindex, follow"><nav><a href=/>Home</a></nav>`+
		`<main><h1>Heading</h1><p>First.<p hidden>Hidden.<p>Second &lt;b>.</main><footer>Footer</footer>`)
	add("plain", `<p>Only this.`)
	add("long", "<p>"+strings.Repeat("word ", mostRead/5))
	add("longer-than-read", "<p>"+strings.Repeat("word ", mostRead/9))
	for name, want := range map[string]struct {
		title, text, language string
		noIndex, cut, read    bool
	}{
		"page":             {"A title", "Heading\nFirst.\nSecond <b>.", "de-CH", true, false, true},
		"plain":            {"", "Only this.", "", false, false, true},
		"long":             {"", "", "", false, true, false},
		"longer-than-read": {"", "word word word", "", false, true, true},
	} {
		s, err := b.text(t.Context(), textQuery{url: site + name})
		if err != nil {
			t.Fatal(err)
		}
		if s.Text = s.Text[:min(len(s.Text), 60)]; s.Title != want.title || !strings.HasPrefix(s.Text, want.text) || want.text == "" && s.Text != "" || s.Language != want.language || s.Cut != want.cut ||
			(s.NoIndex != nil) != want.read || want.read && *s.NoIndex != want.noIndex {
			t.Errorf("%s says %+v, want %+v", name, s, want)
		}
		if s.URL != site+name || s.Site != "docs" || s.State != "live" || s.Version != 1 || s.Importance != 1 || s.Canonical != site+"canonical" ||
			s.ContentType != "text/html" || s.Bytes == 0 || len(s.Digest) != 64 || !s.FirstSeen.Equal(filledNow.Add(-time.Hour)) || s.ChangedAt != nil {
			t.Errorf("%s is %+v", name, s)
		}
	}
}

// A copy that is lost is none. One that another worker has is one, and not for us to give.
func TestACopyThatCannotBeRead(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	f.appears("a")
	for _, test := range []struct {
		store string
		err   error
		code  int
		says  string
	}{
		{"sqlite", fs.ErrNotExist, exitNotFound, "is lost"},
		{"postgres://recrawl@/recrawl", fs.ErrNotExist, exitFailed, "archive of another worker"},
		{"postgres://recrawl@/recrawl", archive.ErrDamaged, exitNotFound, "is lost"},
		{"sqlite", fs.ErrPermission, exitFailed, "permission"},
	} {
		b.force.config.Store = test.store
		b.read = func(models.Record) (archive.Answer, error) { return archive.Answer{}, test.err }
		if _, err := b.text(t.Context(), textQuery{url: "https://docs.example.org/a"}); exitCode(err) != test.code || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v on %s: %v with exit code %d, want %d and %q", test.err, test.store, err, exitCode(err), test.code, test.says)
		}
	}
}

// The header says what a page asks for that has no text to say it in.
func TestWhatTheHeaderSays(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	f.appears("a")
	header := bytes.ReplaceAll([]byte("Content-Type: application/pdf\nX-Robots-Tag: otherbot: nofollow\nX-Robots-Tag: noindex\nContent-Language: fr, en\nnot a field\n"),
		[]byte("\n"), []byte("\r\n"))
	b.read = func(models.Record) (archive.Answer, error) {
		return archive.Answer{Header: header, Body: []byte("%PDF")}, nil
	}
	s, err := b.text(t.Context(), textQuery{url: "https://docs.example.org/a"})
	if err != nil || s.NoIndex == nil || !*s.NoIndex || s.Language != "fr" || s.Text != "" {
		t.Errorf("says %+v, %v; want noindex, fr and no text", s, err)
	}
	header = []byte("Content-Language: <b>none</b>" + strings.Repeat("x", 3000) + "\r\n")
	if s, err = b.text(t.Context(), textQuery{url: "https://docs.example.org/a"}); err != nil || s.Language != "" {
		t.Errorf("the language is %.40q, %v; want none of what is no language", s.Language, err)
	}
}

// A page whose copy is not to be offered any more has none, whatever the archive holds of it; the last one is there for those who ask for
// it by its number.
func TestACopyThatIsNotToBeOffered(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	for name, test := range map[string]struct {
		finish func(p *models.Page)
		says   string
	}{
		"away":    {func(p *models.Page) { p.State, p.RedirectTo = models.StateMoved, "https://docs.example.org/b" }, "is moved"},
		"lost":    {func(p *models.Page) { p.State, p.RedirectTo = models.StateMissing, "https://docs.example.org/b" }, "is missing"},
		"asks":    {func(p *models.Page) { p.NoArchive = true }, "asks not to be archived"},
		"missing": {func(p *models.Page) { p.State = models.StateMissing }, ""},
	} {
		url := "https://docs.example.org/" + name
		f.page(1, url, []step{{ago: time.Hour, kind: models.First, body: "<p>" + name, frMax: 4}}, func(p *models.Page, _ *models.Host) {
			p.DueAt = models.At(filledNow.Add(day))
			test.finish(p)
		})
		_, err := b.text(t.Context(), textQuery{url: url})
		if test.says == "" && err != nil || test.says != "" && (exitCode(err) != exitNotFound || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v, want %q", url, err, test.says)
		}
		if s, err := b.text(t.Context(), textQuery{url: url, number: -1}); err != nil || s.Text != name {
			t.Errorf("the last copy of %s says %q, %v", url, s.Text, err)
		}
	}
}
