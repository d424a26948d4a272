package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseRate(t *testing.T) {
	t.Parallel()
	good := map[string]Rate{
		"20000/day":    {PerDay: 20000},
		"20_000/day":   {PerDay: 20000},
		"0.5/day":      {PerDay: 0.5},
		"0.2/page/day": {PerDay: 0.2, PerPage: true},
		"off":          {},
	}
	for text, want := range good {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "/", "/day", "5", "5/", "5/page", "5/days", "-5/day", "+5/day", "5 /day", "5/day/page",
		"0/day", "1e3/day", "inf/day", "NaN/day", "0x10/day", "99999999999/day", "1441/page/day", "0.00001/page/day"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("ParseRate(%q) = %v, want an error", text, got)
		}
	}
}

func TestRateReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := Rate{PerDay: rapid.Float64Range(leastPerDay, mostPerPageDay).Draw(t, "per day"), PerPage: rapid.Bool().Draw(t, "per page")}
		if got, err := ParseRate(r.String()); err != nil || got != r {
			t.Fatalf("ParseRate(%q) = %v, %v, want %v", r.String(), got, err, r)
		}
	})
}

func TestRateOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rate  string
		pages int64
		want  float64
	}{{"2000/day", 5, 2000}, {"0.25/page/day", 100, 25}, {"0.25/page/day", 0, 0}, {"off", 100, 0}} {
		r, err := ParseRate(test.rate)
		if got := r.Of(test.pages); err != nil || got != test.want {
			t.Errorf("%s of %d pages = %v, %v, want %v", test.rate, test.pages, got, err, test.want)
		}
	}
}

func TestBudgetForms(t *testing.T) {
	t.Parallel()
	both := Budget{Requests: Rate{PerDay: 2000}, Bytes: 2 << 30}
	for text, want := range map[string]Budget{
		"budget: { requests: 2000/day, bytes: 2GiB/day }":         both,
		"budget:\n  requests: 2000/day\n  bytes: 2GiB/day\n":      both,
		"budget:\n  bytes: 2GiB/day\n":                            {Bytes: 2 << 30},
		"budget: 2000/day":                                        {Requests: Rate{PerDay: 2000}},
		"budget: off":                                             {},
		"budget: { requests: 0.2/page/day, bytes: off }":          {Requests: Rate{PerDay: 0.2, PerPage: true}},
		"sites: [{url: \"https://a.example.org/\"}]\nbudget: off": {},
	} {
		c, _ := mustParse(t, text)
		if diff := cmp.Diff(want, c.Budget); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestBudgetsThatSayNothing: who writes a budget of nothing, or a size where requests are counted, is told what to write, in whichever form.
func TestBudgetsThatSayNothing(t *testing.T) {
	t.Parallel()
	const nothing = "would visit nothing, and off is no bound: write more than 0, or pause sites (recrawld pause SITE)"
	for text, want := range map[string]string{
		"budget: 0/day":               nothing,
		"budget: 0B/day":              nothing,
		"budget: 0MiB":                nothing,
		"budget: { bytes: 0B/day }":   nothing,
		"budget: { requests: 0/day }": nothing,
		"budget: 2GiB/day":            "\"2GiB/day\" is a size, and this a number of requests: write budget: { bytes: 2GiB/day }",
	} {
		if _, _, err := Parse("budget.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
}

// A site that switches the budget of the defaults off has neither of its bounds.
func TestBudgetOffAtASite(t *testing.T) {
	t.Parallel()
	c, _ := mustParse(t, `
defaults: { budget: { requests: 10/day, bytes: 1MiB/day } }
sites:
  - { url: "https://a.example.org/", budget: off }
  - { url: "https://b.example.org/", budget: 5/day }
  - { url: "https://c.example.org/" }
`)
	want := []Budget{{}, {Rate{PerDay: 5}, 1 << 20}, {Rate{PerDay: 10}, 1 << 20}}
	for i, w := range want {
		if diff := cmp.Diff(w, c.Sites[i].Settings.Budget); diff != "" {
			t.Errorf("budget of site %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestEffectiveBudget(t *testing.T) {
	t.Parallel()
	byDefault, five, none := DefaultBudget(), Budget{Requests: Rate{PerDay: 5}}, Budget{}
	tests := []struct {
		text string
		all  Budget
		site []Budget
	}{
		{"", none, nil},
		{"defaults: {policy: adaptive}", byDefault, nil},
		{"budget: 5/day\ndefaults: {policy: adaptive}\nsites: [{url: \"https://a/\"}]", five, []Budget{none}},
		{"sites: [{url: \"https://a/\", policy: adaptive}, {url: \"https://b/\", policy: adaptive}]", byDefault, []Budget{none, none}},
		{"sites: [{url: \"https://a/\", policy: adaptive}, {url: \"https://b/\"}]", none, []Budget{byDefault, none}},
		{"sites: [{url: \"https://a/\", policy: adaptive}, {url: \"https://b/\", policy: adaptive, budget: 5/day}]", none, []Budget{byDefault, five}},
		{"defaults: {policy: adaptive, budget: 5/day}", none, nil},
	}
	for _, test := range tests {
		c, _ := mustParse(t, test.text)
		if diff := cmp.Diff(test.all, c.EffectiveBudget()); diff != "" {
			t.Errorf("%s: of all (-want +got):\n%s", test.text, diff)
		}
		for i, want := range test.site {
			if diff := cmp.Diff(want, c.SiteBudget(&c.Sites[i].Settings)); diff != "" {
				t.Errorf("%s: of site %d (-want +got):\n%s", test.text, i, diff)
			}
		}
	}
}
