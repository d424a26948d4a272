package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/report"
	"recrawld/scheduler"
)

// importCmd adds the pages of a list.
type importCmd struct {
	File   string `arg:"" default:"-" help:"List of URLs, one a line, or CSV lines URL,FR; - or nothing for standard input."`
	Site   string `placeholder:"NAME" help:"Site that the pages belong to; without it each host is a site of its own."`
	Follow bool   `help:"Let the sites that are made follow links; without it they keep to the list."`
}

// Help is the text below the flags.
func (importCmd) Help() string {
	return `FR is the interval to start with, in cycles. Empty lines, lines that begin with # and a heading "url,fr" are skipped.
A URL that ends in a comma and a number stands in quotes. Bad lines are counted and the first ten shown.

Without --site, the pages of a host belong to the site whose start URL is on it; for a host without one a site is made,
named after it, that starts at its root. Such a site follows no links (level 0) unless --follow is given. URLs outside
the scope of their site are bad lines.`
}

// Run implements the command.
func (c importCmd) Run(ctx context.Context, g *globals) (err error) {
	conf, origins, err := g.loadConfig()
	if err != nil {
		return err
	}
	in, err := openInput(g, c.File)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	store, err := g.openStoreForWriting(ctx, &conf)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	i := &importer{g: g, store: store, base: conf, origins: origins, site: c.Site, follow: c.Follow, began: clock.System{}.Now()}
	if err := i.begin(ctx); err != nil {
		return err
	}
	if err := i.all(ctx, newLineReader(in)); err != nil {
		return fmt.Errorf("%w (%s were added; the same import again goes on)", err, report.Plural(i.counts.Added, "page"))
	}
	return i.finish()
}

func openInput(g *globals, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(g.Stdin), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err // it names the file
	}
	return file, nil
}

// importBatch is how many pages are written at a time, which bounds the memory of an import.
const importBatch = 20_000

// How many bad lines and names of new sites are shown.
const (
	shownBad   = 10
	shownSites = 10
)

// importCounts is what an import came to; its JSON form is the command's.
type importCounts struct {
	Lines   int      `json:"lines"`
	Added   int      `json:"added"`
	Known   int      `json:"known"`
	Dropped int      `json:"dropped"` // beyond the limit of pages a host
	Bad     int      `json:"bad"`
	Sites   int      `json:"new_sites"`
	Names   []string `json:"new_site_names,omitempty"` // the first few
	Shown   []string `json:"bad_lines,omitempty"`
}

// importer adds pages batch by batch.
type importer struct {
	g       *globals
	store   *models.Store
	base    config.Config
	origins config.Origins
	site    string // "": by host
	follow  bool
	began   time.Time

	now    time.Time // by the daemon's clock
	force  *inForce
	only   int32            // the site of all pages; 0: by host
	byHost map[string]int32 // sites by host
	names  map[string]bool  // of sites
	batch  []models.Discovery
	counts importCounts
}

// begin reads the sites there are.
func (i *importer) begin(ctx context.Context) error {
	clk, err := clockOf(ctx, i.store)
	if err != nil {
		return err
	}
	i.now = clk.Now()
	rows, err := i.store.Sites(ctx)
	if err != nil {
		return err
	}
	if i.force, err = putTogether(i.base, i.origins, rows); err != nil {
		return err
	}
	i.byHost = make(map[string]int32, len(rows))
	i.names = make(map[string]bool, len(rows))
	for _, row := range rows {
		i.names[row.Name] = true
		if u, err := canon.Parse(row.URL); err == nil && i.byHost[u.HostName()] == 0 {
			i.byHost[u.HostName()] = row.ID
		}
	}
	if i.site == "" {
		return nil
	}
	site, err := findSite(rows, i.site)
	i.only = site.ID
	return err
}

// all reads the list to its end.
func (i *importer) all(ctx context.Context, lines *lineReader) error {
	for {
		line, err := lines.next()
		var bad *badLine
		switch {
		case errors.Is(err, io.EOF):
			return i.flush(ctx)
		case errors.As(err, &bad):
			i.counts.Lines++
			i.bad(bad)
			continue
		case err != nil:
			return err
		}
		if err := i.line(ctx, line); err != nil {
			return err
		}
	}
}

// line takes one line into the batch.
func (i *importer) line(ctx context.Context, line importLine) error {
	i.counts.Lines++
	u, err := canon.Parse(line.URL)
	if err != nil {
		i.bad(newBadLine(line.Number, line.URL, err))
		return nil
	}
	id, err := i.siteOf(ctx, u)
	if err != nil {
		return err
	}
	site, scope := i.force.site(id)
	if verdict := scope.Decide(u, 0); !verdict.Keep {
		i.bad(newBadLine(line.Number, line.URL, errors.New(verdict.Rule)))
		return nil
	}
	fr := site.Settings.FR
	if line.FR > 0 {
		fr = min(line.FR, site.Settings.FRMax)
	}
	page := scheduler.NewPage(u.String(), u.HostName(), id, 0, fr)
	page.DueAt = models.At(i.now)
	i.batch = append(i.batch, models.Discovery{Page: page, Host: u.HostName()})
	if len(i.batch) < importBatch {
		return nil
	}
	return i.flush(ctx)
}

// siteOf is the site that a URL belongs to; a host without one gets one.
func (i *importer) siteOf(ctx context.Context, u canon.URL) (int32, error) {
	if i.only != 0 {
		return i.only, nil
	}
	if id := i.byHost[u.HostName()]; id != 0 {
		return id, nil
	}
	name := u.HostName()
	for n := 2; i.names[name]; n++ {
		name = fmt.Sprintf("%s-%d", u.HostName(), n)
	}
	settings := "level: 0\n"
	if i.follow {
		settings = ""
	}
	row, err := i.store.AddSite(ctx, i.now, models.Site{Name: name, URL: u.Origin() + "/", Settings: settings})
	if err != nil {
		return 0, err
	}
	added, err := putTogether(i.base, i.origins, []models.Site{row})
	if err != nil {
		return 0, err
	}
	i.force.sites[row.ID], i.byHost[u.HostName()], i.names[name] = added.sites[row.ID], row.ID, true
	if i.counts.Sites++; i.counts.Sites <= shownSites {
		i.counts.Names = append(i.counts.Names, name)
	}
	return row.ID, nil
}

// flush writes the batch.
func (i *importer) flush(ctx context.Context) error {
	i.force.weigh(i.batch)
	added, err := i.store.AddPages(ctx, i.now, i.batch, i.base.Defaults.PagesPerHost)
	i.counts.Added += added.Added
	i.counts.Known += added.Known
	i.counts.Dropped += added.Dropped
	i.batch = i.batch[:0]
	if err == nil && isTerminal(i.g.Stderr) {
		took := clock.System{}.Now().Sub(i.began)
		fmt.Fprintf(i.g.Stderr, "\r  %s lines, %s added, %s/s ", report.Count(i.counts.Lines), report.Count(i.counts.Added),
			report.Count(int(float64(i.counts.Lines)/max(took.Seconds(), 0.001))))
	}
	return err
}

func (i *importer) bad(line *badLine) {
	i.counts.Bad++
	if len(i.counts.Shown) < shownBad {
		i.counts.Shown = append(i.counts.Shown, line.Error())
	}
}

// finish says what came of it.
func (i *importer) finish() error {
	c := i.counts
	if isTerminal(i.g.Stderr) {
		fmt.Fprint(i.g.Stderr, "\r\x1b[K")
	}
	if i.g.JSON {
		if err := json.NewEncoder(i.g.Stdout).Encode(c); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(i.g.Stdout, "%s: %s added, %s known already, %s dropped, %s bad\n", report.Plural(c.Lines, "line"),
			report.Plural(c.Added, "page"), report.Count(c.Known), report.Count(c.Dropped), report.Count(c.Bad))
		if c.Sites > 0 {
			fmt.Fprintf(i.g.Stdout, "%s made: %s%s\n", report.Plural(c.Sites, "site"), strings.Join(c.Names, ", "),
				map[bool]string{true: ", …"}[c.Sites > len(c.Names)])
		}
		for _, line := range c.Shown {
			fmt.Fprintf(i.g.Stdout, "  %s\n", line)
		}
	}
	if c.Bad > 0 && c.Added+c.Known == 0 {
		return usagef("no line is a URL that can be added")
	}
	return nil
}
