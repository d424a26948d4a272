package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/scheduler/policy"
)

// The configuration names the policies without knowing them.
func TestPoliciesAreThoseThereAre(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(policy.Names(), config.Policies()); diff != "" {
		t.Errorf("policies (-there are +can be chosen):\n%s", diff)
	}
}

// Where no policy is named it is adaptive if a budget bounds the site, and classic else, however and whenever both are said.
func TestPolicyFollowsTheBudget(t *testing.T) {
	t.Parallel()
	const sites = "sites:\n- url: https://a.example/\n- {url: https://b.example/, policy: fixed}\n- {url: https://c.example/, budget: 9/day}\n"
	for what, test := range map[string]struct{ top, want string }{
		"no budget":                 {"", "classic classic fixed adaptive classic adaptive"},
		"a budget of all":           {"budget: 20000/day\n", "adaptive adaptive fixed adaptive adaptive adaptive"},
		"of bytes":                  {"budget: {bytes: 1GiB/day}\n", "adaptive adaptive fixed adaptive adaptive adaptive"},
		"of each site":              {"defaults: {budget: 9/day}\n", "adaptive adaptive fixed adaptive adaptive adaptive"},
		"a policy named for all":    {"budget: 20000/day\ndefaults: {policy: classic}\n", "classic classic fixed classic classic classic"},
		"each with its own, and it": {"defaults: {policy: adaptive}\n", "adaptive adaptive fixed adaptive adaptive adaptive"},
	} {
		c, o, err := config.Parse("recrawld.yaml", []byte(test.top+sites))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		c, _, err = c.WithSites(o, []config.StoredSite{{ID: 4, URL: "https://d.example/"}, {ID: 5, URL: "https://e.example/", Settings: "budget: 9/day\n"}})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got := c.Defaults.Policy
		for _, site := range c.Sites {
			got += " " + site.Settings.Policy
		}
		if got != test.want {
			t.Errorf("%s: policies %s, want %s", what, got, test.want)
		}
	}
	c, o, err := config.Parse("recrawld.yaml", []byte(sites))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ key, word, defaults, b string }{
		{"budget.requests", "100/day", "adaptive", "fixed"}, {"budget.requests", "off", "classic", "fixed"},
		{"defaults.policy", "adaptive", "adaptive", "fixed"}, {"budget.requests", "off", "adaptive", "fixed"},
	} {
		if err := c.Set(o, step.key, step.word); err != nil {
			t.Fatal(err)
		}
		if a := c.Sites[0].Settings.Policy; c.Defaults.Policy != step.defaults || a != step.defaults || c.Sites[1].Settings.Policy != step.b {
			t.Errorf("%s=%s: policies %s, %s and %s, want %s, the same and %s", step.key, step.word, c.Defaults.Policy, a, c.Sites[1].Settings.Policy,
				step.defaults, step.b)
		}
	}
	if s, err := c.ParseSettings("budget: 5/day\npolicy: classic\n"); err != nil || s.Policy != "classic" {
		t.Errorf("ParseSettings = %s, %v, want classic", s.Policy, err)
	}
}
