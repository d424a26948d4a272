package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"recrawld/config"
	"recrawld/models"
)

// indexServer takes documents as Elasticsearch does.
type indexServer struct {
	*httptest.Server
	mu        sync.Mutex
	documents map[string]indexedPage // by URL
	urls      map[string]string      // by ID, of all that ever were
	asked     int
}

func serveIndex(t *testing.T) *indexServer {
	t.Helper()
	s := &indexServer{documents: map[string]indexedPage{}, urls: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked++
		var items []string
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
			var action map[string]struct {
				ID string `json:"_id"`
			}
			if err := json.Unmarshal(lines.Bytes(), &action); err != nil {
				t.Errorf("no action: %s", lines.Bytes())
			}
			if drop, ok := action["delete"]; ok {
				delete(s.documents, s.urls[drop.ID])
				items = append(items, `{"delete": {"status": 200}}`)
				continue
			}
			var page indexedPage
			if !lines.Scan() || json.Unmarshal(lines.Bytes(), &page) != nil || page.ID != action["index"].ID {
				t.Errorf("no document for %v: %s", action, lines.Bytes())
			}
			s.documents[page.URL], s.urls[page.ID] = page, page.URL
			items = append(items, `{"index": {"status": 201}}`)
		}
		fmt.Fprintf(w, `{"items": [%s]}`, strings.Join(items, ","))
	}))
	t.Cleanup(s.Close)
	return s
}

// titled are its documents by their titles.
func (s *indexServer) titled() map[string]indexedPage {
	s.mu.Lock()
	defer s.mu.Unlock()
	titled := map[string]indexedPage{}
	for _, page := range s.documents {
		title := page.Title
		if _, twin := titled[title]; twin {
			title += " again"
		}
		titled[title] = page
	}
	return titled
}

// A search server has the pages that are there to be found, each once, with what they say, and none of them once their site is removed. It is
// given all anew by sink replay.
func TestAnIndexIsFed(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("What is said here is said nowhere else, and at some length. ", 5)
	site, server := serve(t, map[string]string{
		"/": `<title>Start</title><html lang=de><p><a href="/a.html">a</a> <a href="/twin.html">twin</a> <a href="/hidden.html">hidden</a>
			<a href="/away.html">away</a> <a href="/notes.txt">notes</a>`,
		"/a.html":      `<title>A</title><p>` + words,
		"/twin.html":   `<title>A</title><p>` + words,
		"/hidden.html": `<title>Hidden</title><meta name=robots content=noindex><p>Not for everybody.`,
		"/notes.txt":   "Some notes.",
	}), serveIndex(t)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("u:p\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path, _ := configure(t, fmt.Sprintf("indexes:\n  docs: {form: elasticsearch, url: \"%s\", index: docs, token: \"${file:%s}\", private: on}\n", server.URL, token))
	found := func() bool {
		return slices.Equal(slices.Sorted(maps.Keys(server.titled())), []string{"", "A", "Start"}) // of twins one
	}
	runUntil(t, found, "run", "-c", path, site.URL)
	a, start := server.titled()["A"], server.titled()["Start"]
	server.mu.Lock()
	clear(server.documents)
	server.mu.Unlock()
	if a.Text != strings.TrimSpace(words) || a.Site == "" || a.Version != 1 || a.FirstSeen == nil || a.ChangedAt == nil || start.Language != "de" {
		t.Errorf("documents are %+v and %+v", a, start)
	}
	must(t, "sink", "replay", "-c", path, "index:docs")
	if !found() {
		t.Errorf("given anew: %v", server.titled())
	}
	if text := must(t, "sink", "list", "-c", path); !strings.Contains(text, "docs of elasticsearch at 127.0.0.1:") {
		t.Errorf("sink list says\n%s", text)
	}
	must(t, "remove", "-c", path, "--yes", strings.TrimPrefix(site.URL, "http://"))
	runUntil(t, func() bool { return len(server.titled()) == 0 }, "run", "-c", path)
}

// A search server loses the documents of a site that is taken out of its sites, also where the site was removed before, and is filled in with those
// of one that comes in; what another one brings to the same index stays.
func TestAnIndexIsGivenOtherSites(t *testing.T) {
	t.Parallel()
	said := func(name string) map[string]string {
		return map[string]string{"/": "<title>" + name + "</title><p>" + strings.Repeat("This is "+name+" and says so at length. ", 5)}
	}
	one, two, three, server := serve(t, said("One")), serve(t, said("Two")), serve(t, said("Three")), serveIndex(t)
	path, data := configure(t, "")
	sites := fmt.Sprintf("sites:\n  - {name: one, url: \"%s\"}\n  - {name: two, url: \"%s\"}\n  - {name: three, url: \"%s\"}\n", one.URL, two.URL, three.URL)
	index := fmt.Sprintf("{form: elasticsearch, url: \"%s\", index: docs, private: on, sites: ", server.URL)
	given := func(docs, more string) {
		lines := "indexes:\n  docs: " + index + docs + "}\n"
		if more != "" {
			lines += "  more: " + index + more + "}\n"
		}
		writeConfig(t, path, data, sites+lines)
	}
	wait := func(want ...string) {
		t.Helper()
		runUntil(t, func() bool { return slices.Equal(slices.Sorted(maps.Keys(server.titled())), want) }, "run", "-c", path)
	}
	given("[one, two]", "")
	wait("One", "Two")
	given("[two, three]", "")
	wait("Three", "Two")
	given("[two]", "[three]")
	wait("Three", "Two")
	given("[two]", "") // an entry that is taken out drops nothing
	must(t, "sink", "replay", "-c", path, "index:docs")
	wait("Two")
	given("[two, three]", "")
	wait("Three", "Two")
	sites = fmt.Sprintf("sites:\n  - {name: two, url: \"%s\"}\n  - {name: three, url: \"%s\"}\n", two.URL, three.URL)
	given("[one, two]", "")
	wait("One", "Two")
	sites = strings.ReplaceAll(sites, "name: two", "name: other")
	given("[three]", "")
	must(t, "remove", "-c", path, "--yes", "one")
	wait("Three")
}

// Two entries are of one index however its server's address is written: else one that is made anew would drop what the other brings.
func TestAnIndexByAnotherSpelling(t *testing.T) {
	t.Parallel()
	one := config.Index{Name: "one", Form: config.IndexSolr, URL: "https://search.example.net/solr", Index: "docs"}
	for url, want := range map[string]bool{"https://search.example.net/solr": true, "https://search.example.net/solr/": true, "HTTPS://Search.Example.net:443/solr": true,
		"https://search.example.net/Solr": false, "https://search.example.net:8443/solr": false, "http://search.example.net/solr": false, "https://search.example.org/solr": false} {
		other := one
		other.Name, other.URL = "two", url
		c := config.Config{Indexes: []config.Index{one, other}}
		if got := len(othersInto(&c, &c.Indexes[0])) == 1; got != want {
			t.Errorf("%s is the index at %s: %v, want %v", url, one.URL, got, want)
		}
	}
}

// What a search server has of a page stays where the page's newest version is not found, as where it was pruned a moment after the page was
// read; of one that nobody knows any more nothing stays.
func TestAnIndexKeepsWhatIsOnlyNotFound(t *testing.T) {
	t.Parallel()
	dsn := liteFile(t)
	f, b := filling(t, dsn)
	f.appears("there")
	f.appears("pruned")
	db, err := sql.Open("sqlite", dsn)
	f.must(err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "DELETE FROM versions WHERE page_id = ?", models.PageID("https://docs.example.org/pruned"))
	f.must(err)
	for name, want := range map[string]string{"there": "written", "pruned": "waits", "never": "dropped"} {
		d, err := documentOf(t.Context(), b, "https://docs.example.org/"+name)
		f.must(err)
		got := "dropped"
		switch {
		case d.Why != nil:
			got = "waits"
		case d.Fields != nil:
			got = "written"
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", name, got, d.Why, want)
		}
	}
}

// The beginning of a long text ends with a line, or at least with a letter.
func TestFirstOfAText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		most int
		want string
	}{{"one\ntwo", 10, "one\ntwo"}, {"one\ntwo", 5, "one"}, {"ééé", 3, "é"}, {"\n\n", 1, "\n"}} {
		if got := firstOf(test.text, test.most); got != test.want {
			t.Errorf("firstOf(%q, %d) = %q, want %q", test.text, test.most, got, test.want)
		}
	}
}
