package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/config"
	"recrawld/models"
)

// TestConfigDiffTellsWhatBecomesOfPages: how many go out of scope, how many of them another site keeps, and what the budget pays for.
func TestConfigDiffTellsWhatBecomesOfPages(t *testing.T) {
	t.Parallel()
	const site = "  - {url: \"http://127.0.0.1:9/docs/\", name: docs"
	old, data := configure(t, "budget: 100/day\nsites:\n"+site+"}\n")
	list := filepath.Join(t.TempDir(), "list")
	var urls strings.Builder
	for _, page := range []string{"a.html", "b.html", "old/c.html", "old/d.html", "old/new/e.html"} {
		urls.WriteString("http://127.0.0.1:9/docs/" + page + "\n")
	}
	if err := os.WriteFile(list, []byte(urls.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "run", "-c", old, "--for", "100ms")
	must(t, "import", "-c", old, list)
	changed := filepath.Join(t.TempDir(), "new.yaml")
	writeConfig(t, changed, data, "budget: 0.5/page/day\nsites:\n"+site+", filter: {not: {path: [/docs/old/]}}}\n")
	answer := must(t, "config", "diff", old, changed)
	for _, want := range []string{"pages in scope", "3 go out of it", "such as http://127.0.0.1:9/docs/old/", "visits a day that the budget pays for"} {
		if !strings.Contains(strings.Join(strings.Fields(answer), " "), want) {
			t.Errorf("config diff does not say %q:\n%s", want, answer)
		}
	}
	if back := must(t, "config", "diff", "--json", changed, old); !strings.Contains(back, `"old": "3", "new": "6"`) ||
		!strings.Contains(back, `"old": "3", "new": "100"`) {
		t.Errorf("the way back, with six pages: %s", back)
	}
	without := filepath.Join(t.TempDir(), "without.yaml")
	writeConfig(t, without, data, "")
	left := strings.Join(strings.Fields(must(t, "config", "diff", old, without)), " ")
	if want := "docs: leaves the file and stays, with 6 pages that are visited under the defaults, until recrawld remove docs"; !strings.Contains(left, want) {
		t.Errorf("of a file without the site config diff does not say %q:\n%s", want, left)
	}
	if same := must(t, "config", "diff", old, old); !strings.Contains(same, "They say the same") || strings.Contains(same, "scope") {
		t.Errorf("of the same file: %s", same)
	}
}

// TestEffectOnRequisites: they come and go with requisites, and what else lies there does not.
func TestEffectOnRequisites(t *testing.T) {
	t.Parallel()
	rows := []models.Site{{ID: 1, Name: "docs", URL: "https://example.org/docs/", FromFile: true}}
	under := func(requisites string) *inForce {
		c := config.Default()
		site, err := config.NewSite("docs", rows[0].URL, c.Defaults)
		if err != nil {
			t.Fatal(err)
		}
		site.Settings.Requisites = requisites
		c.Sites = []config.Site{site}
		f, err := putTogether(c, config.DefaultOrigins(), rows)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	e := &effecting{before: under(config.RequisitesAll), after: under(config.RequisitesSite), bySite: make(map[int32]*scopeEffect), known: make(map[int32]int64)}
	for _, p := range []models.Page{
		{URL: "https://example.org/docs/a"}, {URL: "https://example.org/docs/a.png", Requisite: true}, {URL: "https://example.org/b.png", Requisite: true},
		{URL: "https://cdn.example/c.png", Requisite: true}, {URL: "https://cdn.example/d.png"},
	} {
		p.SiteID = 1
		e.page(&p)
	}
	if got, want := *e.bySite[1], (scopeEffect{before: 4, after: 3, leave: 1, example: "https://cdn.example/c.png"}); got != want {
		t.Errorf("from all to site: %+v, want %+v", got, want)
	}
}

// TestEffectOnLists: they stay where the level is lowered, and what else is below it does not.
func TestEffectOnLists(t *testing.T) {
	t.Parallel()
	rows := []models.Site{{ID: 1, Name: "docs", URL: "https://example.org/", FromFile: true}}
	under := func(level int) *inForce {
		c := config.Default()
		site, err := config.NewSite("docs", rows[0].URL, c.Defaults)
		if err != nil {
			t.Fatal(err)
		}
		site.Settings.Level = level
		c.Sites = []config.Site{site}
		f, err := putTogether(c, config.DefaultOrigins(), rows)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	e := &effecting{before: under(10), after: under(0), bySite: make(map[int32]*scopeEffect), known: make(map[int32]int64)}
	for _, p := range []models.Page{{URL: "https://example.org/"}, {URL: "https://example.org/s.xml", Level: 1, Entries: 7}, {URL: "https://example.org/a", Level: 1}} {
		p.SiteID = 1
		e.page(&p)
	}
	if got, want := *e.bySite[1], (scopeEffect{before: 3, after: 2, leave: 1, example: "https://example.org/a"}); got != want {
		t.Errorf("from level 10 to 0: %+v, want %+v", got, want)
	}
}

// TestEffectOnTurns: pages that wait by their intervals take as many turns a day as the new cycle has them, where one is set.
func TestEffectOnTurns(t *testing.T) {
	t.Parallel()
	rows := []models.Site{{ID: 1, Name: "docs", URL: "https://example.org/docs/"}}
	under := func(cycle string) *inForce {
		c := config.Default()
		c.Cycle, c.Defaults.Vary = cycle, 0
		f, err := putTogether(c, config.DefaultOrigins(), rows)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	e := &effecting{before: under("6h"), after: under("1h"), bySite: make(map[int32]*scopeEffect), known: make(map[int32]int64), paced: true}
	for _, rule := range []models.Rule{models.RulePolicy, models.RuleWindow, models.RuleBackoff} {
		e.page(&models.Page{URL: "https://example.org/docs/a", SiteID: 1, State: models.StateLive, Rule: rule, FRMax: 2, DueAt: 9, Stats: models.ChangeStats{VisitedAt: 1}})
	}
	if e.turns != [2]float64{4, 24} {
		t.Errorf("%v turns a day, want 4 and 24: two pages every 12 and every 2 hours", e.turns)
	}
}

// TestEffectOnManySitesIsToldInFewWords: of the sites that lose most, and of the others together.
func TestEffectOnManySitesIsToldInFewWords(t *testing.T) {
	t.Parallel()
	e := configEffect{}
	for i := range int64(12) {
		e.scopes = append(e.scopes, scopeEffect{site: fmt.Sprintf("site%d", i), before: 100, leave: i, join: 1})
	}
	notes := e.notes()
	if len(notes) != 11 || !strings.HasPrefix(notes[0], "site11: of 100 pages") || notes[10] != "2 sites more: 1 page out of scope, 2 into it" {
		t.Errorf("12 sites are told of as\n%s", strings.Join(notes, "\n"))
	}
}
