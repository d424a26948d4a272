package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/models"
	"recrawld/recrawl/canon"
)

// dumpOf reads the whole database of a data directory.
func dumpOf(t *testing.T, data string) models.Dump {
	t.Helper()
	store, err := models.Open(t.Context(), filepath.Join(data, databaseFile), models.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	dump, err := store.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return dump
}

// siteWithSitemap publishes 30 pages in a sitemap; robots.txt keeps 10 of them out.
func siteWithSitemap(t *testing.T) *testSite {
	t.Helper()
	pages := map[string]string{"/docs/": "<title>Docs</title><p>Hello."}
	site := serve(t, pages)
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for i := range 30 {
		part := map[bool]string{true: "docs/private", false: "docs"}[i >= 20]
		path := fmt.Sprintf("/%s/%d.html", part, i)
		pages[path] = fmt.Sprintf("<title>%d</title><p>Page %d.", i, i)
		fmt.Fprintf(&b, "<url><loc>%s%s</loc><lastmod>2026-11-01</lastmod></url>", site.URL, path)
	}
	fmt.Fprintf(&b, "<url><loc>%s/elsewhere.html</loc></url></urlset>", site.URL)
	pages["/list.xml"] = b.String()
	pages["/robots.txt"] = "User-agent: *\nDisallow: /docs/private/\nCrawl-delay: 0.01\nSitemap: " + site.URL + "/list.xml\n"
	return site
}

func TestAddLooksBeforeItAdds(t *testing.T) {
	t.Parallel()
	site := siteWithSitemap(t)
	config, data := configureAnew(t, "")
	code, _, stderr := command(t, "add", "-c", config, site.URL+"/docs/")
	if code != exitUsage || !strings.Contains(stderr, "--yes") {
		t.Errorf("add without anybody to ask: exit code %d, said %q", code, stderr)
	}
	if _, err := os.Stat(data); err == nil {
		t.Errorf("add wrote into %s although nobody had said yes", data)
	}
	var s survey
	if err := json.Unmarshal([]byte(must(t, "add", "-c", config, "--yes", "--json", "--fr", "2", site.URL+"/docs/")), &s); err != nil {
		t.Fatal(err)
	}
	want := surveySitemaps{Files: 1, URLs: 31, InScope: 20, LastMod: 30, Robots: 10}
	if s.Sitemaps != want {
		t.Errorf("sitemaps %+v, want %+v", s.Sitemaps, want)
	}
	if s.Probes.Pages != 3 || s.Probes.ETag != 3 || s.Probes.Again != "not-modified" || s.Robots.CrawlDelay != 0.01 {
		t.Errorf("probes %+v, robots %+v; want 3 pages with ETags that work and the crawl-delay", s.Probes, s.Robots)
	}
	if s.Cost.Pages != 21 || s.Cost.EverySeconds != 12*3600 || s.Cost.PerDay != 42 {
		t.Errorf("cost %+v, want 21 pages every 12 h: 42 a day", s.Cost)
	}
	dump := dumpOf(t, data)
	if len(dump.Pages) != 21 || len(dump.Sites) != 1 || dump.Sites[0].Settings != "fr: 2\n" {
		t.Errorf("%d pages, sites %+v; want 21 and one with fr: 2", len(dump.Pages), dump.Sites)
	}
}

// A cycle of a cron schedule counts as long as it is, and not as long as it is until it begins next.
func TestAddCountsCronCyclesAsLongAsTheyAre(t *testing.T) {
	t.Parallel()
	site := serve(t, map[string]string{"/": "<title>Start</title>"})
	config, _ := configure(t, "cycle: \"0 3 * * *\"\n")
	var s survey
	if err := json.Unmarshal([]byte(must(t, "add", "-c", config, "--yes", "--json", "--fr", "2", site.URL+"/")), &s); err != nil {
		t.Fatal(err)
	}
	if s.Cost.EverySeconds != 48*3600 {
		t.Errorf("two cycles of a day take %v s, want 48 h", s.Cost.EverySeconds)
	}
}

// Selectors are looked for before a site is added, and those that nothing has are named.
func TestAddLooksForSelectors(t *testing.T) {
	t.Parallel()
	site := siteWithSitemap(t)
	config, data := configure(t, "")
	answer := must(t, "add", "-c", config, "--yes", "--ignore", "body > aside:not(.clock, .advert)", "--ignore", "a", "--watch", "#prices", site.URL+"/docs/")
	for _, want := range []string{"body > aside:not(.clock, .advert)", "#prices", "none of the 3 pages"} {
		if !strings.Contains(answer, want) {
			t.Errorf("add does not say %q:\n%s", want, answer)
		}
	}
	if strings.Contains(answer, "; a;") {
		t.Errorf("add complains about a selector that matches:\n%s", answer)
	}
	want := "watch: [\"#prices\"]\nignore: [\"body > aside:not(.clock, .advert)\", \"a\"]\n"
	if got := dumpOf(t, data).Sites[0].Settings; got != want {
		t.Errorf("settings %q, want %q", got, want)
	}
	if code, _, complaint := command(t, "add", "-c", config, "--yes", "--ignore", "p[", site.URL+"/docs/"); code != exitUsage || !strings.Contains(complaint, "no CSS selector") {
		t.Errorf("a bad selector: exit code %d, %q", code, complaint)
	}
}

func TestAddRefusesWhatRobotsForbids(t *testing.T) {
	t.Parallel()
	site := siteWithSitemap(t)
	config, data := configureAnew(t, "")
	code, stdout, _ := command(t, "add", "-c", config, "--yes", site.URL+"/docs/private/20.html")
	if code != exitRefused || !strings.Contains(stdout, "/docs/private/") {
		t.Errorf("exit code %d, said %q; want %d and the line of robots.txt", code, stdout, exitRefused)
	}
	if code, _, stderr := command(t, "add", "-c", config, "--yes", site.URL+"/nothing"); code != exitNotFound {
		t.Errorf("a start URL that is not there: exit code %d, said %q; want %d", code, stderr, exitNotFound)
	}
	if code, _, stderr := command(t, "add", "-c", config, "--yes", "https://example.org/"); code != exitRefused {
		t.Errorf("no contact: exit code %d, said %q; want %d", code, stderr, exitRefused)
	}
	if _, err := os.Stat(data); err == nil {
		t.Errorf("refused, but it wrote into %s", data)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	c := cost(100, day, 10*time.Second, 0, 1000, 1)
	if c.FirstSeconds != 1000 || c.PerDay != 100 || c.BytesPerDay != 100_000 || c.Limited {
		t.Errorf("100 pages a day, 10 s apart: %+v", c)
	}
	c = cost(100_000, day, 10*time.Second, 0, 1000, 1)
	if c.PerDay != 8640 || !c.Limited {
		t.Errorf("more than the delay allows: %+v, want 8640 requests a day and Limited", c)
	}
	if c := cost(1, 0, 0, 0, 0, 0); c.PerDay <= 0 {
		t.Errorf("cost of nothing in particular = %+v", c)
	}
}

func TestImportAddsPagesAndSites(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "agent: {contact: me@example.net}\nsites: [{url: \"https://docs.example.org/guide/\"}]\n")
	list := "url,fr\nhttps://one.example.org/a\nhttps://one.example.org/b,7\nhttps://two.example.org:8443/\n" +
		"https://one.example.org/a\nnonsense\nhttps://one.example.org/" + strings.Repeat("x/", 30) + "\n"
	code, stdout, stderr := commandWith(t, list, "import", "-c", config, "--json")
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var got importCounts
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if got.Lines != 6 || got.Added != 3 || got.Known != 1 || got.Bad != 2 || got.Sites != 2 || len(got.Shown) != 2 {
		t.Errorf("counts %+v; want 6 lines, 3 added, 1 known, 2 bad and shown, 2 new sites", got)
	}
	frs := make(map[string]int32)
	for _, p := range dumpOf(t, data).Pages {
		frs[p.URL] = p.FRMax
	}
	if frs["https://one.example.org/b"] != 7 || frs["https://one.example.org/a"] != 4 {
		t.Errorf("intervals %v, want 7 for b as the list says and 4 for a", frs)
	}
	code, _, stderr = commandWith(t, "https://one.example.org/c\n", "import", "-c", config, "--site", "nowhere")
	if code != exitNotFound || !strings.Contains(stderr, "one.example.org") {
		t.Errorf("import into no site: exit code %d, said %q; want the names there are", code, stderr)
	}
	code, stdout, _ = commandWith(t, "https://two.example.org:8443/x\nhttps://one.example.org/c\n", "import", "-c", config,
		"--site", "one.example.org")
	if code != exitDone || !strings.Contains(stdout, "1 page added") || !strings.Contains(stdout, "line 1: outside") {
		t.Errorf("import into one site: exit code %d, said %q; want the other host's line shown as bad", code, stdout)
	}
}

func TestRestoreGoesBackAndKeepsBoth(t *testing.T) {
	t.Parallel()
	site := serve(t, smallSite)
	config, data := configure(t, "")
	runUntil(t, func() bool { return len(dumpOf(t, data).Versions) == len(smallSite) }, "run", "-c", config, site.URL)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	must(t, "backup", "-c", config, checkpoint)
	before, err := os.ReadFile(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	then := dumpOf(t, data)
	must(t, "remove", "-c", config, "--yes", strings.TrimPrefix(site.URL, "http://"))
	if n := len(dumpOf(t, data).Pages); n != 0 {
		t.Fatalf("%d pages after the site was removed", n)
	}
	must(t, "restore", "-c", config, "--yes", checkpoint)
	now := dumpOf(t, data)
	if len(now.Pages) != len(then.Pages) || len(now.Visits) != len(then.Visits) || len(now.Versions) != len(then.Versions) {
		t.Errorf("%d pages, %d visits, %d versions after going back; want %d, %d, %d", len(now.Pages), len(now.Visits),
			len(now.Versions), len(then.Pages), len(then.Visits), len(then.Versions))
	}
	if after, err := os.ReadFile(checkpoint); err != nil || string(after) != string(before) {
		t.Errorf("going back changed the checkpoint (%v)", err)
	}
	if kept, err := filepath.Glob(filepath.Join(data, databaseFile+".before-*")); err != nil || len(kept) == 0 {
		t.Errorf("what was there before is not kept: %v, %v", kept, err)
	}
	must(t, "run", "-c", config, "--for", "1s")
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(damaged, before[:len(before)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := command(t, "restore", "-c", config, "--yes", damaged)
	if code != exitFailed || len(dumpOf(t, data).Pages) != len(then.Pages) {
		t.Errorf("going back to half a checkpoint: exit code %d, said %q; want a refusal and the pages as they were", code, stderr)
	}
}

// TestFault_084_SinkReplayMakesTheMirrorAnew: somebody changed one file of the mirror, deleted another and put a link in the
// place of a third.
func TestFault_084_SinkReplayMakesTheMirrorAnew(t *testing.T) {
	t.Parallel()
	site := serve(t, smallSite)
	config, data := configure(t, "")
	tree := filepath.Join(data, "mirror", strings.NewReplacer("http://", "", ":", "_").Replace(site.URL))
	runUntil(t, func() bool {
		_, err := os.Stat(filepath.Join(tree, "b/index.html"))
		_, other := os.Stat(filepath.Join(tree, "a.html"))
		return err == nil && other == nil
	}, "run", "-c", config, site.URL)
	outside := filepath.Join(t.TempDir(), "outside")
	replay := func(who string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(filepath.Join(tree, "a.html"), []byte("spoilt"), 0o600), os.WriteFile(outside, []byte("theirs"), 0o600),
			os.Remove(filepath.Join(tree, "index.html")), os.Remove(filepath.Join(tree, "b/index.html")),
			os.Symlink(outside, filepath.Join(tree, "b/index.html"))); err != nil {
			t.Fatal(err)
		}
		must(t, "sink", "replay", "-c", config, "mirror")
		for name, path := range map[string]string{"a.html": "/a.html", "index.html": "/", "b/index.html": "/b/"} {
			if got, err := os.ReadFile(filepath.Join(tree, name)); err != nil || string(got) != smallSite[path] {
				t.Errorf("made anew by %s %s is %q, %v; want what the site served", who, name, got, err)
			}
		}
		if got, err := os.ReadFile(outside); err != nil || string(got) != "theirs" {
			t.Errorf("made anew by %s, what the link led to is %q, %v", who, got, err)
		}
	}
	replay("the command")
	p := launch(t, nil, "run", "-c", config)
	p.tells("READY=1")
	replay("the daemon")
	if got := must(t, "sink", "list", "-c", config); !strings.Contains(got, "mirror") {
		t.Errorf("sink list said %q", got)
	}
	if code, _, _ := command(t, "sink", "replay", "-c", config, "nothing"); code != exitNotFound {
		t.Errorf("replay of no sink: exit code %d, want %d", code, exitNotFound)
	}
}

func TestCommandsSayThatThereIsNothingYet(t *testing.T) {
	t.Parallel()
	config, _ := configureAnew(t, "")
	for _, args := range [][]string{{"pause", "--all"}, {"remove", "--yes", "x"}, {"backup"}, {"visit", "http://127.0.0.1/"}, {"sink", "list"}, {"status"}} {
		code, _, stderr := command(t, append(args, "-c", config)...)
		if code != exitNotFound || !strings.Contains(stderr, "yet") {
			t.Errorf("%v on no data: exit code %d, said %q; want %d and why", args, code, stderr, exitNotFound)
		}
	}
}

func TestNextBackup(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		names []string
		want  time.Time
	}{
		{nil, now.Add(8 * time.Hour)},
		{[]string{"recrawld-20261120T100000Z.backup", "recrawld-20261119T100000Z.backup"}, now.Add(6 * time.Hour)},
		{[]string{"recrawld-20261101T100000Z.backup"}, now.Add(time.Minute)},
		{[]string{"recrawld-20270101T100000Z.backup"}, now.Add(8 * time.Hour)},
	} {
		if got := nextBackupAfter(now, now, test.names, 8*time.Hour, time.Minute); !got.Equal(test.want) {
			t.Errorf("after %v the next is at %v, want %v", test.names, got, test.want)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line   string
		preset bool
		want   bool
	}{
		{"\n", true, true}, {"\n", false, false}, {"", true, false}, {"y\n", false, true}, {"Yes\n", false, true},
		{"n\n", true, false}, {"what?\n", true, false},
	} {
		if got := answer(test.line, test.preset); got != test.want {
			t.Errorf("answer(%q, %v) = %v, want %v", test.line, test.preset, got, test.want)
		}
	}
}

func TestFreeName(t *testing.T) {
	t.Parallel()
	u, err := canon.Parse("https://example.org/docs/")
	if err != nil {
		t.Fatal(err)
	}
	rows := []models.Site{{Name: "example.org"}, {Name: "example.org-2"}}
	if got := freeName(rows, u); got != "example.org-3" {
		t.Errorf("freeName = %q, want example.org-3", got)
	}
}

// TestImportReadsAListOfRootsAlone: sudo recrawld import FILE gives root up for the data directory, but not before it has the list.
func TestImportReadsAListOfRootsAlone(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	const nobody = 65534
	dir := t.TempDir()
	data, list := filepath.Join(dir, "data"), filepath.Join(dir, "list.csv")
	if err := errors.Join(os.WriteFile(list, []byte("http://127.0.0.1:9/a\n"), 0o600), os.Mkdir(data, 0o700), os.Chown(data, nobody, nobody),
		os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"a directory without a database", "one with a database"} {
		p := launch(t, nil, "import", "--data", data, list)
		if code := p.ends(); code != exitDone {
			t.Errorf("into %s: exit code %d:\n%s", what, code, p.output())
		}
	}
}
