package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A robots.txt that is redirected takes a request more, and holds as any other.
func TestAddFollowsARobotsFileThatIsElsewhere(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<p><a href="/open">yes</a> <a href="/closed">no</a>`))
	})
	mux.Handle("/robots.txt", http.RedirectHandler("/once", http.StatusMovedPermanently))
	mux.Handle("/once", http.RedirectHandler("/twice", http.StatusFound))
	mux.HandleFunc("/twice", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /closed\nDisallow: /sitemap.xml\n"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	config, _ := configure(t, "")
	var s survey
	if err := json.Unmarshal([]byte(must(t, "add", "-c", config, "--yes", "--json", server.URL)), &s); err != nil {
		t.Fatal(err)
	}
	if s.Requests != 5 || s.Robots.Status != http.StatusOK || s.Links != 1 {
		t.Errorf("%d requests, robots.txt %+v, %d links, want 5 (3 of them for robots.txt), status 200 and 1", s.Requests, s.Robots, s.Links)
	}
}

// TestAddCountsWhatPagesNeed: the start page and two more need a style and an image of their own each, and a script of another host.
func TestAddCountsWhatPagesNeed(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"/robots.txt": ""}
	for path, links := range map[string]string{"/docs/": "<a href=a><a href=b><a href=c><a href=d>", "/docs/a": "", "/docs/b": "", "/docs/c": "", "/docs/d": ""} {
		pages[path] = links + `<link rel=stylesheet href=/main.css><script src=//cdn.example/x.js></script><img src="/img` + path + `.png">`
	}
	site := serve(t, pages)
	look := func(settings string) (string, survey) {
		config, _ := configure(t, "")
		writeDefaults(t, config, settings)
		var s survey
		if err := json.Unmarshal([]byte(must(t, "add", "-c", config, "--yes", "--json", site.URL+"/docs/")), &s); err != nil {
			t.Fatal(err)
		}
		return must(t, "add", "-c", config, "--yes", site.URL+"/docs/"), s
	}
	text, off := look("off")
	if want := (surveyNeeds{Setting: "off", Here: 2, Elsewhere: 1, Hosts: 1}); off.Needs != want || off.Cost.Pages != 5 {
		t.Errorf("with requisites: off: %+v and %d pages, want %+v and 5", off.Needs, off.Cost.Pages, want)
	}
	if want := "  requisites  2 images, styles … a page here, 1 on 1 other host; off: none is kept, --requisites all keeps them\n"; !strings.Contains(text, want) {
		t.Errorf("add does not say %q:\n%s", want, text)
	}
	_, near := look("site")
	text, all := look("all")
	if near.Needs.Kept != 6 || all.Needs.Kept != 7 || near.Cost.Pages != 11 || all.Cost.Pages != 11 {
		t.Errorf("kept: %d of this host and %d in all, %d and %d pages here, want 6, 7, 11 and 11", near.Needs.Kept, all.Needs.Kept, near.Cost.Pages, all.Cost.Pages)
	}
	if all.Cost.PerDay != near.Cost.PerDay+1 || near.Cost.PerDay != off.Cost.PerDay+6 || all.Cost.BytesPerDay != off.Cost.BytesPerDay {
		t.Errorf("cost of off, site and all: %+v, %+v, %+v", off.Cost, near.Cost, all.Cost)
	}
	if want := "; about 7 kept\n"; !strings.Contains(text, want) || !strings.Contains(text, " of pages a day") {
		t.Errorf("add does not say %q, and that the bytes are of pages:\n%s", want, text)
	}
}

// TestAddSaysWhatIsNotKnownYet: without a sitemap, what the start page links to is the least that there is. A page that wants no link of
// it to be followed is all, and it is said why.
func TestAddSaysWhatIsNotKnownYet(t *testing.T) {
	t.Parallel()
	for page, want := range map[string][]string{
		"<a href=/a><a href=/b>":                         {"2 links from the start page to begin with", "at least ", ": 3 pages so far", "comes on top", "at least 3 requests"},
		"<meta name=robots content=nofollow><a href=/a>": {"asks that its links be not followed", "about ", " for 1 page,", "about 1 request"},
		"<p>There is nothing more.":                      {"0 links from the start page", "about ", " for 1 page,", "about 1 request"},
	} {
		site := serve(t, map[string]string{"/": page, "/a": "a", "/b": "b"})
		config, _ := configure(t, "")
		text := must(t, "add", "-c", config, "--yes", site.URL)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("add of %q does not say %q:\n%s", page, part, text)
			}
		}
	}
}

// TestAddLooksWhereTheStartPageLeads: it may redirect to a page of its site, as to the one in a visitor's language, and to none of another.
func TestAddLooksWhereTheStartPageLeads(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			http.Redirect(w, r, "/en/", http.StatusFound)
		case "/en/":
			fmt.Fprint(w, "<html><a href=a>A</a><a href=b>B</a>")
		case "/away/":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			fmt.Fprint(w, "<html>page")
		}
	}))
	t.Cleanup(site.Close)
	config, _ := configure(t, "")
	text := must(t, "add", "-c", config, "--yes", site.URL+"/")
	for _, part := range []string{"leads to    " + site.URL + "/en/\n", "2 links from the start page", ": 3 pages so far", "scope       " + site.URL + "/**"} {
		if !strings.Contains(text, part) {
			t.Errorf("add does not say %q:\n%s", part, text)
		}
	}
	if code, _, complaint := command(t, "add", "-c", config, "--yes", site.URL+"/away/"); code != exitFailed || !strings.Contains(complaint, "redirects to "+site.URL+"/: add that") {
		t.Errorf("add of what leads out of its site ends with code %d and says %q", code, complaint)
	}
}

// TestAddKeepsTheSitemapThatItFound: where robots.txt names none, the one at the customary place is a page as well, so that it tells of changes
// and of new pages from then on. The start page that stands in it is one of the site's.
func TestAddKeepsTheSitemapThatItFound(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"/": "<a href=/a>", "/a": "a", "/docs/": "docs"}
	site := serve(t, pages)
	pages["/sitemap.xml"] = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>" + site.URL + "/</loc></url><url><loc>" + site.URL + "/a</loc></url></urlset>"
	for _, test := range []struct {
		start, lists string
		want         int
	}{
		{"/", "pages", exitDone}, {"/", "changes", exitDone}, {"/", "off", exitNotFound}, {"/docs/", "pages", exitNotFound},
	} {
		config, _ := configure(t, "")
		writeDefaults(t, config, "off, lists: "+test.lists)
		text := must(t, "add", "-c", config, "--yes", site.URL+test.start)
		if want := "2 URLs in 1 file, 2 of them this site's"; test.start == "/" && !strings.Contains(text, want) {
			t.Errorf("add does not say %q:\n%s", want, text)
		}
		if code, _, stderr := command(t, "why", "-c", config, site.URL+"/sitemap.xml"); code != test.want {
			t.Errorf("after add of %s with lists: %s, why of its sitemap ends with code %d, want %d: %s", test.start, test.lists, code, test.want, stderr)
		}
	}
}

// TestAddFollowsASitemapThatRedirects: the sitemap at the customary place leads on at many a site, and so do some that robots.txt names.
func TestAddFollowsASitemapThatRedirects(t *testing.T) {
	t.Parallel()
	var robots string
	var site *httptest.Server
	site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, robots)
		case "/sitemap.xml", "/old.xml":
			http.Redirect(w, r, "/wp-sitemap.xml", http.StatusMovedPermanently)
		case "/round.xml":
			http.Redirect(w, r, "/round.xml", http.StatusFound)
		case "/wp-sitemap.xml":
			fmt.Fprintf(w, "<urlset><url><loc>%s/a</loc></url><url><loc>%[1]s/b</loc></url></urlset>", site.URL)
		default:
			fmt.Fprint(w, "<html>page")
		}
	}))
	t.Cleanup(site.Close)
	for _, robots = range []string{"", "Sitemap: /old.xml\nSitemap: /round.xml\n"} {
		config, _ := configure(t, "")
		text := must(t, "add", "-c", config, "--yes", site.URL+"/")
		if want := "2 URLs in 1 file, 2 of them this site's"; !strings.Contains(text, want) {
			t.Errorf("with robots.txt %q add does not say %q:\n%s", robots, want, text)
		}
		if robots == "" {
			must(t, "why", "-c", config, site.URL+"/sitemap.xml")
		}
	}
}

// TestRequisitesByAFlag: whoever has no configuration file says on the command line that they are kept.
func TestRequisitesByAFlag(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"/docs/": `<p>A page with an image.<img src="/image.xml">`, "/image.xml": "<svg/>"}
	site := serve(t, pages)
	config, data := configure(t, "")
	var s survey
	if err := json.Unmarshal([]byte(must(t, "add", "-c", config, "--yes", "--json", "--requisites", "site", site.URL+"/docs/")), &s); err != nil {
		t.Fatal(err)
	}
	if got := dumpOf(t, data).Sites[0].Settings; s.Needs.Kept != 1 || got != "requisites: site\n" {
		t.Errorf("%d requisites are kept, by the settings %q; want one and that setting", s.Needs.Kept, got)
	}
	site = serve(t, pages) // which nobody has asked yet
	config, data = configure(t, "")
	p := launch(t, nil, "run", "-c", config, "--requisites", "all", site.URL+"/docs/")
	site.isAsked(t, "/image.xml")
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, p.output())
	}
	if page := pageIn(t, dumpOf(t, data), site.URL+"/image.xml"); !page.Requisite || page.Version != 1 {
		t.Errorf("the image is %+v, want it found as a requisite, and a version of it", page)
	}
	if code, _, stderr := command(t, "run", "-c", config, "--requisites", "alle"); code != exitUsage || !strings.Contains(stderr, "did you mean all") {
		t.Errorf("a word that is none: exit code %d, %s", code, stderr)
	}
}

// writeDefaults has a configuration keep requisites.
func writeDefaults(t *testing.T, path, requisites string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.Replace(text, []byte("delay: 0s"), []byte("delay: 0s, requisites: "+requisites), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAddHoldsTheCostAgainstTheBudget: what a budget pays for is no first pass in an hour, nor every page each day. First visits come beside
// what is spent for each page known.
func TestAddHoldsTheCostAgainstTheBudget(t *testing.T) {
	t.Parallel()
	site := siteWithSitemap(t)
	for lines, want := range map[string]struct {
		first, perDay float64 // seconds, requests
		parts         []string
	}{
		"budget: 7/day\n": {3 * 86400, 7, []string{"at least 3 d for 21 pages, by the budget of all sites of 7/day\n", "about 7 requests",
			", a page each 3 d on average (the budget of all sites of 7/day allows no more)\n"}},
		"budget: 42/day\n":          {43200, 42, []string{"at least 12 h for 21 pages, by", ", a page each 12 h on average (the budget"}},
		"budget: 420/day\n":         {4320, 84, []string{"at least 1.2 h for 21 pages, by", "about 84 requests", ", a page each 6 h on average\n"}},
		"budget: 0.5/page/day\n":    {0, 10.5, []string{"for 21 pages, 10 ms apart", "of all sites of 0.5/page/day allows no more)\n"}},
		"budget: {bytes: 1KiB/day}": {0, 84, []string{"for 21 pages, by the budget of all sites of 1KiB/day\n"}},
		"":                          {0, 21, []string{"for 21 pages, 10 ms apart", "each 24 h to begin with\n"}},
	} {
		config, _ := configure(t, lines)
		var s survey
		if err := json.Unmarshal([]byte(must(t, "add", "-c", config, "--yes", "--json", site.URL+"/docs/")), &s); err != nil {
			t.Fatal(err)
		}
		if want.first != 0 && s.Cost.FirstSeconds != want.first || s.Cost.PerDay != want.perDay {
			t.Errorf("with %q it costs %+v, want a first pass of %v s and %v requests a day", lines, s.Cost, want.first, want.perDay)
		}
		text := must(t, "add", "-c", config, "--yes", site.URL+"/docs/")
		for _, part := range want.parts {
			if !strings.Contains(text, part) {
				t.Errorf("with %q add does not say %q:\n%s", lines, part, text)
			}
		}
	}
}
