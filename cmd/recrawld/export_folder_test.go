package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// A folder has a file a page, in its last version by then, and what there was before is kept where it is not ours.
func TestExportToAFolder(t *testing.T) {
	t.Parallel()
	dir, out := filledData(t), t.TempDir()
	path := filepath.Join(out, "site")
	answer, complaint, code := desk(t, dir, "export", "-o", path+"/")
	if code != exitDone || complaint != "" || !strings.HasPrefix(answer, path+": 9 versions of 9 pages, ") {
		t.Fatalf("exit code %d, %s, %s", code, answer, complaint)
	}
	for _, name := range []string{"index.html", ".recrawl/pages.ndjson", ".recrawl/about.json", "docs.example.org/install.html", "blog.example.net/index.html"} {
		if there, err := os.Lstat(filepath.Join(path, name)); err != nil || !there.Mode().IsRegular() {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, complaint, code = desk(t, dir, "export", "-o", path+"/")
	if code != exitUsage || !strings.Contains(complaint, path+" is there already: --force replaces it") {
		t.Errorf("again: exit code %d, %s", code, complaint)
	}
	answer, complaint, code = desk(t, dir, "export", "docs.example.org/", "--to", "2026-10", "--format", "folder", "-o", path, "--force", "--json")
	var sum exported
	if err := json.Unmarshal([]byte(answer), &sum); err != nil || code != exitDone || sum.Versions != sum.Pages || sum.File != path || sum.Versions >= 9 {
		t.Errorf("by force: exit code %d, %v, %+v, %s", code, err, sum, complaint)
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 1 {
		t.Errorf("%v is left (%v), want the folder", left, err)
	}
	foreign := filepath.Join(out, "foreign")
	if err := errors.Join(os.Mkdir(foreign, 0o700), os.WriteFile(filepath.Join(foreign, "mine"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"--force -o " + foreign + "/":        foreign + " is there already and no former export of a folder",
		"--format folder":                    "name it with -o",
		"--format warc -o " + out + "/x/":    "names a folder, and --format warc is a file",
		"--format folder -o " + out + "/x/y": "x/y: stat ",
	} {
		answer, complaint, code := desk(t, dir, append([]string{"export"}, strings.Fields(line)...)...)
		if code != exitUsage || answer != "" || !strings.Contains(complaint, want) {
			t.Errorf("%s: exit code %d, %q, %q; want %q", line, code, answer, complaint, want)
		}
	}
}

// Links to a page that redirects lead to what it leads to, unless it did not yet at the time that is asked for.
func TestAFolderFollowsRedirectsAsTheyWere(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	fillMore(t, dir, addMoved)
	for to, want := range map[string]string{
		"":                             `<a href="install.html">`,
		filledNow.Format("2006-01-02"): `<a href="install.html">`,
		filledNow.Add(-12 * day).Format("2006-01-02"): `<a href="moved.html">`,
	} {
		path := filepath.Join(t.TempDir(), "site")
		if answer, complaint, code := desk(t, dir, "export", "--to", to, "--format", "folder", "-o", path); code != exitDone {
			t.Fatalf("to %q: exit code %d, %s%s", to, code, answer, complaint)
		}
		text, err := os.ReadFile(filepath.Join(path, "docs.example.org", "hub.html"))
		if err != nil || string(text) != want {
			t.Errorf("to %q: %s (%v), want %s", to, text, err, want)
		}
		list, err := os.ReadFile(filepath.Join(path, ".recrawl", "pages.ndjson"))
		listed := strings.Contains(string(list), `{"url":"https://docs.example.org/moved","file":"docs.example.org/install.html","redirect_to":"https://docs.example.org/install"}`)
		if err != nil || listed != strings.Contains(want, "install") {
			t.Errorf("to %q: %v, the redirect is listed: %t\n%s", to, err, listed, list)
		}
	}
}

// addMoved adds a page that redirects since nine days, and one that links to it.
func addMoved(f *filler) {
	const docs = "https://docs.example.org/"
	rest := func(p *models.Page, _ *models.Host) { p.DueAt = models.At(filledNow.Add(17 * time.Hour)) }
	f.page(1, docs+"hub", []step{{ago: 20 * day, kind: models.First, body: `<a href="/moved">`, frMax: 4}}, rest)
	f.page(1, docs+"moved", []step{{ago: 20 * day, kind: models.First, body: "<p>Here", frMax: 4}, {ago: 9 * day, kind: models.Moved, frMax: 4}},
		func(p *models.Page, h *models.Host) {
			rest(p, h)
			p.State, p.RedirectTo = models.StateMoved, docs+"install"
		})
}

// What the pages of a folder need to be shown is in it, also where it lies elsewhere, redirects, or was found by another site first; what
// others need is not.
func TestAFolderHasWhatItsPagesNeed(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	fillMore(t, dir, addNeeds)
	for _, of := range []string{"https://docs.example.org/guide/", "--site docs"} {
		path := filepath.Join(t.TempDir(), "site")
		answer, complaint, code := desk(t, dir, append([]string{"export", "--json", "--format", "folder", "-o", path}, strings.Fields(of)...)...)
		var sum exported
		if err := json.Unmarshal([]byte(answer), &sum); err != nil || code != exitDone || sum.Needs != 1 || sum.Refused != 1 || sum.Redirects != 1 {
			t.Fatalf("%s: exit code %d, %v, %+v%s", of, code, err, sum, complaint)
		}
		if strings.HasPrefix(of, "https") && (sum.Pages != 8 || sum.Needed != 7) {
			t.Errorf("%s: %+v, want 8 pages, 7 of them needed by others", of, sum)
		}
		for _, name := range []string{"docs.example.org/guide/index.html", "docs.example.org/style/main.css", "cdn.example.net/base.css", "cdn.example.net/a.png",
			"cdn.example.net/b.png", "cdn.example.net/app.js", "cdn.example.net/part.js"} {
			if there, err := os.Lstat(filepath.Join(path, filepath.FromSlash(name))); err != nil || !there.Mode().IsRegular() {
				t.Errorf("%s: %s: %v", of, name, err)
			}
		}
		for _, name := range []string{"cdn.example.net/other.png", "cdn.example.net/not.png"} {
			if _, err := os.Lstat(filepath.Join(path, filepath.FromSlash(name))); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %s is there (%v)", of, name, err)
			}
		}
		list, err := os.ReadFile(filepath.Join(path, ".recrawl", "pages.ndjson"))
		if n := strings.Count(string(list), `"url":"https://cdn.example.net/a.png"`); err != nil || n != 1 {
			t.Errorf("%s: an image that is needed twice is listed %d times (%v)", of, n, err)
		}
	}
}

// addNeeds adds a page that needs styles, whose images lie on a host that another site asked first.
func addNeeds(f *filler) {
	const docs, cdn = "https://docs.example.org/", "https://cdn.example.net/"
	rest := func(p *models.Page, _ *models.Host) { p.DueAt = models.At(filledNow.Add(17 * time.Hour)) }
	page := func(site int32, url, body string, needed bool, finish func(*models.Page, *models.Host)) {
		f.needed = needed
		f.page(site, url, []step{{ago: 9 * day, kind: models.First, body: body, frMax: 4}}, finish)
	}
	const guide = `<link rel=stylesheet href=/style/main.css><a href="` + cdn + `other.png"><img src="` + cdn + `a.png"><script type=module src="` + cdn + `app.js"></script>`
	f.needed = false
	f.page(1, docs+"guide/", []step{{ago: 9 * day, kind: models.First, body: guide, frMax: 4},
		{ago: 2 * day, kind: models.Changed, body: guide + "<p>new", frMax: 4, weight: 0.3, reasons: models.ReasonText}}, rest)
	page(1, docs+"style/main.css", `@import "`+cdn+`base.css"; a{background:url(`+cdn+`led.png) url(`+cdn+`not.png)}`, false, rest)
	page(2, cdn+"base.css", `@import "base.css"; a{background:url(a.png)}`, true, rest)
	page(2, cdn+"app.js", `import "./part.js"`, true, rest)
	page(2, cdn+"part.js", "export {}", true, rest)
	page(2, cdn+"a.png", "\x89PNG a", true, rest)
	page(2, cdn+"b.png", "\x89PNG b", true, rest)
	page(2, cdn+"other.png", "\x89PNG other", true, rest)
	page(2, cdn+"not.png", "\x89PNG not", true, func(p *models.Page, h *models.Host) {
		rest(p, h)
		p.NoArchive = true
	})
	page(2, cdn+"led.png", "\x89PNG led", true, func(p *models.Page, h *models.Host) {
		rest(p, h)
		p.State, p.RedirectTo = models.StateMoved, cdn+"b.png"
	})
}
