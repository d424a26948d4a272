package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
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
