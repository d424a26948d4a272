package scope

import (
	"fmt"
	"strings"
	"testing"

	"recrawld/config"
	"recrawld/recrawl/canon"

	"pgregory.net/rapid"
)

func mustParse(t testing.TB, raw string) canon.URL {
	t.Helper()
	u, err := canon.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// compiled is the scope of a site at start with the defaults but for what change changes.
func compiled(t testing.TB, start string, change func(*config.Settings)) *Scope {
	t.Helper()
	settings := config.DefaultSettings()
	if change != nil {
		change(&settings)
	}
	s, err := Compile(config.Site{Name: "test", URL: start, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDecideScope(t *testing.T) {
	t.Parallel()
	docs := "inside https://example.org/docs/"
	notDocs := "outside https://example.org/docs/"
	tests := []struct {
		start, url string
		want       Verdict
	}{
		{"https://example.org/docs/intro", "https://example.org/docs/intro", Verdict{Keep: true, Rule: "the start URL"}},
		{"https://example.org/docs/intro", "https://example.org/docs/", Verdict{Keep: true, Rule: docs}},
		{"https://example.org/docs/intro", "https://example.org/docs/a/b?q=1", Verdict{Keep: true, Rule: docs}},
		{"https://example.org/docs/", "http://example.org/docs/a", Verdict{Keep: true, Rule: docs}},
		{"https://example.org/docs/", "https://www.example.org/docs/a", Verdict{Keep: true, Rule: docs}},
		{"https://www.example.org/docs/", "https://example.org/docs/a", Verdict{Keep: true, Rule: "inside https://www.example.org/docs/"}},
		{"https://example.org/docs/", "https://example.org/docs", Verdict{Keep: false, Rule: notDocs}},
		{"https://example.org/docs/", "https://example.org/blog/", Verdict{Keep: false, Rule: notDocs}},
		{"https://example.org/docs/", "https://example.org.evil.net/docs/", Verdict{Keep: false, Rule: notDocs}},
		{"https://example.org/docs/", "https://sub.example.org/docs/", Verdict{Keep: false, Rule: notDocs}},
		{"https://example.org/docs/", "https://example.org:8443/docs/", Verdict{Keep: false, Rule: notDocs}},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:8080/x", Verdict{Keep: true, Rule: "inside http://127.0.0.1:8080/"}},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:8081/x", Verdict{Keep: false, Rule: "outside http://127.0.0.1:8080/"}},
		{"http://www.com/", "http://com/", Verdict{Keep: false, Rule: "outside http://www.com/"}},
		{"https://example.org", "https://example.org/anything", Verdict{Keep: true, Rule: "inside https://example.org/"}},
	}
	for _, test := range tests {
		got := compiled(t, test.start, nil).Decide(mustParse(t, test.url), 1)
		if got != test.want {
			t.Errorf("from %s: Decide(%s) = %v, want %v", test.start, test.url, got, test.want)
		}
	}
}

func TestDecideNothing(t *testing.T) {
	t.Parallel()
	got := compiled(t, "https://example.org/", nil).Decide(canon.URL{}, 0)
	if want := (Verdict{Keep: false, Rule: "not a URL"}); got != want {
		t.Errorf("Decide(zero URL) = %v, want %v", got, want)
	}
}

func TestDecideFurtherPrefixes(t *testing.T) {
	t.Parallel()
	s := compiled(t, "https://example.org/docs/", func(s *config.Settings) {
		s.Scope = []string{"https://cdn.example.net", "https://example.org/page?id=", "https://a.example/x"}
	})
	inside := "inside https://example.org/docs/, https://cdn.example.net/, https://example.org/page?id= or 1 more"
	outside := "outside https://example.org/docs/, https://cdn.example.net/, https://example.org/page?id= and 1 more"
	tests := []struct {
		url  string
		want Verdict
	}{
		{"http://cdn.example.net/pic", Verdict{Keep: true, Rule: inside}},
		{"https://example.org/page?id=7", Verdict{Keep: true, Rule: inside}},
		{"https://example.org/page?other=7", Verdict{Keep: false, Rule: outside}},
		{"https://a.example/xyz", Verdict{Keep: true, Rule: inside}},
		{"https://a.example/y", Verdict{Keep: false, Rule: outside}},
		{"https://cdn.example.net.evil/", Verdict{Keep: false, Rule: outside}},
	}
	for _, test := range tests {
		if got := s.Decide(mustParse(t, test.url), 1); got != test.want {
			t.Errorf("Decide(%s) = %v, want %v", test.url, got, test.want)
		}
	}
}

func TestFault_045_DecideLimits(t *testing.T) {
	t.Parallel()
	s := compiled(t, "https://example.org/", nil)
	inside := "inside https://example.org/"
	tests := []struct {
		path  string
		level int
		want  Verdict
	}{
		{"/a", 10, Verdict{Keep: true, Rule: inside}},
		{"/a", 11, Verdict{Keep: false, Rule: "level 11 is beyond 10"}},
		{"/", 1000, Verdict{Keep: true, Rule: "the start URL"}},
		{"/" + strings.Repeat("x", 2048-len("https://example.org/")), 0, Verdict{Keep: true, Rule: inside}},
		{"/" + strings.Repeat("x", 3000), 0, Verdict{Keep: false, Rule: "URL of 3020 bytes is longer than 2048"}},
		{pathOf(20), 0, Verdict{Keep: true, Rule: inside}},
		{pathOf(20) + "/", 0, Verdict{Keep: true, Rule: inside}},
		{pathOf(21), 0, Verdict{Keep: false, Rule: "21 path segments are more than 20"}},
		{"/a/b/a/b/a", 0, Verdict{Keep: true, Rule: inside}},
		{"/a/b/a/b/a/a", 0, Verdict{Keep: false, Rule: "segment a stands 4 times in the path, more than 3"}},
		{"/a/a/a/a/", 0, Verdict{Keep: false, Rule: "segment a stands 4 times in the path, more than 3"}},
		{"/x/////y", 0, Verdict{Keep: false, Rule: `segment "" stands 4 times in the path, more than 3`}},
		{"/d/?C=M;O=A", 1, Verdict{Keep: false, Rule: "a listing of a directory in another order"}},
		{"/?C=N&O=D", 1, Verdict{Keep: false, Rule: "a listing of a directory in another order"}},
		{"/d/?C=M;O=B", 1, Verdict{Keep: true, Rule: inside}},
		{"/d/?C=M;O=A&x", 1, Verdict{Keep: true, Rule: inside}},
		{"/x//////", 0, Verdict{Keep: false, Rule: `segment "" stands 5 times in the path, more than 3`}},
	}
	for _, test := range tests {
		if got := s.Decide(mustParse(t, "https://example.org"+test.path), test.level); got != test.want {
			t.Errorf("Decide(%s, %d) = %v, want %v", test.path, test.level, got, test.want)
		}
	}
}

// pathOf has n segments, all different.
func pathOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "/s%d", i)
	}
	return b.String()
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	tests := []config.Site{
		{URL: ""},
		{URL: "mailto:x@example.org"},
		{URL: "https://example.org/", Settings: config.Settings{Scope: []string{"/docs/"}}},
		{URL: "https://example.org/", Settings: config.Settings{Filter: config.Filter{Regexp: []string{"("}}}},
		{URL: "https://example.org/", Settings: config.Settings{Filter: config.Filter{Host: []string{"a b"}}}},
		{URL: "https://example.org/", Settings: config.Settings{Filter: config.Filter{Not: &config.Filter{Glob: []string{"*.pdf"}}}}},
	}
	for _, site := range tests {
		if s, err := Compile(site); err == nil {
			t.Errorf("Compile(%+v) = %v, want an error", site, s)
		}
	}
}

// The two ways to find the commonest segment agree.
func TestCommonest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[abc/]{1,40}`).Draw(t, "path")
		_, got := commonest(path)
		_, want := commonestByMap(path)
		if got != want {
			t.Errorf("commonest(%q) = %d times, want %d", path, got, want)
		}
	})
}

func FuzzDecide(f *testing.F) {
	for _, seed := range []string{"https://example.org/docs/a", "http://www.example.org/docs//////", "https://example.org/docs/a.jpg?q=%zz&+=1"} {
		f.Add(seed, 3)
	}
	s := compiled(f, "https://example.org/docs/", func(s *config.Settings) { s.Filter = kitchenSink })
	f.Fuzz(func(t *testing.T, raw string, level int) {
		u, err := canon.Parse(raw)
		if err != nil {
			return
		}
		verdict := s.Decide(u, level)
		if verdict.Rule == "" {
			t.Errorf("Decide(%s, %d) = %v, want a rule", u, level, verdict)
		}
		if again := s.Decide(u, level); again != verdict {
			t.Errorf("Decide(%s, %d) = %v, then %v", u, level, verdict, again)
		}
		if inside := s.Contains(u); verdict.Keep && !inside {
			t.Errorf("Decide(%s, %d) keeps what is outside", u, level)
		}
	})
}

// The budget is 2 µs a URL: 10,000 links are decided within 20 ms.
func BenchmarkDecide(b *testing.B) {
	s := compiled(b, "https://example.org/docs/", func(s *config.Settings) { s.Filter = kitchenSink })
	urls := []canon.URL{
		mustParse(b, "https://example.org/docs/guide/install/linux.html"),
		mustParse(b, "https://example.org/docs/guide/a/b/c/d/e/picture.jpg"),
		mustParse(b, "https://www.example.org/docs/search?q=term&page=2"),
		mustParse(b, "https://other.example.net/docs/"),
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Decide(urls[i%len(urls)], 2)
	}
}

func TestScopeOfAllHosts(t *testing.T) {
	t.Parallel()
	settings := config.Default().Defaults
	settings.Level, settings.Scope = 0, []string{Anywhere}
	s, err := Compile(config.Site{Name: "list", URL: "https://one.example/a", Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]string{
		"http://other.example:8080/x":                        "inside a scope of all hosts",
		"https://other.example/a/a/a/a/a":                    "segment a stands 5 times in the path, more than 3",
		"https://other.example/" + strings.Repeat("x", 3000): "URL of 3022 bytes is longer than 2048",
	} {
		u, err := canon.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if v := s.Decide(u, 0); v.Rule != want || v.Keep != strings.HasPrefix(want, "inside") {
			t.Errorf("Decide(%.60s) = %v, want %s", raw, v, want)
		}
	}
}
