package scope

import (
	"slices"
	"testing"

	"recrawld/config"
	"recrawld/recrawl/canon"

	"pgregory.net/rapid"
)

type filter = config.Filter

// kitchenSink has every kind of filter in it.
var kitchenSink = filter{Line: 1, All: []filter{
	{Line: 2, Scheme: []string{"http", "https"}},
	{Line: 3, Domain: []string{"example.org", "example.net"}},
	{Line: 4, Not: &filter{Line: 4, Any: []filter{
		{Line: 5, Extension: []string{"jpg", "png", "zip"}},
		{Line: 6, Param: []string{"sessionid", "sort"}},
		{Line: 7, Regexp: []string{`/print/?$`}},
		{Line: 8, Glob: []string{"**/tmp/*/x?.html"}},
	}}},
	{Line: 9, Any: []filter{
		{Line: 10, Host: []string{"example.org", "www.example.org"}},
		{Line: 11, Path: []string{"/docs/"}},
	}},
}}

func decide(t testing.TB, f filter, raw string) Verdict {
	t.Helper()
	r, err := compile(f, false)
	if err != nil {
		t.Fatal(err)
	}
	keep, rule := r.decide(mustParse(t, raw))
	return Verdict{Keep: keep, Rule: rule}
}

func TestLeaves(t *testing.T) {
	t.Parallel()
	tests := []struct {
		filter filter
		url    string
		want   Verdict
	}{
		{filter{Line: 3, Scheme: []string{"https"}}, "https://a.org/", Verdict{Keep: true, Rule: "filter line 3: scheme https"}},
		{filter{Line: 3, Scheme: []string{"https"}}, "http://a.org/", Verdict{Keep: false, Rule: "filter line 3: scheme is not https"}},
		{filter{Host: []string{"a.org"}}, "http://a.org:81/", Verdict{Keep: true, Rule: "filter: host a.org"}},
		{filter{Host: []string{"a.org"}}, "http://www.a.org/", Verdict{Keep: false, Rule: "filter: host is not a.org"}},
		{filter{Host: []string{"a.org", "b.org", "c.org", "d.org"}}, "http://x.org/", Verdict{Keep: false, Rule: "filter: host is not a.org, b.org, c.org or 1 more"}},
		{filter{Host: []string{"a.org:8080"}}, "http://a.org:8080/", Verdict{Keep: true, Rule: "filter: host a.org:8080"}},
		{filter{Host: []string{"a.org:8080"}}, "http://a.org/", Verdict{Keep: false, Rule: "filter: host is not a.org:8080"}},
		{filter{Host: []string{"a.org:443"}}, "https://a.org/", Verdict{Keep: true, Rule: "filter: host a.org:443"}},
		{filter{Host: []string{"a.org:80"}}, "https://a.org/", Verdict{Keep: false, Rule: "filter: host is not a.org:80"}},
		{filter{Host: []string{"a.org:80"}}, "http://a.org/", Verdict{Keep: true, Rule: "filter: host a.org:80"}},
		{filter{Host: []string{"münchen.de"}}, "http://xn--mnchen-3ya.de/", Verdict{Keep: true, Rule: "filter: host münchen.de"}},
		{filter{Host: []string{"[::1]"}}, "http://[::1]:8080/", Verdict{Keep: true, Rule: "filter: host [::1]"}},
		{filter{Domain: []string{"a.org"}}, "http://a.org/", Verdict{Keep: true, Rule: "filter: domain a.org"}},
		{filter{Domain: []string{"b.org", "a.org"}}, "http://x.y.a.org/", Verdict{Keep: true, Rule: "filter: domain a.org"}},
		{filter{Domain: []string{"a.org"}}, "http://ba.org/", Verdict{Keep: false, Rule: "filter: domain is not a.org"}},
		{filter{Path: []string{"/x/", "/docs/"}}, "http://a.org/docs/1", Verdict{Keep: true, Rule: "filter: path /docs/"}},
		{filter{Path: []string{"/docs/"}}, "http://a.org/docs", Verdict{Keep: false, Rule: "filter: path does not begin with /docs/"}},
		{filter{Path: []string{"/straße/"}}, "http://a.org/stra%C3%9Fe/1", Verdict{Keep: true, Rule: "filter: path /straße/"}},
		{filter{Glob: []string{"**.pdf"}}, "http://a.org/x/y.pdf", Verdict{Keep: true, Rule: "filter: glob **.pdf"}},
		{filter{Glob: []string{"**.pdf"}}, "http://a.org/x/y.pdf?v=2", Verdict{Keep: false, Rule: "filter: no match of glob **.pdf"}},
		{filter{Glob: []string{"http://a.org/*/x?"}}, "http://a.org/b/xy", Verdict{Keep: true, Rule: "filter: glob http://a.org/*/x?"}},
		{filter{Glob: []string{"http://a.org/*/x?"}}, "http://a.org/b/c/xy", Verdict{Keep: false, Rule: "filter: no match of glob http://a.org/*/x?"}},
		{filter{Glob: []string{"http://a.org/*/x?"}}, "http://a.org/b/x/", Verdict{Keep: false, Rule: "filter: no match of glob http://a.org/*/x?"}},
		{filter{Glob: []string{"http://a.org/"}}, "http://a.org/", Verdict{Keep: true, Rule: "filter: glob http://a.org/"}},
		{filter{Glob: []string{"http://a.org/"}}, "http://a.org/x", Verdict{Keep: false, Rule: "filter: no match of glob http://a.org/"}},
		{filter{Glob: []string{"**/ü/**"}}, "http://a.org/%C3%BC/x", Verdict{Keep: true, Rule: "filter: glob **/ü/**"}},
		{filter{Glob: []string{"http://a**a.org/"}}, "http://a.org/", Verdict{Keep: false, Rule: "filter: no match of glob http://a**a.org/"}},
		{filter{Regexp: []string{`^http://a\.`, `\d{4}`}}, "http://b.org/2024", Verdict{Keep: true, Rule: `filter: regexp \d{4}`}},
		{filter{Regexp: []string{`\d{4}`}}, "http://b.org/202", Verdict{Keep: false, Rule: `filter: no match of regexp \d{4}`}},
		{filter{Param: []string{"sid"}}, "http://b.org/?a=1&sid=3", Verdict{Keep: true, Rule: "filter: param sid"}},
		{filter{Param: []string{"sid"}}, "http://b.org/?a=sid&xsid=3", Verdict{Keep: false, Rule: "filter: no param sid"}},
		{filter{Param: []string{"a b"}}, "http://b.org/?a+b", Verdict{Keep: true, Rule: "filter: param a b"}},
		{filter{Param: []string{"sid"}}, "http://b.org/?%73id=1", Verdict{Keep: true, Rule: "filter: param sid"}},
		{filter{Param: []string{"h"}}, "http://b.org/?p=x.git;a=tree;h=1a2b", Verdict{Keep: true, Rule: "filter: param h"}},
		{filter{Param: []string{"p"}}, "http://b.org/?p=x.git;a=tree", Verdict{Keep: true, Rule: "filter: param p"}},
		{filter{Param: []string{"all"}}, "http://b.org/?topic=5.0;all", Verdict{Keep: true, Rule: "filter: param all"}},
		{filter{Param: []string{"h"}}, "http://b.org/?a=1&q=x;h=2", Verdict{Keep: false, Rule: "filter: no param h"}},
		{filter{Param: []string{"h"}}, "http://b.org/?q=x;+;h=2", Verdict{Keep: false, Rule: "filter: no param h"}},
		{filter{Extension: []string{"jpg"}}, "http://b.org/a.b/c.JPG?x=.png", Verdict{Keep: true, Rule: "filter: extension jpg"}},
		{filter{Extension: []string{"jpg"}}, "http://b.org/a.jpg/", Verdict{Keep: false, Rule: "filter: extension is not jpg"}},
		{filter{Extension: []string{"", "html"}}, "http://b.org/a", Verdict{Keep: true, Rule: `filter: extension ""`}},
		{filter{Extension: []string{""}}, "http://b.org/.hidden", Verdict{Keep: true, Rule: `filter: extension ""`}},
	}
	for _, test := range tests {
		if got := decide(t, test.filter, test.url); got != test.want {
			t.Errorf("%s on %s = %v, want %v", test.filter.String(), test.url, got, test.want)
		}
	}
}

func TestComposition(t *testing.T) {
	t.Parallel()
	host := filter{Line: 2, Host: []string{"a.org"}}
	path := filter{Line: 3, Path: []string{"/x/"}}
	not := func(f filter) filter { return filter{Line: 9, Not: &f} }
	all := filter{Line: 1, All: []filter{host, path}}
	any := filter{Line: 1, Any: []filter{host, path}}
	one := filter{Line: 1, All: []filter{host}}
	tests := []struct {
		filter filter
		url    string
		want   Verdict
	}{
		{all, "http://a.org/x/", Verdict{Keep: true, Rule: "filter line 1: all of its 2 rules"}},
		{all, "http://b.org/x/", Verdict{Keep: false, Rule: "filter line 2: host is not a.org"}},
		{all, "http://a.org/y/", Verdict{Keep: false, Rule: "filter line 3: path does not begin with /x/"}},
		{any, "http://b.org/x/", Verdict{Keep: true, Rule: "filter line 3: path /x/"}},
		{any, "http://a.org/x/", Verdict{Keep: true, Rule: "filter line 2: host a.org"}},
		{any, "http://b.org/y/", Verdict{Keep: false, Rule: "filter line 1: none of its 2 rules"}},
		{one, "http://a.org/", Verdict{Keep: true, Rule: "filter line 2: host a.org"}},
		{not(host), "http://a.org/", Verdict{Keep: false, Rule: "filter line 2: not host a.org"}},
		{not(host), "http://b.org/", Verdict{Keep: true, Rule: "filter line 2: host is not a.org"}},
		{not(not(host)), "http://a.org/", Verdict{Keep: true, Rule: "filter line 2: host a.org"}},
		{not(all), "http://a.org/x/", Verdict{Keep: false, Rule: "filter line 1: not all of its 2 rules"}},
		{not(all), "http://a.org/y/", Verdict{Keep: true, Rule: "filter line 3: path does not begin with /x/"}},
		{not(any), "http://a.org/y/", Verdict{Keep: false, Rule: "filter line 2: not host a.org"}},
		{not(any), "http://b.org/y/", Verdict{Keep: true, Rule: "filter line 1: not any of its 2 rules"}},
		{filter{Any: []filter{host, {}}}, "http://b.org/", Verdict{Keep: true, Rule: "filter: empty"}},
		{kitchenSink, "https://example.org/docs/a.jpg", Verdict{Keep: false, Rule: "filter line 5: not extension jpg"}},
		{kitchenSink, "https://example.org/tmp/y/x1.html", Verdict{Keep: false, Rule: "filter line 8: not glob **/tmp/*/x?.html"}},
		{kitchenSink, "https://example.org/docs/a/print/", Verdict{Keep: false, Rule: "filter line 7: not regexp /print/?$"}},
		{kitchenSink, "https://example.org/docs/a.html", Verdict{Keep: true, Rule: "filter line 1: all of its 4 rules"}},
		{kitchenSink, "https://sub.example.net/blog", Verdict{Keep: false, Rule: "filter line 9: none of its 2 rules"}},
	}
	for _, test := range tests {
		if got := decide(t, test.filter, test.url); got != test.want {
			t.Errorf("%s on %s = %v, want %v", test.filter.String(), test.url, got, test.want)
		}
	}
}

// A site's filter is asked last, and the start URL is not held to it.
func TestDecideFilter(t *testing.T) {
	t.Parallel()
	s := compiled(t, "https://example.org/", func(s *config.Settings) {
		s.Filter = filter{Line: 23, Not: &filter{Line: 23, Extension: []string{"jpg"}}}
	})
	tests := []struct {
		url  string
		want Verdict
	}{
		{"https://example.org/", Verdict{Keep: true, Rule: "the start URL"}},
		{"https://example.org/a.jpg", Verdict{Keep: false, Rule: "filter line 23: not extension jpg"}},
		{"https://example.org/a.html", Verdict{Keep: true, Rule: "filter line 23: extension is not jpg"}},
		{"https://example.net/a.jpg", Verdict{Keep: false, Rule: "outside https://example.org/"}},
	}
	for _, test := range tests {
		if got := s.Decide(mustParse(t, test.url), 1); got != test.want {
			t.Errorf("Decide(%s) = %v, want %v", test.url, got, test.want)
		}
	}
}

// drawFilter makes a filter at most depth deep whose leaves match some of the URLs of drawURL.
func drawFilter(t *rapid.T, depth int) filter {
	kind := rapid.IntRange(0, 8).Draw(t, "kind")
	if depth == 0 {
		kind = kind%6 + 3
	}
	some := func(words ...string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(words), 1, 2, rapid.ID[string]).Draw(t, "words")
	}
	inner := func() []filter {
		n := rapid.IntRange(1, 3).Draw(t, "inner")
		fs := make([]filter, n)
		for i := range fs {
			fs[i] = drawFilter(t, depth-1)
		}
		return fs
	}
	switch kind {
	case 0:
		return filter{All: inner()}
	case 1:
		return filter{Any: inner()}
	case 2:
		return filter{Not: &inner()[0]}
	case 3:
		return filter{Host: some("a.org", "b.a.org", "c.net:81")}
	case 4:
		return filter{Domain: some("a.org", "net", "b.a.org")}
	case 5:
		return filter{Path: some("/x", "/x/y", "/z/")}
	case 6:
		return filter{Glob: some("**.jpg", "http://*/x/**", "**y?")}
	case 7:
		return filter{Param: some("p", "q")}
	}
	return filter{Extension: some("jpg", "", "html")}
}

func drawURL(t *rapid.T) canon.URL {
	raw := rapid.StringMatching(`https?://(a\.org|b\.a\.org|c\.net(:81)?)(/(x|y|z|)){0,4}(\.jpg|\.html|)(\?[pq]=1)?`).Draw(t, "url")
	u, err := canon.Parse(raw)
	if err != nil {
		t.Skip(err)
	}
	return u
}

func keeps(t *rapid.T, f filter, u canon.URL) bool {
	r, err := compile(f, false)
	if err != nil {
		t.Fatal(err)
	}
	keep, sentence := r.decide(u)
	if sentence == "" {
		t.Fatalf("%s gives no rule for %s", f.String(), u)
	}
	return keep
}

func TestFilterLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, g, u := drawFilter(t, 3), drawFilter(t, 2), drawURL(t)
		kept, kept2 := keeps(t, f, u), keeps(t, g, u)
		not := func(f filter) filter { return filter{Not: &f} }
		laws := []struct {
			name   string
			filter filter
			want   bool
		}{
			{"not", not(f), !kept},
			{"not not", not(not(f)), kept},
			{"all of one", filter{All: []filter{f}}, kept},
			{"any of one", filter{Any: []filter{f}}, kept},
			{"all", filter{All: []filter{f, g}}, kept && kept2},
			{"all, the other way round", filter{All: []filter{g, f}}, kept && kept2},
			{"any", filter{Any: []filter{f, g}}, kept || kept2},
			{"any, the other way round", filter{Any: []filter{g, f}}, kept || kept2},
			{"De Morgan", not(filter{All: []filter{f, g}}), keeps(t, filter{Any: []filter{not(f), not(g)}}, u)},
			{"contradiction", filter{All: []filter{f, not(f)}}, false},
			{"excluded middle", filter{Any: []filter{f, not(f)}}, true},
		}
		for _, law := range laws {
			if got := keeps(t, law.filter, u); got != law.want {
				t.Errorf("%s: %s keeps %s = %v, want %v", law.name, law.filter.String(), u, got, law.want)
			}
		}
	})
}

// What filters compile to agrees with what they mean, said again in the plainest way.
func TestFilterMeaning(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, u := drawFilter(t, 3), drawURL(t)
		if got, want := keeps(t, f, u), means(t, f, u); got != want {
			t.Errorf("%s keeps %s = %v, want %v", f.String(), u, got, want)
		}
	})
}

func means(t *rapid.T, f filter, u canon.URL) bool {
	of := func(g filter) bool { return means(t, g, u) }
	switch {
	case f.Not != nil:
		return !of(*f.Not)
	case len(f.All) > 0:
		return !slices.ContainsFunc(f.All, func(g filter) bool { return !of(g) })
	case len(f.Any) > 0:
		return slices.ContainsFunc(f.Any, of)
	case len(f.Glob) > 0:
		return slices.ContainsFunc(f.Glob, func(glob string) bool {
			pattern, err := config.CompileGlob(glob)
			if err != nil {
				t.Fatal(err)
			}
			return pattern.MatchString(u.String())
		})
	}
	return keeps(t, f, u)
}
