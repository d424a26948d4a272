package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/report"
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
named after it, that starts at its root. Such a site follows no links (level 0) unless --follow is given. A list with more
than 1000 such hosts makes one site for all of them, named import, of the listed pages alone (level 0, scope "*"); lists
imported later add to it. URLs outside the scope of their site are bad lines.

The list is read to its end before the first page is added; meanwhile it lies in a temporary file of the data directory,
sorted, of about the list's own size.`
}

// Run implements the command.
func (c importCmd) Run(ctx context.Context, g *globals) (err error) {
	in, err := openInput(g, c.File) // before root is given up for the data directory: the list may be root's alone
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	conf, origins, err := g.commandConfig(ctx)
	if err != nil {
		return err
	}
	store, err := g.openStoreForWriting(ctx, &conf)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	i := &importer{g: g, store: store, base: conf, origins: origins, site: c.Site, follow: c.Follow, progress: progressOn(g.Stderr)}
	i.progress.begin("", "lines read")
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
		return nil, named(err) // it names the file
	}
	return file, nil
}

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

	now      time.Time // by the daemon's clock
	force    *inForce
	sites    importSites
	spool    *spool
	counts   importCounts
	progress progress
}

// begin reads the sites there are.
func (i *importer) begin(ctx context.Context) error {
	clk, err := clockOf(ctx, i.store)
	if err != nil {
		return err
	}
	i.now = clk.Now()
	rows, err := i.known(ctx)
	if err != nil {
		return err
	}
	if i.force, err = putTogether(i.base, i.origins, rows); err != nil {
		return err
	}
	if err := i.sites.begin(rows, &i.base); err != nil {
		return err
	}
	i.spool = newSpool(i.base.Data)
	if i.site == "" {
		return nil
	}
	site, err := findSite(rows, i.site)
	i.sites.only = site.ID
	return err
}

// known is the sites there are, after those of the configuration file that no daemon has brought into the database yet were.
func (i *importer) known(ctx context.Context) ([]models.Site, error) {
	rows, err := i.store.Sites(ctx)
	if err != nil {
		return nil, err
	}
	missing := slices.ContainsFunc(i.base.Sites, func(site config.Site) bool {
		return !slices.ContainsFunc(rows, func(row models.Site) bool { return row.Name == site.Name })
	})
	if !missing {
		return rows, nil
	}
	if err := syncSites(ctx, i.store, &i.base, i.now); err != nil {
		return nil, err
	}
	return i.store.Sites(ctx)
}

// all reads the list to its end, makes the sites that it takes, and adds the pages.
func (i *importer) all(ctx context.Context, lines *lineReader) error {
	defer i.spool.close()
	if err := i.read(ctx, lines); err != nil {
		return err
	}
	if err := i.makeSites(ctx); err != nil {
		return err
	}
	return i.write(ctx)
}

// read puts the pages of the list into the spool.
func (i *importer) read(ctx context.Context, lines *lineReader) error {
	for {
		line, err := lines.next()
		var bad *badLine
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &bad):
			i.counts.Lines++
			i.bad(bad)
			continue
		case err != nil:
			return err
		}
		if err := i.line(line); err != nil {
			return err
		}
		if i.counts.Lines%progressLines == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			i.progress.tell(int64(i.counts.Lines), 0, 0)
		}
	}
}

// line takes one line.
func (i *importer) line(line importLine) error {
	i.counts.Lines++
	u, err := canon.Parse(line.URL)
	if err != nil {
		i.bad(newBadLine(line.Number, line.URL, err))
		return nil
	}
	id := i.sites.of(u)
	pages := i.sites.listed
	if id != 0 {
		_, pages = i.force.site(id)
	}
	if verdict := pages.Decide(u, 0); !verdict.Keep {
		i.bad(newBadLine(line.Number, line.URL, errors.New(verdict.Rule)))
		return nil
	}
	return i.spool.add(spooled{url: u.String(), host: u.HostName(), site: id, fr: line.FR})
}

// progressLines is after how many lines progress may be shown.
const progressLines = 10_000

func (i *importer) bad(line *badLine) {
	i.counts.Bad++
	if len(i.counts.Shown) < shownBad {
		i.counts.Shown = append(i.counts.Shown, line.Error())
	}
}

// finish says what came of it.
func (i *importer) finish() error {
	c := i.counts
	i.progress.clear()
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
