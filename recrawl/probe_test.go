package recrawl

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
)

// probing probes once a month, and names the start URL of the site.
func probing(start string) func(*Config, *config.Settings) {
	return func(c *Config, s *config.Settings) {
		s.Probe = 30 * 24 * time.Hour
		settings := s
		c.Sites = func(int32) (config.Site, *scope.Scope, *content.Rules) {
			return config.Site{Name: "test", URL: start, Settings: *settings}, nil, nil
		}
	}
}

var probePath = regexp.MustCompile(`^/docs/recrawld-probe-[a-z]{24}$`)

// TestProbe: the turn of a page with content is spent on a name that does not exist, once in the time that the site says,
// in the directory of the start URL; the page's own turn comes next.
func TestProbe(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/docs/a": page(edition(1)), "/docs/b": page(edition(2))})
	l := newLife(t, probing(o.URL("/docs/index.html")))
	wantKind(t, l.turn(o.URL("/docs/a")), models.First)
	out := l.turn(o.URL("/docs/a"))
	wantKind(t, out, models.Probed)
	asked := lastAsked(t, o)
	if !probePath.MatchString(asked.Path) {
		t.Errorf("asked for %s, want %s", asked.Path, probePath)
	}
	if !strings.Contains(out.Detail, asked.Path) || !strings.Contains(out.Detail, "404") || out.Sent != 1 || out.Status != 404 {
		t.Errorf("probed: %q, %d requests, status %d", out.Detail, out.Sent, out.Status)
	}
	if out.Body != nil || !out.Digest.IsZero() || out.ETag != "" || out.Links != nil {
		t.Error("the answer to a probe is taken for the page's")
	}
	wantKind(t, l.turn(o.URL("/docs/a")), models.SameBytes)
	wantKind(t, l.turn(o.URL("/docs/b")), models.First)
	for range 27 {
		wantKind(t, l.turn(o.URL("/docs/b")), models.SameBytes)
	}
	wantKind(t, l.turn(o.URL("/docs/b")), models.Probed)
	if again := lastAsked(t, o).Path; again == asked.Path || !probePath.MatchString(again) {
		t.Errorf("the second probe asks for %s, after %s", again, asked.Path)
	}
}

// TestNoProbe: these turns are the page's own.
func TestNoProbe(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*Config, *config.Settings, *models.Turn){
		"switched off":    func(_ *Config, s *config.Settings, _ *models.Turn) { s.Probe = 0 },
		"nothing is kept": func(c *Config, _ *config.Settings, _ *models.Turn) { c.Past = nil },
		"a new page": func(_ *Config, _ *config.Settings, u *models.Turn) {
			u.Page.Digest, u.Page.State = models.Digest{}, models.StateNew
		},
		"a failing page":     func(_ *Config, _ *config.Settings, u *models.Turn) { u.Page.Failures = 1 },
		"somebody waits":     func(_ *Config, _ *config.Settings, u *models.Turn) { u.Page.Rule = models.RuleManual },
		"probed a while ago": func(_ *Config, _ *config.Settings, u *models.Turn) { u.Host.Trials.ProbedAt = at(-29) },
		"a host that lends an image": func(c *Config, s *config.Settings, u *models.Turn) {
			u.Page.Requisite, s.Requisites = true, config.RequisitesAll
			site := config.Site{URL: "https://example.org/", Settings: *s}
			pages, err := scope.Compile(site)
			if err != nil {
				t.Fatal(err)
			}
			c.Sites = func(int32) (config.Site, *scope.Scope, *content.Rules) { return site, pages, nil }
		},
		"robots.txt": func(_ *Config, _ *config.Settings, u *models.Turn) {
			u.Robots[0].Body = []byte("User-agent: *\nDisallow: /recrawld-probe-\n")
		},
	} {
		o := listen(t, map[string]hostile.Answer{"/": page(edition(1))})
		target := pageOf(t, o.URL("/"))
		target.State, target.Version, target.Digest = models.StateLive, 1, models.DigestOf([]byte(edition(1)))
		u := models.Turn{Robots: []models.Robots{allowAll(t, target)}, Page: models.LeasedPage{Page: target}, Now: today}
		r := newRig(t, func(c *Config, s *config.Settings) {
			c.Past = newKept()
			edit(c, s, &u)
		})
		if out := r.Visit(t.Context(), u); out.Kind == models.Probed || lastAsked(t, o).Path != "/" {
			t.Errorf("%s: %v, asked for %s", name, out.Kind, lastAsked(t, o).Path)
		}
	}
}

// TestProbesOfOneLease: of several visits at a time one probes.
func TestProbesOfOneLease(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": page(edition(1))})
	target := pageOf(t, o.URL("/"))
	target.State, target.Version, target.Digest = models.StateLive, 1, models.DigestOf([]byte(edition(1)))
	r := newRig(t, func(c *Config, _ *config.Settings) { c.Past = newKept() })
	u := models.Turn{Host: models.Host{ID: 1, LeaseToken: 7}, Robots: []models.Robots{allowAll(t, target)},
		Page: models.LeasedPage{Page: target}, Now: today}
	wantKind(t, r.Visit(t.Context(), u), models.Probed)
	wantKind(t, r.Visit(t.Context(), u), models.SameBytes)
	u.Host.LeaseToken++
	wantKind(t, r.Visit(t.Context(), u), models.Probed)
}

// TestProbesThatFail teach nothing, and leave the page alone.
func TestProbesThatFail(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]hostile.Answer{
		"reset": hostile.Reset(), "500": hostile.Whole(500, nil, "oh"), "redirect": hostile.Redirect(302, "/"),
		"busy": hostile.Whole(http.StatusTooManyRequests, map[string]string{"Retry-After": "60"}, ""),
	} {
		o := listen(t, map[string]hostile.Answer{"/docs/": page(edition(1))})
		l := newLife(t, probing(o.URL("/docs/")))
		l.turn(o.URL("/docs/"))
		o.SetDefault(answer)
		out := l.turn(o.URL("/docs/"))
		wantKind(t, out, models.Probed)
		if silent := name == "reset"; silent != (out.Class == models.ConnReset) || l.host.Trials.ProbedAt == 0 || l.pages[o.URL("/docs/")].Failures != 0 {
			t.Errorf("%s: class %v, probed at %v; the page is not failing", name, out.Class, l.host.Trials.ProbedAt)
		}
		if busy := name == "busy"; busy != !out.RetryAfter.IsZero() {
			t.Errorf("%s: retry after %v", name, out.RetryAfter)
		}
		wantKind(t, l.turn(o.URL("/docs/")), models.SameBytes)
	}
}
