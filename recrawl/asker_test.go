package recrawl

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
)

// noted is what a server was asked, by path.
type noted struct {
	mu    sync.Mutex
	asked map[string]http.Header // guarded by mu
}

// noting starts a server that says yes to everything but /moved, which is at another one.
func noting(t *testing.T, elsewhere string) (*noted, string) {
	t.Helper()
	n := &noted{asked: make(map[string]http.Header)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.asked[r.URL.Path] = r.Header.Clone()
		n.mu.Unlock()
		if elsewhere != "" && r.URL.Path == "/robots.txt" {
			http.Redirect(w, r, elsewhere+"/robots.txt", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>yes"))
	}))
	t.Cleanup(server.Close)
	return n, server.URL
}

func (n *noted) header(path, name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[path].Get(name)
}

// What a site wants sent goes with each request to the origin of its URL, robots.txt included, and to no other, wherever pages or
// redirects lead. What of it is secret is not archived.
func TestHeadersOfASite(t *testing.T) {
	t.Parallel()
	other, otherURL := noting(t, "")
	own, ownURL := noting(t, otherURL)
	r := newRig(t, func(c *Config, s *config.Settings) {
		s.Headers = []config.Header{{Name: "Accept-Language", Text: "de", Value: "de"},
			{Name: "Authorization", Text: "${file:/x}", Value: "Basic secret"}, {Name: "X-Key", Text: "${credential:key}"}}
		c.Sites = func(int32) (config.Site, *scope.Scope, *content.Rules) {
			return config.Site{Name: "test", URL: ownURL + "/", Settings: *s}, nil, nil
		}
	})
	page := pageOf(t, ownURL+"/page")
	r.robotsThrough(page)
	out := r.visit(page)
	r.visit(pageOf(t, otherURL+"/page"))
	for _, path := range []string{"/robots.txt", "/page"} {
		if own.header(path, "Accept-Language") != "de" || own.header(path, "Authorization") != "Basic secret" {
			t.Errorf("%s of the site was asked for with language %q and log-in %q, want those of the site", path,
				own.header(path, "Accept-Language"), own.header(path, "Authorization"))
		}
		if got := other.header(path, "User-Agent"); !strings.Contains(got, "recrawld") {
			t.Errorf("%s of the other origin was not asked for", path)
		}
		if got := other.header(path, "Accept-Language") + other.header(path, "Authorization"); got != "" {
			t.Errorf("%s of the other origin was asked for with %q, which is meant for the site's", path, got)
		}
	}
	if _, sent := own.asked["/page"]["X-Key"]; sent {
		t.Error("a credential that is not there was sent")
	}
	if got := string(out.Request); !strings.Contains(got, "Accept-Language: de\r\n") || strings.Contains(got, "secret") ||
		strings.Contains(got, "Authorization") {
		t.Errorf("the request is archived as %q, want its language and not its log-in", got)
	}
}

// Who is not let in is told how.
func TestUnauthorizedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(server.Close)
	out := newRig(t, nil).fetch(server.URL + "/")
	if wantFailed(t, out, models.Refused); !strings.Contains(out.Detail, "headers:") {
		t.Errorf("a visit that was not let in says %q, want what to do", out.Detail)
	}
}

// TestLogInIsNotEnded: what ends the log-in that a site's headers bring is not asked for, unless somebody names it.
func TestLogInIsNotEnded(t *testing.T) {
	t.Parallel()
	paths := []string{"/users/sign_out", "/logout.php", "/member?action=logout&key=7c17e499bc23f154", "/index.php?do=x;logout"}
	for name, c := range map[string]struct {
		header config.Header
		level  int16
		rule   models.Rule
		want   models.OutcomeKind
	}{
		"cookie":       {config.Header{Name: "Cookie", Text: "a=b", Value: "a=b"}, 2, models.RulePolicy, models.Excluded},
		"secret":       {config.Header{Name: "X-Key", Text: "${file:/x}", Value: "k"}, 2, models.RulePolicy, models.Excluded},
		"language":     {config.Header{Name: "Accept-Language", Text: "de", Value: "de"}, 2, models.RulePolicy, models.First},
		"asked for":    {config.Header{Name: "Cookie", Text: "a=b", Value: "a=b"}, 2, models.RuleManual, models.First},
		"named itself": {config.Header{Name: "Cookie", Text: "a=b", Value: "a=b"}, 0, models.RulePolicy, models.First},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(_ *Config, s *config.Settings) { s.Headers = []config.Header{c.header} })
			answers := make(map[string]hostile.Answer)
			for n, path := range append(paths, "/login", "/docs/logout/options") {
				answers[path] = page(edition(n))
			}
			o := listen(t, answers)
			visit := func(path string, want models.OutcomeKind) {
				p := pageOf(t, o.URL(path))
				p.Level, p.Rule = c.level, c.rule
				if out := r.visit(p); out.Kind != want {
					t.Errorf("%s: %v (%s), want %v", path, out.Kind, out.Detail, want)
				}
			}
			for _, path := range paths {
				visit(path, c.want)
			}
			visit("/login", models.First)
			visit("/docs/logout/options", models.First)
		})
	}
}
