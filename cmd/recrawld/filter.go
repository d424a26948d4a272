package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/scope"
	"recrawld/report"
)

// filterCmd looks into scopes and filters.
type filterCmd struct {
	Test filterTestCmd `cmd:"" help:"Tell for each URL whether a site keeps it, and by which rule."`
}

// filterTestCmd decides about URLs as a crawl would, without asking anybody.
type filterTestCmd struct {
	Site  string `placeholder:"NAME" help:"Only this site, or one that would begin at this URL; otherwise the site that keeps the URL."`
	Level int    `default:"1" help:"How many links the URLs are away from the start URL."`

	Requisite bool `help:"The URLs are of what pages need to be shown: images, styles, scripts."`

	URLs []string `arg:"" optional:"" name:"url" help:"URLs to decide about; without any they are read from standard input, one on a line."`
}

// Run implements the command.
func (c filterTestCmd) Run(ctx context.Context, g *globals) error {
	inForce, _, missing, err := g.withStoredSites(ctx)
	if err != nil {
		return err
	}
	sites, err := c.sites(&inForce)
	if err != nil {
		return err
	}
	d := report.Document{Name: "filter", Title: "Scope and filter", At: clock.System{}.Now(), Columns: []report.Column{
		{Key: "keep", Head: "verdict"}, {Key: "url", Head: "URL", Flex: true}, {Key: "site", Head: "site"},
		{Key: "rule", Head: "rule", Flex: true},
	}}
	err = c.each(g, func(raw string) { d.Rows = append(d.Rows, c.verdictRow(raw, sites)) })
	if err != nil {
		return err
	}
	if missing != nil {
		d.Notes = append(d.Notes, "without some sites of the database: "+missing.Error())
	}
	return g.printDocument(d)
}

// sites are those to ask, with their scopes.
func (c filterTestCmd) sites(inForce *config.Config) ([]preparedSite, error) {
	asked := inForce.Sites
	if c.Site != "" {
		site, err := siteNamed(inForce, c.Site)
		if err != nil && strings.Contains(c.Site, "://") {
			fresh, urlErr := config.NewSite("", c.Site, inForce.Defaults)
			site, err = &fresh, urlErr
		}
		if err != nil {
			return nil, err
		}
		asked = []config.Site{*site}
	}
	if len(asked) == 0 {
		return nil, notFoundf("there is no site yet: --site takes a start URL too")
	}
	prepared := make([]preparedSite, len(asked))
	for i, site := range asked {
		compiled, err := scope.Compile(site)
		if err != nil {
			return nil, err
		}
		prepared[i] = preparedSite{site: site, scope: compiled}
	}
	return prepared, nil
}

// each calls f with every URL.
func (c filterTestCmd) each(g *globals, f func(string)) error {
	for _, raw := range c.URLs {
		f(raw)
	}
	if len(c.URLs) > 0 {
		return nil
	}
	lines := bufio.NewScanner(g.Stdin)
	lines.Buffer(nil, 2*canon.MaxBytes)
	for lines.Scan() {
		if raw := strings.TrimSpace(lines.Text()); raw != "" {
			f(raw)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read URLs: %w", err)
	}
	return nil
}

func (c filterTestCmd) verdictRow(raw string, sites []preparedSite) report.Row {
	u, err := canon.Parse(raw)
	shown, site, verdict := u.String(), "", scope.Verdict{}
	if err != nil {
		shown, verdict.Rule = raw, err.Error()
	} else {
		site, verdict = c.judge(u, sites)
	}
	keep := report.Cell{Value: verdict.Keep, Text: "dropped", Tone: report.Bad}
	if verdict.Keep {
		keep.Text, keep.Tone = "kept", report.Good
	}
	return report.Row{keep, report.TextCell(shown), report.TextCell(site), report.TextCell(verdict.Rule)}
}

// judge is the verdict of the first site that keeps a URL, or else of the first in whose scope it lies. A requisite may lie in that
// of another site, or of none.
func (c filterTestCmd) judge(u canon.URL, sites []preparedSite) (string, scope.Verdict) {
	var site string
	verdict := scope.Verdict{Rule: fmt.Sprintf("outside all %d sites", len(sites))}
	if len(sites) == 1 {
		site, verdict = sites[0].site.Name, sites[0].scope.DecideKnown(u, scope.Known{Level: c.Level, Requisite: c.Requisite})
	}
	inside := false
	for _, s := range sites {
		if !s.scope.Contains(u) {
			continue
		}
		v := s.scope.DecideKnown(u, scope.Known{Level: c.Level, Requisite: c.Requisite})
		if v.Keep {
			return s.site.Name, v
		}
		if !inside {
			site, verdict, inside = s.site.Name, v, true
		}
	}
	for _, s := range sites {
		if v := s.scope.DecideRequisite(u); c.Requisite && v.Keep {
			return s.site.Name, v
		}
	}
	return site, verdict
}
