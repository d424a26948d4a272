package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/scope"
	"recrawld/report"
	"recrawld/scheduler"
)

// settingFlags are the settings of a site that commands take.
type settingFlags struct {
	Delay  string `placeholder:"TIME" help:"Between two requests to a host; default 10s."`
	FR     *int   `name:"fr" placeholder:"N" help:"Interval to start with, in cycles; default 4."`
	FRMax  *int   `name:"fr-max" placeholder:"N" help:"Longest interval, in cycles; default 120."`
	Policy string `placeholder:"NAME" help:"How intervals are chosen: classic, fixed or adaptive; for comparison uniform, nutch or storm. Default adaptive where a budget bounds the site, else classic."`
	Level  *int   `placeholder:"N" help:"Links from the start URL; default 10."`

	Watch  []string `sep:"none" placeholder:"SELECTOR" help:"CSS selector of what alone is content; may be given again."`
	Ignore []string `sep:"none" placeholder:"SELECTOR" help:"CSS selector of what never is content; may be given again."`

	Requisites string `placeholder:"WHICH" help:"Images, styles and scripts that pages need to be shown: those on the site's hosts (site), all, or none (off); default off."`
}

// text is the settings as a site's row keeps them, "" where no flag was given.
func (f settingFlags) text() string {
	var b strings.Builder
	put := func(key, value string, given bool) {
		if given {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	put("delay", f.Delay, f.Delay != "")
	number := func(key string, n *int) {
		if n != nil {
			put(key, strconv.Itoa(*n), true)
		}
	}
	number("fr", f.FR)
	number("fr_max", f.FRMax)
	put("policy", f.Policy, f.Policy != "")
	number("level", f.Level)
	put("watch", listText(f.Watch), len(f.Watch) > 0)
	put("ignore", listText(f.Ignore), len(f.Ignore) > 0)
	put("requisites", f.Requisites, f.Requisites != "")
	return b.String()
}

// listText writes words as a list of YAML.
func listText(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = strconv.Quote(word)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// addCmd looks at a site, says what keeping it fresh will cost, and adds it.
type addCmd struct {
	settingFlags
	URL      string `arg:"" help:"Start URL; the site is its directory and what lies below."`
	Name     string `placeholder:"NAME" help:"Name of the site; default its host."`
	Contact  string `placeholder:"URL" help:"Page or mail address of whoever runs this; the daemon needs it too."`
	Sitemaps int    `default:"10" placeholder:"N" help:"Read at most so many sitemap files; 0 for none."`
	Probes   int    `default:"3" placeholder:"N" help:"Pages to look at, 1 to 5; one of them is asked twice."`
	Yes      bool   `short:"y" help:"Add without asking."`
}

// Run implements the command.
func (a addCmd) Run(ctx context.Context, g *globals) error {
	c, _, err := g.commandConfig(ctx)
	if err != nil {
		return err
	}
	site, err := a.site(&c)
	if err != nil {
		return err
	}
	const question = "start?"
	if err := g.askable(question, a.Yes); err != nil { // before it makes requests, and waits between them
		return err
	}
	turns, err := g.openTurns(ctx, &c)
	if err != nil {
		return err
	}
	s, err := a.survey(ctx, g, &c, site, turns)
	if err = errors.Join(err, turns.close()); err != nil {
		return err
	}
	if g.JSON {
		err = report.WriteValue(g.Stdout, s)
	} else {
		err = s.write(g.Stdout)
	}
	if err != nil {
		return err
	}
	if s.Excluded != "" {
		return refusedf("%s may not be visited: %s", site.URL, s.Excluded)
	}
	if yes, err := g.confirm(question, a.Yes, true); err != nil || !yes {
		return err
	}
	return a.write(ctx, g, &c, site, s, turns.left())
}

func (a addCmd) survey(ctx context.Context, g *globals, c *config.Config, site config.Site, turns *turns) (*survey, error) {
	v, err := newSurveyor(g, c, site, a, turns)
	if err != nil {
		return nil, err
	}
	defer v.close()
	return v.survey(ctx)
}

// site is what is to be added, with its settings; nothing that may not be asked passes.
func (a addCmd) site(c *config.Config) (config.Site, error) {
	if a.Probes < 1 || a.Probes > 5 || a.Sitemaps < 0 {
		return config.Site{}, usagef("--probes is 1 to 5 and --sitemaps not less than 0")
	}
	u, err := canon.Parse(a.URL)
	if err != nil {
		return config.Site{}, usagef("%s: %w", a.URL, err)
	}
	settings, err := c.ParseSettings(a.text())
	if err != nil {
		return config.Site{}, usagef("%w", err)
	}
	site, err := config.NewSite(a.Name, u.String(), settings)
	if err != nil {
		return config.Site{}, usagef("%s: %w", a.URL, err)
	}
	if a.Contact != "" {
		if err := c.Set(config.Origins{}, "agent.contact", a.Contact); err != nil {
			return config.Site{}, usagef("%w", err)
		}
	}
	c.Sites = []config.Site{site}
	if err := c.CheckContact(); err != nil {
		return config.Site{}, refusedf("%w (or give it with --contact)", err)
	}
	allowOwnSites(c)
	return site, nil
}

// write adds the site and the pages that the survey found, due when its host was left alone for so long.
func (a addCmd) write(ctx context.Context, g *globals, c *config.Config, site config.Site, s *survey, rest time.Duration) (err error) {
	store, err := g.openStoreForWriting(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	clk, err := clockOf(ctx, store)
	if err != nil {
		return err
	}
	row, err := a.row(ctx, store, site, clk.Now())
	if err != nil {
		return err
	}
	due := clk.Now().Add(rest)
	pages := make([]models.Discovery, 0, len(s.pages)+1)
	worth, err := compileWorth(site.Settings.Importance)
	if err != nil {
		return err
	}
	add := func(raw string, level int16, due time.Time) {
		if u, err := canon.Parse(raw); err == nil {
			page := scheduler.NewPage(u.String(), u.HostName(), row.ID, level, site.Settings.FR)
			page.DueAt = models.At(due)
			if !worth.plain() {
				page.Importance = worth.of(page.URL, 1)
			}
			pages = append(pages, models.Discovery{Page: page, Host: u.HostName()})
		}
	}
	add(site.URL, 0, due)
	then := due.Add(time.Second) // by a budget it takes weeks until all have had their first turn: the start page is not to be the last
	if s.list != "" {
		add(s.list, 1, due)
	}
	for _, raw := range s.pages {
		add(raw, 1, then)
	}
	added, err := store.AddPages(ctx, clk.Now(), pages, site.Settings.PagesPerHost)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.Stderr, "added %s with %s; %s\n", row.Name, report.Plural(added.Added+added.Known, "page"), whoVisits(ctx, store))
	return nil
}

// row stores the site. Under the start URL of a site that is there already its settings are changed.
func (a addCmd) row(ctx context.Context, store *models.Store, site config.Site, now time.Time) (models.Site, error) {
	rows, err := store.Sites(ctx)
	if err != nil {
		return models.Site{}, err
	}
	u, err := canon.Parse(site.URL)
	if err != nil {
		return models.Site{}, err
	}
	name := freeName(rows, u)
	known := slices.ContainsFunc(rows, func(row models.Site) bool { return row.Name == a.Name })
	for _, row := range rows {
		switch {
		case row.URL == u.String() && a.Name == "":
			name = row.Name
		case row.URL == u.String() && !known:
			return models.Site{}, usagef("site %s begins at %s already, and has its pages: leave --name out to change its settings", row.Name, row.URL)
		case row.Name == a.Name && row.URL != u.String():
			return models.Site{}, usagef("site %s is %s: give this one another --name", row.Name, row.URL)
		}
	}
	if a.Name != "" {
		name = a.Name
	}
	return store.AddSite(ctx, now, models.Site{Name: name, URL: u.String(), Settings: a.text()})
}

// whoVisits says whether a daemon will come for what was added.
func whoVisits(ctx context.Context, store *models.Store) string {
	if living, err := someoneLives(ctx, store); err == nil && living {
		return "the daemon begins within seconds"
	}
	return "no daemon runs: recrawld run begins"
}

// compileWhole is the scope of everything on the host of a URL: what a survey may look at besides the site's own pages.
func compileWhole(site config.Site, u canon.URL) (config.Site, *scope.Scope, error) {
	whole := config.Site{Name: site.Name, URL: u.Origin() + "/", Settings: site.Settings}
	whole.Settings.Filter, whole.Settings.Windows, whole.Settings.Parents.Threshold = config.Filter{}, nil, 0
	whole.Settings.Level, whole.Settings.Segments, whole.Settings.Repeats = 1000, 1000, 1000
	whole.Settings.Requisites, whole.Settings.RequisitesFilter = config.RequisitesAll, config.Filter{}
	compiled, err := scope.Compile(whole)
	return whole, compiled, err
}
