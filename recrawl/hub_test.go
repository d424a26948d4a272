package recrawl

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

// TestAFeedNamesItsHub: in its answer's headers or in itself, and no page that is no feed does.
func TestAFeedNamesItsHub(t *testing.T) {
	t.Parallel()
	const feed = `<feed><link rel="hub" href="/hub"/><link rel="self" href="https://example.net/f?b=%7e"/></feed>`
	for name, c := range map[string]struct {
		answer hostile.Answer
		edit   func(*config.Settings)
		want   *models.Hub // with O for the origin
	}{
		"in itself":         {xmlPage(feed), nil, &models.Hub{URL: "O/hub", Topic: "https://example.net/f?b=%7e", Inside: true}},
		"in headers":        {page(`<rss/>`, "Content-Type", "text/xml", "Link", `<https://hub.example/a,b>; rel="hub", </f>; rel=self`), nil, &models.Hub{URL: "https://hub.example/a,b", Topic: "O/f"}},
		"no topic":          {xmlPage(`<feed><link rel="hub" href="/hub"/></feed>`), nil, &models.Hub{URL: "O/hub", Topic: "O/feed", Inside: true}},
		"of a neighbour":    {xmlPage(`<feed><link rel="hub" href="http://127.0.0.2/restart"/><link rel="hub" href="/hub"/></feed>`), nil, &models.Hub{URL: "O/hub", Topic: "O/feed", Inside: true}},
		"a topic with one":  {xmlPage(`<feed><link rel="hub" href="/hub"/><link rel="self" href="/f?u=http://a.example/"/></feed>`), nil, &models.Hub{URL: "O/hub", Topic: "O/f?u=http://a.example/", Inside: true}},
		"of another scheme": {xmlPage(`<feed><link rel="hub" href="ftp://a/"/></feed>`), nil, &models.Hub{}},
		"none":              {xmlPage(`<feed/>`), nil, &models.Hub{}},
		"of a page":         {page(`<title>A page</title>`, "Link", `</hub>; rel="hub"`), nil, nil},
		"of another page":   {page(`<feed/>`, "Content-Type", "text/xml", "Link", `</hub>; rel="hub"; anchor="/other"`), nil, &models.Hub{}},
		"not found":         {hostile.Whole(404, map[string]string{"Content-Type": "text/xml"}, feed), nil, nil},
		"lists are off":     {xmlPage(feed), func(s *config.Settings) { s.Lists = config.ListsOff }, nil},
	} {
		o := listen(t, map[string]hostile.Answer{"/feed": c.answer})
		l := newLife(t, func(_ *Config, s *config.Settings) {
			if c.edit != nil {
				c.edit(s)
			}
		})
		if want := c.want; want != nil {
			origin := strings.TrimSuffix(o.URL("/"), "/")
			want.URL, want.Topic = strings.Replace(want.URL, "O", origin, 1), strings.Replace(want.Topic, "O", origin, 1)
		}
		if diff := cmp.Diff(c.want, l.turn(o.URL("/feed")).Hub); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestHubsAreAsked: as forms, by us, wherever they redirect to with the form kept, and not where no page of a feed's host would be asked for.
func TestHubsAreAsked(t *testing.T) {
	t.Parallel()
	hub := http.NewServeMux()
	var got []string
	hub.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+string(body)+" "+r.UserAgent()+" "+r.Header.Get("Content-Type"))
		w.WriteHeader(http.StatusAccepted)
	})
	hub.HandleFunc("/307", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", http.StatusTemporaryRedirect) })
	hub.HandleFunc("/302", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", http.StatusFound) })
	hub.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/loop", http.StatusPermanentRedirect)
	})
	hub.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		http.Error(w, "come\r\nback \x1b[31mlater "+strings.Repeat("x", 9000), http.StatusServiceUnavailable)
	})
	hub.HandleFunc("/inside", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusTemporaryRedirect)
	})
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	h := NewHubs(Config{Agent: config.Agent{Name: "recrawld", Contact: "https://example.net/bot"}, Version: "1.0", Resolver: net.DefaultResolver,
		Network: config.Network{Allow: loopback, Ports: []uint16{80, 443}}})
	ask := func(path string, inside bool) error {
		return h.Ask(t.Context(), today, server.URL+path, inside, url.Values{"hub.mode": {"subscribe"}})
	}
	for _, path := range []string{"/ok", "/307"} {
		if err := ask(path, true); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	one := "POST hub.mode=subscribe recrawld/1.0 (+https://example.net/bot) application/x-www-form-urlencoded"
	if diff := cmp.Diff([]string{one, one}, got); diff != "" {
		t.Errorf("the hub was asked (-want +got):\n%s", diff)
	}
	for path, status := range map[string]int{"/302": 302, "/loop": 308, "/none": 404, "/inside": 307} {
		if refused, ok := errors.AsType[*HubError](ask(path, true)); !ok || refused.Status != status {
			t.Errorf("%s: %v, want %d", path, refused, status)
		}
	}
	busy, ok := errors.AsType[*HubError](ask("/busy", true))
	if !ok || busy.After != time.Hour || !strings.HasPrefix(busy.Says, "come back") || strings.ContainsRune(busy.Says, 27) || len(busy.Says) > 203 {
		t.Errorf("a busy hub: %+v", busy)
	}
	if err := ask("/ok", false); err == nil || !strings.Contains(err.Error(), "is not dialled") {
		t.Errorf("outside: %v, want that it is not dialled", err)
	}
	if len(got) != 2 {
		t.Errorf("asked %d times, want 2", len(got))
	}
}

// TestASecretStaysWithinTLS: no redirect takes it from https to http, and none makes another request of it.
func TestASecretStaysWithinTLS(t *testing.T) {
	t.Parallel()
	at := func(method, raw string) *http.Request {
		r, err := http.NewRequest(method, raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	via := []*http.Request{at("POST", "https://hub.example/")}
	for raw, follows := range map[string]bool{"POST https://other.example/": true, "POST http://hub.example/": false, "GET https://hub.example/": false} {
		method, to, _ := strings.Cut(raw, " ")
		if got := onward(at(method, to), via) == nil; got != follows {
			t.Errorf("%s is followed: %v, want %v", raw, got, follows)
		}
	}
}
