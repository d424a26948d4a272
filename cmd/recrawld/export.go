package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/export"
	"recrawld/export/folder"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/extract"
	"recrawld/report"
)

// exportCmd takes versions out of the archive for other tools.
type exportCmd struct {
	URL    string `arg:"" optional:"" help:"Only pages whose URL begins so; without a scheme with http or https."`
	Format string `enum:",cdxj,warc,wacz,folder" default:"" placeholder:"FORMAT" help:"cdxj: an index of the segments as they lie. warc: one file of records. wacz: a package with index and list of pages. folder: files that open in a browser from disk. Default: what FILE ends in."`
	Site   string `placeholder:"NAME" help:"Only this site."`
	From   string `placeholder:"DATE" help:"Only versions found since: 2026, 2026-11, 2026-11-23 or 2026-11-23T10:00:00Z."`
	To     string `placeholder:"DATE" help:"Only versions found until the end of that year, month or day, or until that moment."`
	Last   bool   `help:"Of each page the last of these versions alone; so it is in a folder anyway."`
	Alone  bool   `help:"These versions alone, without what their pages need to be shown where that lies elsewhere or is older."`
	Output string `short:"o" placeholder:"FILE" help:"Where to; - or nothing for standard output. One that ends in / is a folder."`
	Force  bool   `help:"Replace FILE where it is there already: of folders a former export alone."`
}

// Help is the text below the flags.
func (exportCmd) Help() string {
	return `What is written is for pywb, ReplayWeb.page and other tools that replay archives. A WARC file and a package stand for
themselves: a body that several versions share is in them once, and none refers to what is not in them. An index
refers to the segments in the folder "archive" of the data directory; records of the one that still grows can be
replayed once it is closed.

What pages need to be shown comes along, as far as it is in the archive, also from other sites, under other URLs, and from
before --from; --alone leaves it out.

A folder needs no tool: it opens in a browser from disk. It has one file a page, in the version that was the last by
--to; references lead from file to file, or to the web where a page is not in it.

Pages that ask not to be archived are left out. What cannot be read any more is named and left out, and the exit code is 1.`
}

// Run implements the command.
func (c exportCmd) Run(ctx context.Context, g *globals) error {
	if c.Output == "-" {
		c.Output = ""
	}
	err := g.with(ctx, func(l *look) error { return c.export(ctx, l) })
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("interrupted: %s is not written", cmp.Or(c.Output, "the rest"))
	}
	return err
}

func (c exportCmd) export(ctx context.Context, l *look) error {
	format, err := c.format(l.Stdout)
	if err != nil {
		return err
	}
	if c.Output != "" {
		c.Output = filepath.Clean(kong.ExpandPath(c.Output))
		if err := c.vacant(format); err != nil {
			return err
		}
	}
	chosen, err := c.selection(l)
	if err != nil {
		return err
	}
	reader, err := openArchiveReader(&l.force.config, l.store, clock.System{}.Now)
	if errors.Is(err, fs.ErrNotExist) {
		return notFoundf("there is no archive in %s: --data names the directory of a daemon that visited pages", l.force.config.Data)
	}
	if err != nil {
		return err
	}
	defer reader.Close() // it was only read
	r := exportRun{look: l, archive: reader, temp: c.temp(), began: clock.System{}.Now(), missing: make(map[string]int), progress: progressOn(l.Stderr)}
	x := export.New(export.Options{Format: format, Archive: reader, Temp: c.temp(), Name: c.name(), Software: "recrawld " + versionText(),
		About: chosen.words(), MainURL: chosen.mainURL(), Now: r.began, Title: pageTitle, Step: r.step, Lost: r.lost})
	defer x.Close()
	sum, err := r.fill(ctx, c, format, chosen, x)
	r.progress.clear()
	if err != nil {
		return err
	}
	return r.finish(c, chosen, sum)
}

// fill chooses versions and writes them.
func (r *exportRun) fill(ctx context.Context, c exportCmd, format export.Format, chosen *selection, x *export.Exporter) (sum folder.Summary, err error) {
	if format == folderFormat {
		return r.folder(ctx, c, chosen, x)
	}
	add := func(p *models.Page, v models.Version) error { return x.Add(exportVersion(p, v)) }
	if err := r.choose(ctx, c.Alone, chosen, x, add); err != nil {
		return sum, err
	}
	sum.Summary, err = c.write(ctx, r.look, x)
	return sum, err
}

// choose calls add for the versions that are chosen and, unless these shall stand alone, for what their pages need to be shown where it
// was not chosen with them. That there are none is an error.
func (r *exportRun) choose(ctx context.Context, alone bool, chosen *selection, x *export.Exporter, add func(*models.Page, models.Version) error) (err error) {
	var needs *exportNeeds
	if chosen.partial() && !alone {
		needs = r.newNeeds(chosen, r.temp, add)
		add = needs.take
		defer func() { err = errors.Join(err, needs.close()) }()
	}
	if err := chosen.each(ctx, r.store, add, func() { r.step("versions found", x.Added()) }); err != nil {
		return err
	}
	if x.Added() == 0 {
		return notFoundf("there is no version to export of %s%s", chosen.words()+chosen.otherTimes(), chosen.refusals())
	}
	if needs == nil {
		return nil
	}
	return needs.choose(ctx)
}

// exportVersion is a version as it is exported.
func exportVersion(p *models.Page, v models.Version) export.Version {
	return export.Version{URL: p.URL, At: v.At, Digest: v.Digest, Record: v.Record}
}

// formats are the formats by what a file's name ends in.
var formats = map[string]export.Format{".wacz": export.WACZ, ".warc.gz": export.WARC, ".cdxj": export.CDXJ}

// format is what is asked for.
func (c exportCmd) format(out io.Writer) (export.Format, error) {
	if c.Output == "" && isTerminal(out) {
		return "", usagef("an export is no text for a terminal: name a file with -o, or lead standard output into one")
	}
	format, isFolder := export.Format(c.Format), strings.HasSuffix(c.Output, "/")
	switch {
	case format == "" && isFolder:
		return folderFormat, nil
	case format == folderFormat && c.Output == "":
		return "", usagef("a folder does not go to standard output: name it with -o")
	case format != "" && format != folderFormat && isFolder:
		return "", usagef("-o %s names a folder, and --format %s is a file", c.Output, format)
	case format != "":
		return format, nil
	}
	for end, format := range formats {
		if strings.HasSuffix(c.Output, end) {
			return format, nil
		}
	}
	if strings.HasSuffix(c.Output, ".warc") {
		return "", usagef("records are compressed here: write -o %s.gz", c.Output)
	}
	return "", usagef("which format? --format cdxj, warc, wacz or folder, or a FILE that ends in .cdxj, .warc.gz, .wacz or /")
}

// temp is where versions are sorted: beside the file, where there is room for all of them.
func (c exportCmd) temp() string {
	if c.Output == "" {
		return ""
	}
	return filepath.Dir(c.Output)
}

// name is the file's own name; "" where it goes to standard output.
func (c exportCmd) name() string {
	if c.Output == "" {
		return ""
	}
	return filepath.Base(c.Output)
}

// write writes the export to its file or to standard output.
func (c exportCmd) write(ctx context.Context, l *look, x *export.Exporter) (sum export.Summary, err error) {
	to := func(out io.Writer) error {
		sum, err = x.Write(ctx, out)
		return err
	}
	if c.Output == "" {
		err = buffered(l.Stdout, to)
	} else {
		err = newFile(c.Output, c.Force, to)
	}
	return sum, err
}

// pageTitle is the title of an HTML page.
func pageTitle(url, contentType string, body []byte) string {
	at, err := canon.Parse(url)
	if err != nil {
		return "" // it was canonical by other rules, of an earlier release
	}
	return extract.Page(body[:min(len(body), content.MaxBytes)], contentType, at, extract.Options{Bytes: content.MaxBytes}).Title
}

// exportRun is what a person sees of an export.
type exportRun struct {
	*look
	archive  *archive.Reader
	temp     string // where versions are sorted
	began    time.Time
	missing  map[string]int // versions by the segment that is not there
	unread   int            // segments that could not be looked through
	progress progress
}

// step says how far the export is.
func (r *exportRun) step(what string, n int64) {
	if r.progress.what != what {
		r.progress.begin("export", what)
	}
	r.progress.tell(n, 0, 0)
}

// lost names what had to be left out; segments that are missing once, at the end.
func (r *exportRun) lost(loss export.Loss) {
	if loss.Versions == 0 {
		r.unread++
		r.progress.clear()
		fmt.Fprintf(r.Stderr, "%v\n", loss.Err)
		return
	}
	if errors.Is(loss.Err, fs.ErrNotExist) {
		r.missing[loss.Segment] += loss.Versions
		return
	}
	r.progress.clear()
	fmt.Fprintf(r.Stderr, "left out: %s of %s", report.Printable(loss.URL), loss.At)
	if loss.Versions > 1 {
		fmt.Fprintf(r.Stderr, " and %s with the same body", report.Plural(loss.Versions-1, "version"))
	}
	fmt.Fprintf(r.Stderr, ": %v\n", loss.Err)
}
