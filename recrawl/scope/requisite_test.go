package scope

import (
	"strings"
	"testing"

	"recrawld/config"
	"recrawld/recrawl/canon"
)

func TestDecideRequisite(t *testing.T) {
	t.Parallel()
	const off, site, all = config.RequisitesOff, config.RequisitesSite, config.RequisitesAll
	noFilm := config.Filter{Line: 7, Not: &config.Filter{Line: 7, Extension: []string{"mp4"}}}
	for _, c := range []struct {
		mode, url string
		filter    config.Filter
		want      Verdict
	}{
		{off, "https://example.org/docs/a.png", config.Filter{}, Verdict{Keep: false, Rule: "requisites: off"}},
		{site, "https://example.org/docs/a.png", config.Filter{}, Verdict{Keep: true, Rule: "requisites: site"}},
		{site, "http://www.example.org/static/a.png?v=2", config.Filter{}, Verdict{Keep: true, Rule: "requisites: site"}},
		{site, "https://img.example.net/a.png", config.Filter{}, Verdict{Keep: true, Rule: "requisites: site"}},
		{site, "https://cdn.example.com/a.png", config.Filter{}, Verdict{Keep: false, Rule: "requisites: site: its host is none of the site's"}},
		{site, "https://example.org:8443/a.png", config.Filter{}, Verdict{Keep: false, Rule: "requisites: site: its host is none of the site's"}},
		{all, "https://cdn.example.com/a.png", config.Filter{}, Verdict{Keep: true, Rule: "requisites: all"}},
		{all, "https://cdn.example.com/a.png", noFilm, Verdict{Keep: true, Rule: "requisites_filter line 7: extension is not mp4"}},
		{all, "https://cdn.example.com/a.mp4", noFilm, Verdict{Keep: false, Rule: "requisites_filter line 7: not extension mp4"}},
		{site, "https://example.org/a.mp4", noFilm, Verdict{Keep: false, Rule: "requisites_filter line 7: not extension mp4"}},
		{all, "https://cdn.example.com/" + strings.Repeat("x", 3000), config.Filter{}, Verdict{Keep: false, Rule: "URL of 3024 bytes is longer than 2048"}},
		{all, "https://cdn.example.com" + pathOf(21), config.Filter{}, Verdict{Keep: false, Rule: "21 path segments are more than 20"}},
		{all, "https://cdn.example.com/a/a/a/a", config.Filter{}, Verdict{Keep: false, Rule: "segment a stands 4 times in the path, more than 3"}},
		{all, "", config.Filter{}, Verdict{Keep: false, Rule: "not a URL"}},
	} {
		s := compiled(t, "https://example.org/docs/", func(s *config.Settings) {
			s.Level, s.Filter = 0, config.Filter{Not: &config.Filter{Extension: []string{"png"}}}
			s.Scope = []string{"https://img.example.net/only/here/"}
			s.Requisites, s.RequisitesFilter = c.mode, c.filter
		})
		var u canon.URL
		if c.url != "" {
			u = mustParse(t, c.url)
		}
		if got := s.DecideRequisite(u); got != c.want {
			t.Errorf("%s: DecideRequisite(%.60s) = %v, want %v", c.mode, c.url, got, c.want)
		}
	}
}

// A scope of all hosts has them all.
func TestDecideRequisiteAnywhere(t *testing.T) {
	t.Parallel()
	s := compiled(t, "https://example.org/", func(s *config.Settings) {
		s.Scope, s.Requisites = []string{Anywhere}, config.RequisitesSite
	})
	if got, want := s.DecideRequisite(mustParse(t, "https://cdn.example.com/a.png")), (Verdict{Keep: true, Rule: "requisites: site"}); got != want {
		t.Errorf("DecideRequisite = %v, want %v", got, want)
	}
}

func TestDecideKnown(t *testing.T) {
	t.Parallel()
	s := compiled(t, "https://example.org/docs/", func(s *config.Settings) { s.Requisites = config.RequisitesSite })
	for _, c := range []struct {
		url  string
		as   Known
		want Verdict
	}{
		{"https://example.org/docs/a", Known{Level: 1, Requisite: true}, Verdict{Keep: true, Rule: "inside https://example.org/docs/"}},
		{"https://example.org/docs/a", Known{Level: 11, Requisite: true}, Verdict{Keep: true, Rule: "requisites: site", Needed: true}},
		{"https://example.org/a", Known{Level: 1, Requisite: true}, Verdict{Keep: true, Rule: "requisites: site", Needed: true}},
		{"https://example.org/a", Known{Level: 1}, Verdict{Keep: false, Rule: "outside https://example.org/docs/"}},
		{"https://example.org/docs/s.xml", Known{Level: 11, List: true}, Verdict{Keep: true, Rule: "inside https://example.org/docs/"}},
		{"https://example.org/s.xml", Known{Level: 11, List: true}, Verdict{Rule: "outside https://example.org/docs/"}},
		{"https://example.net/a", Known{Level: 1, Requisite: true}, Verdict{Keep: false, Rule: "requisites: site: its host is none of the site's"}},
	} {
		if got := s.DecideKnown(mustParse(t, c.url), c.as); got != c.want {
			t.Errorf("DecideKnown(%s, %+v) = %v, want %v", c.url, c.as, got, c.want)
		}
	}
}

func TestCompileRefusesRequisitesFilter(t *testing.T) {
	t.Parallel()
	site := config.Site{Name: "test", URL: "https://example.org/", Settings: config.Settings{RequisitesFilter: config.Filter{Regexp: []string{"("}}}}
	if _, err := Compile(site); err == nil || !strings.Contains(err.Error(), "requisites_filter of site test") {
		t.Errorf("Compile = %v, want an error that names requisites_filter", err)
	}
}
