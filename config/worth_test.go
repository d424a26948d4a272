package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImportance(t *testing.T) {
	t.Parallel()
	c, _ := mustParse(t, `
defaults:
  importance: 2
sites:
  - url: https://a.example.org/
    importance:
      links: on
      rules:
        - filter: { path: [/news/, /blog/] }
          weight: 5
        - { filter: { not: { extension: html } }, weight: 0.5 }
  - url: https://b.example.org/
    importance: { weight: 3, rules: [] }
`)
	want := []Importance{
		{Weight: 2, Links: true, Rules: []Weight{
			{Filter: Filter{Line: 9, Path: []string{"/news/", "/blog/"}}, Weight: 5},
			{Filter: Filter{Line: 11, Not: &Filter{Line: 11, Extension: []string{"html"}}}, Weight: 0.5},
		}},
		{Weight: 3},
	}
	for i, w := range want {
		if diff := cmp.Diff(w, c.Sites[i].Settings.Importance); diff != "" {
			t.Errorf("importance at site %d (-want +got):\n%s", i, diff)
		}
	}
	if err := c.Validate(); err != nil {
		t.Errorf("Validate() = %v", err)
	}
	var shown string
	for _, v := range c.Sites[0].Values(nil) {
		if v.Key == "importance.rules" {
			shown = v.Value
		}
	}
	if want := "[{filter: {path: [/news/, /blog/]}, weight: 5}, {filter: {not: {extension: html}}, weight: 0.5}]"; shown != want {
		t.Errorf("the rules are shown as %s, want %s", shown, want)
	}
	again, err := c.ParseSettings("importance: {rules: " + shown + "}")
	if err != nil {
		t.Fatal(err)
	}
	back := rulesValue{&again.Importance.Rules}.String()
	if back != shown {
		t.Errorf("what is shown is read back as %s, want %s", back, shown)
	}
}

func TestImportanceIsValidated(t *testing.T) {
	t.Parallel()
	broken := map[string]Importance{
		"defaults.importance.weight: 0 is less than 0.001":                         {},
		"defaults.importance.weight: NaN is more than 1000":                        {Weight: nan()},
		"defaults.importance.rules: a rule has no filter":                          {Weight: 1, Rules: []Weight{{Weight: 1}}},
		"defaults.importance.rules: weight: 0 is less than 0.001":                  {Weight: 1, Rules: []Weight{{Filter: Filter{Path: []string{"/"}}}}},
		"defaults.importance.rules: filter: path: \"x\" does not begin with \"/\"": {Weight: 1, Rules: []Weight{{Filter: Filter{Path: []string{"x"}}, Weight: 1}}},
	}
	for want, importance := range broken {
		c := Default()
		c.Defaults.Importance = importance
		if err := c.Validate(); err == nil || err.Error() != want {
			t.Errorf("Validate() =\n%v\nwant\n%s", err, want)
		}
	}
}

func TestForComparison(t *testing.T) {
	t.Parallel()
	var work []string
	for _, name := range Policies() {
		if !ForComparison(name) {
			work = append(work, name)
		}
	}
	if diff := cmp.Diff([]string{"adaptive", "classic", "fixed"}, work); diff != "" {
		t.Errorf("policies to work with (-want +got):\n%s", diff)
	}
}
