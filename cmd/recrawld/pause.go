package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
)

// pauseCmd stops visiting a site, or all, until resumeCmd.
type pauseCmd struct {
	whichSites
}

// Run implements the command.
func (c pauseCmd) Run(ctx context.Context, g *globals) error {
	return setPaused(ctx, g, c.whichSites, true)
}

// resumeCmd goes on where pauseCmd stopped.
type resumeCmd struct {
	whichSites
}

// Run implements the command.
func (c resumeCmd) Run(ctx context.Context, g *globals) error {
	return setPaused(ctx, g, c.whichSites, false)
}

// whichSites is one site or all. All must be said: an empty variable of a script is no order to stop everything.
type whichSites struct {
	Site string `arg:"" optional:"" help:"Name or start URL of the site; or --all."`
	All  bool   `help:"All sites."`
}

func (w whichSites) check() error {
	switch {
	case w.All && w.Site != "":
		return usagef("name a site, or say --all, not both")
	case !w.All && w.Site == "":
		return usagef("name a site, or say --all")
	}
	return nil
}

func setPaused(ctx context.Context, g *globals, which whichSites, paused bool) error {
	if err := which.check(); err != nil {
		return err
	}
	return g.withSites(ctx, which, func(store *models.Store, sites []models.Site) error {
		clk, err := clockOf(ctx, store)
		if err != nil {
			return err
		}
		answers := []pausedSite{}
		var lines []string
		for _, site := range sites {
			if err := store.SetPaused(ctx, site.ID, paused, clk.Now()); err != nil {
				return err
			}
			word := map[bool]string{true: "paused", false: "resumed"}[paused]
			if site.Paused == paused {
				word = "was " + word + " already"
			}
			lines = append(lines, site.Name+" "+word)
			answers = append(answers, pausedSite{site.Name, paused, site.Paused != paused})
		}
		return g.answer(answers, cmp.Or(strings.Join(lines, "\n"), "there is no site"))
	})
}

// pausedSite is what became of a site, as pause and resume say it.
type pausedSite struct {
	Site    string `json:"site"`
	Paused  bool   `json:"paused"`
	Changed bool   `json:"changed"` // false: it was so already
}

// removeCmd forgets a site with all its pages and their history.
type removeCmd struct {
	Site string `arg:"" help:"Name or start URL of the site."`
	Yes  bool   `short:"y" help:"Do not ask."`
}

// Run implements the command.
func (c removeCmd) Run(ctx context.Context, g *globals) error {
	file, _, err := g.commandConfig(ctx)
	if err != nil {
		return err
	}
	return g.withSites(ctx, whichSites{Site: c.Site}, func(store *models.Store, sites []models.Site) error {
		site := sites[0]
		for _, listed := range file.Sites {
			if listed.Name == site.Name {
				return refusedf("site %s stands in the configuration file: take it out there first", site.Name)
			}
		}
		pages, err := pagesOf(ctx, store, site.ID)
		if err != nil {
			return err
		}
		question := fmt.Sprintf("Remove %s with its %d pages and their history? What was archived and mirrored stays.", site.Name, pages)
		if yes, err := g.confirm(question, c.Yes, false); err != nil || !yes {
			return err
		}
		clk, err := clockOf(ctx, store)
		if err != nil {
			return err
		}
		if err := removeSite(ctx, store, site, clk.Now()); err != nil {
			return err
		}
		return g.answer(struct {
			Site  string `json:"site"`
			Pages int64  `json:"pages"` // that were removed with it
		}{site.Name, pages}, site.Name+" removed")
	})
}

// removeSite removes a site that was there a moment ago.
func removeSite(ctx context.Context, store *models.Store, site models.Site, now time.Time) error {
	err := store.RemoveSite(ctx, site.ID, now)
	if errors.Is(err, models.ErrNotFound) {
		return notFoundf("no site %q any more: another command has removed it meanwhile", site.Name)
	}
	return err
}

// pagesOf counts the pages of a site, in any state.
func pagesOf(ctx context.Context, store *models.Store, site int32) (n int64, err error) {
	states, err := store.PageCounts(ctx)
	for _, st := range states {
		if st.SiteID == site {
			n += st.Pages
		}
	}
	return n, err
}

// withSites opens the database and calls f with the site of a name or start URL, or with all. A name that is none ends the
// program with exitNotFound and lists those there are.
func (g *globals) withSites(ctx context.Context, which whichSites, f func(*models.Store, []models.Site) error) error {
	return g.withStore(ctx, g.openExisting, func(_ *config.Config, store *models.Store) error {
		rows, err := store.Sites(ctx)
		if err != nil {
			return err
		}
		if !which.All {
			site, err := findSite(rows, which.Site)
			if err != nil {
				return err
			}
			rows = []models.Site{site}
		}
		return f(store, rows)
	})
}

// findSite is the site of a name or a start URL.
func findSite(rows []models.Site, name string) (models.Site, error) {
	url := startURL(name)
	names := make([]string, 0, len(rows))
	for _, row := range rows {
		if row.Name == name || row.URL == url {
			return row, nil
		}
		names = append(names, row.Name)
	}
	return models.Site{}, noSite(name, names)
}

// startURL is a name as the start URL that it may be.
func startURL(name string) string {
	if u, err := canon.Parse(name); err == nil {
		return u.String()
	}
	return name
}

// mostNames is how many sites an error names.
const mostNames = 10

// noSite is the error for a site that there is not, with the names of those that there are.
func noSite(name string, names []string) error {
	switch n := len(names); {
	case n == 0:
		return notFoundf("no site %q: there is none yet (recrawld add URL --name NAME makes one, and so does recrawld import without --site)", name)
	case n > mostNames:
		return notFoundf("no site %q: there is %s and %d more (recrawld status)", name, strings.Join(names[:mostNames], ", "), n-mostNames)
	}
	return notFoundf("no site %q: there is %s", name, strings.Join(names, ", "))
}

// confirm asks a question on a terminal, where an empty answer means preset. Without a terminal it takes --yes for an
// answer and refuses without it.
func (g *globals) confirm(question string, yes, preset bool) (bool, error) {
	if err := g.askable(question, yes); err != nil || yes {
		return yes, err
	}
	choice := map[bool]string{true: "[Y/n]", false: "[y/N]"}[preset]
	fmt.Fprintf(g.Stderr, "%s %s ", question, choice)
	line, err := bufio.NewReader(g.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	return answer(line, preset), nil
}

// askable is the error of confirm where nobody can be asked, for before what is done until then.
func (g *globals) askable(question string, yes bool) error {
	if !yes && !isTerminal(g.Stdin) {
		return usagef("nobody is there to be asked %q: give --yes", question)
	}
	return nil
}

// answer is what a person's line says to a question of yes or no.
func answer(line string, preset bool) bool {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "":
		return preset && line != "" // the end of the input is no consent
	case "y", "yes":
		return true
	}
	return false
}
