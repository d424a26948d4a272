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
	"recrawld/intake"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/scope"
	"recrawld/report"
)

// importCmd adds the pages of a list.
type importCmd struct {
	File   string `arg:"" default:"-" help:"List of URLs, one a line, or CSV lines URL,FR; a sitemap, bookmarks, a WARC file and others, see below; or a directory, as wget makes it. - or nothing for standard input."`
	Site   string `placeholder:"NAME" help:"Site that the pages belong to; without it each goes to the first of its host that keeps it, and a host without one gets one."`
	Follow bool   `help:"Let the sites that are made follow links; without it they keep to the list."`
	Format string `enum:"auto,lines,sitemap,feed,opml,bookmarks,html,cdx,cdxj,jsonl,warc,wacz,tree,httrack" default:"auto" help:"What FILE is: ${enum}. By default its first bytes tell."`
	Base   string `placeholder:"URL" help:"With --format html, the address of the page, against which its links are resolved."`
	Scheme string `enum:"https,http" default:"https" help:"For a directory, whose names do not tell: ${enum}."`
}

// Help is the text below the flags.
func (importCmd) Help() string {
	return `FR is the interval to start with, in cycles. Empty lines, lines that begin with # and a heading "url,fr" are skipped.
A URL that ends in a comma and a number stands in quotes. Bad lines are counted and the first ten shown; the others are
added, and the exit code is 0, or 2 where all are bad. Who wants none looks at "bad" of --json.

FILE may be other things than a list, plain or in gzip:

  sitemap     its pages; of an index its sitemaps, which are pages that the daemon reads as lists
  feed        RSS or Atom: what the entries lead to
  opml        feeds, and the sites that they are of
  bookmarks   as browsers export them, in HTML
  html        the links of a page; only with --format html, and --base URL where they are relative
  cdx, cdxj   indexes of web archives: URLs with a capture of status 200
  jsonl       a JSON object with "url" a line, such as pages.jsonl
  warc        URLs that answered with a status of 2xx
  wacz        the pages of a package, which is a file and no standard input
  tree        a directory that wget made, HOST/PATH, or one host's in it; its URLs are https unless --scheme http is given,
              index.html is the page of its directory
  httrack     hts-cache/new.txt, also within the directory of the mirror

What of these names no page, such as a capture of an error or a bookmark of a script, is skipped and counted. A file that
is cut off or damaged is read up to there, its pages are added, and the command fails.

Without --site, each page belongs to the first site that keeps it of those whose start URL is on its host; for a host
without one a site is made, named after it, that starts at the first page listed. Such a site follows no links (level 0):
it keeps no page that a sitemap or a feed names, either. Of a host with five pages or more it reads the sitemaps for what
changed of these. With --follow it starts at the host's root and follows. A list with more than 1000 such hosts makes one
site for all of them, named import, of the listed pages alone (level 0, scope "*"); lists imported later add to it. URLs
that no such site keeps are bad lines.

The list is read to its end before the first page is added; meanwhile it lies in a temporary file of the data directory,
sorted, of about the size of its URLs.`
}

// Run implements the command.
func (c importCmd) Run(ctx context.Context, g *globals) (err error) {
	in, err := c.open(g) // before root is given up for the data directory: the list may be root's alone
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
	i.counts.Format = in.Format
	if err := i.all(ctx, in); err != nil {
		return fmt.Errorf("%w (%s were added; the same import again goes on)", err, report.Plural(i.counts.Added, "page"))
	}
	return errors.Join(i.finish(), i.cut)
}

// open opens what the pages come from.
func (c importCmd) open(g *globals) (*intake.Source, error) {
	o := intake.Options{Format: intake.Format(c.Format), Base: c.Base, Scheme: c.Scheme}
	if c.Format == "auto" {
		o.Format = intake.Auto
	}
	var in *intake.Source
	var err error
	if c.File == "-" {
		in, err = intake.Read(g.Stdin, o)
	} else {
		in, err = intake.Open(c.File, o)
	}
	if errors.Is(err, intake.ErrFormat) {
		return nil, usagef("%w", err)
	}
	return in, named(err)
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
	Format  intake.Format `json:"format"`
	Lines   int           `json:"lines"`
	Added   int           `json:"added"`
	Known   int           `json:"known"`
	Dropped int           `json:"dropped"` // beyond the limit of pages a host
	Skipped int           `json:"skipped"` // entries that name no page
	Bad     int           `json:"bad"`
	Sites   int           `json:"new_sites"`
	Names   []string      `json:"new_site_names,omitempty"` // the first few
	Shown   []string      `json:"bad_lines,omitempty"`
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
	cut      error // why the list could not be read to its end; what came before is added all the same
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
func (i *importer) all(ctx context.Context, in *intake.Source) error {
	defer i.spool.close()
	if err := i.read(ctx, in); err != nil {
		return err
	}
	if err := i.makeSites(ctx); err != nil {
		return err
	}
	return i.write(ctx)
}

// read puts the pages of the list into the spool.
func (i *importer) read(ctx context.Context, in *intake.Source) error {
	for item, err := range in.Items() {
		var bad *intake.Bad
		var damaged *intake.Damaged
		switch {
		case errors.As(err, &bad):
			i.counts.Lines++
			i.bad(bad)
		case errors.As(err, &damaged):
			i.cut = err
		case errors.Is(err, intake.ErrFormat):
			return usagef("%w", err)
		case err != nil:
			return err
		default:
			if err := i.entry(item); err != nil {
				return err
			}
		}
		if i.counts.Lines%progressLines == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			i.progress.tell(int64(i.counts.Lines), 0, 0)
		}
	}
	return nil
}

// entry takes one entry.
func (i *importer) entry(item intake.Item) error {
	i.counts.Lines++
	if item.Skip {
		i.counts.Skipped++
		return nil
	}
	u, err := canon.Parse(item.URL)
	if err != nil {
		i.bad(intake.NewBad(item.Place, item.URL, err))
		return nil
	}
	id, verdict := i.place(u)
	if !verdict.Keep {
		i.bad(intake.NewBad(item.Place, item.URL, errors.New(verdict.Rule)))
		return nil
	}
	if id == 0 {
		i.sites.needs(u)
	}
	return i.spool.add(spooled{url: u.String(), host: u.HostName(), site: id, fr: item.FR})
}

// place is the site that a URL belongs to, the first of its host that keeps it, and what that one says; 0: one that is to be made.
// Where none keeps it, it is what the first says.
func (i *importer) place(u canon.URL) (id int32, verdict scope.Verdict) {
	ids := i.sites.of(u)
	if len(ids) == 0 {
		return 0, i.sites.listed.Decide(u, 0)
	}
	for n, id := range ids {
		_, pages := i.force.site(id)
		decided := pages.Decide(u, 0)
		if decided.Keep {
			return id, decided
		}
		if n == 0 {
			verdict = decided
		}
	}
	return ids[0], verdict
}

// progressLines is after how many lines progress may be shown.
const progressLines = 10_000

func (i *importer) bad(line *intake.Bad) {
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
		skipped := ""
		if c.Skipped > 0 {
			skipped = ", " + report.Count(c.Skipped) + " skipped"
		}
		fmt.Fprintf(i.g.Stdout, "%s: %s added, %s known already, %s dropped%s, %s bad\n", report.Plural(c.Lines, c.Format.Unit()),
			report.Plural(c.Added, "page"), report.Count(c.Known), report.Count(c.Dropped), skipped, report.Count(c.Bad))
		if c.Sites > 0 {
			fmt.Fprintf(i.g.Stdout, "%s made: %s%s\n", report.Plural(c.Sites, "site"), strings.Join(c.Names, ", "),
				map[bool]string{true: ", …"}[c.Sites > len(c.Names)])
		}
		for _, line := range c.Shown {
			fmt.Fprintf(i.g.Stdout, "  %s\n", line)
		}
	}
	if c.Bad > 0 && c.Added+c.Known == 0 {
		return usagef("no %s is a URL that can be added", c.Format.Unit())
	}
	return nil
}
