package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/models"
	"recrawld/web"
)

// TestAPublisherAnnouncesWhatChanged: of the pages that he names those that wait are visited, those that are not known are found, and
// what came of it goes into the ledger of the host. Others' keys and hosts are refused.
func TestAPublisherAnnouncesWhatChanged(t *testing.T) {
	t.Parallel()
	const key = "the-publishers-key"
	site := serve(t, smallSite)
	config, _ := configure(t, "sites:\n  - {url: \""+site.URL+"/\", indexnow: "+key+", filter: {not: {extension: [zip]}}}\n")
	p := launch(t, nil, "run", "-c", config, "--listen", "127.0.0.1:0", "--log", "json")
	p.tells("READY=1")
	p.says(`"listen":"http`)
	address := listens.FindStringSubmatch(p.output())[1] + "/indexnow"
	awaits(t, "all pages are known", func() bool {
		return strings.Count(must(t, "changes", "-c", config, "--after", "all", "--json"), site.URL+"/a.html") > 0
	})
	site.isAsked(t, "/a.html")
	host := strings.TrimPrefix(site.URL, "http://")
	status, body := announces(t, address, map[string]any{"host": host, "key": key,
		"urlList": []string{site.URL + "/a.html", site.URL + "/a.html#part", site.URL + "/fresh.html", site.URL + "/fresh.zip"}})
	var got web.Announced
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s, %v", status, body, err)
	}
	if want := (web.Announced{Added: 1, Next: 1, LeftOut: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for left := map[string]bool{"/a.html": true, "/fresh.html": true}; len(left) > 0; delete(left, <-site.asked) { // in whatever order
	}
	awaits(t, "the ledger of its host tells of it", func() bool {
		return strings.Contains(strings.Join(strings.Fields(must(t, "report", "hints", "-c", config, "--json")), ""), `"hint":"indexnow","hits":0,"misses":0,"false_alarms":1`)
	})
	for want, body := range map[int]map[string]any{
		http.StatusForbidden:           {"host": host, "key": "another-publisher", "urlList": []string{site.URL + "/"}},
		http.StatusUnprocessableEntity: {"host": host, "key": key, "urlList": []string{site.URL + "/", "http://192.0.2.1/"}},
	} {
		if status, text := announces(t, address, body); status != want {
			t.Errorf("%v = %d %s, want %d", body, status, text, want)
		}
	}
	p.signal(syscall.SIGTERM)
	p.ends()
}

// announces is what a publisher's program does.
func announces(t *testing.T, address string, said map[string]any) (status int, body string) {
	t.Helper()
	text, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(read)
}

// TestWhatIsAnnouncedIsSortedBySite: each page once, by the first site with the key in whose scope it lies; what its filter drops is no
// news, and may be known.
func TestWhatIsAnnouncedIsSortedBySite(t *testing.T) {
	t.Parallel()
	c := config.Default()
	var rows []models.Site
	for i, raw := range []string{"https://h.example/docs/", "https://h.example/news/", "https://h.example/others/"} {
		site, err := config.NewSite(string(rune('a'+i)), raw, c.Defaults)
		if err != nil {
			t.Fatal(err)
		}
		site.ID = int32(i + 1)
		site.Settings.IndexNow.Value = []string{"the-first-key", "the-first-key", ""}[i]
		c.Sites = append(c.Sites, site)
		rows = append(rows, models.Site{ID: site.ID, Name: site.Name, URL: site.URL, FromFile: true})
	}
	force, err := putTogether(c, nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	sites := force.published("the-first-key")
	if len(sites) != 2 || len(force.published("")) != 0 {
		t.Fatalf("%d sites have the key, %d none; want 2 and 0", len(sites), len(force.published("")))
	}
	about, pages, err := announced(web.Announcement{Host: "H.example", URLs: []string{"https://h.example/docs/1", "http://h.example/docs/1",
		"https://h.example/news/1", "https://h.example/news/1", "https://h.example/others/1"}}, sites)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{"pages": pages}
	for id, h := range about {
		got[sites[id].site.Name+" known"], got[sites[id].site.Name+" found"] = len(h.known.Pages), len(h.found)
	}
	if diff := cmp.Diff(map[string]int{"pages": 4, "a known": 2, "a found": 2, "b known": 1, "b found": 1}, got); diff != "" {
		t.Errorf("sorted (-want +got):\n%s", diff)
	}
	for _, host := range []string{"h.example:443", "H.EXAMPLE:443"} {
		if _, _, err := announced(web.Announcement{Host: host, URLs: []string{"https://h.example/docs/"}}, sites); err != nil {
			t.Errorf("host %q: %v", host, err)
		}
	}
	if _, _, err := announced(web.Announcement{Host: "bücher.example", URLs: []string{"https://bücher.example/", "https://xn--bcher-kva.example/"}}, sites); err != nil {
		t.Errorf("a host with other letters: %v", err)
	}
	for _, raw := range []string{"ftp://h.example/docs/", "https://h.example:8443/docs/", "/docs/1", ""} {
		if _, _, err := announced(web.Announcement{URLs: []string{"https://h.example/docs/", raw}}, sites); err == nil {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
