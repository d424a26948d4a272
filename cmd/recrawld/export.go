package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recrawld/clock"
	"recrawld/export"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/extract"
	"recrawld/report"
)

// exportCmd takes versions out of the archive for other tools.
type exportCmd struct {
	URL    string `arg:"" optional:"" help:"Only pages whose URL begins so; without a scheme with http or https."`
	Format string `enum:",cdxj,warc,wacz" default:"" placeholder:"FORMAT" help:"cdxj: an index of the segments as they lie. warc: one file of records. wacz: a package with index and list of pages. Default: what FILE ends in."`
	Site   string `placeholder:"NAME" help:"Only this site."`
	From   string `placeholder:"DATE" help:"Only versions found since: 2026, 2026-11, 2026-11-23 or 2026-11-23T10:00:00Z."`
	To     string `placeholder:"DATE" help:"Only versions found until the end of that year, month or day, or until that moment."`
	Last   bool   `help:"Of each page the last of these versions alone."`
	Output string `short:"o" type:"path" placeholder:"FILE" help:"Where to; - or nothing for standard output."`
	Force  bool   `help:"Replace FILE where it is there already."`
}

// Help is the text below the flags.
func (exportCmd) Help() string {
	return `What is written is for pywb, ReplayWeb.page and other tools that replay archives. A WARC file and a package stand for
themselves: a body that several versions share is in them once, and none refers to what is not in them. An index
refers to the segments in the folder "archive" of the data directory; records of the one that still grows can be
replayed once it is closed.

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
		if err := vacant(c.Output, c.Force); err != nil {
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
	r := exportRun{look: l, began: clock.System{}.Now(), missing: make(map[string]int), progress: progressOn(l.Stderr)}
	x := export.New(export.Options{Format: format, Archive: reader, Temp: c.temp(), Name: c.name(), Software: "recrawld " + versionText(),
		About: chosen.words(), MainURL: chosen.mainURL(), Now: r.began, Title: pageTitle, Step: r.step, Lost: r.lost})
	defer x.Close()
	err = chosen.each(ctx, l.store, x.Add, func() { r.step("versions found", x.Added()) })
	if err == nil && x.Added() == 0 {
		err = notFoundf("there is no version to export of %s%s", chosen.words(), chosen.refusals())
	}
	var sum export.Summary
	if err == nil {
		sum, err = c.write(ctx, l, x)
	}
	r.progress.clear()
	if err != nil {
		return err
	}
	return r.finish(c, chosen, sum)
}

// formats are the formats by what a file's name ends in.
var formats = map[string]export.Format{".wacz": export.WACZ, ".warc.gz": export.WARC, ".cdxj": export.CDXJ}

// format is what is asked for.
func (c exportCmd) format(out io.Writer) (export.Format, error) {
	if c.Output == "" && isTerminal(out) {
		return "", usagef("an export is no text for a terminal: name a file with -o, or lead standard output into one")
	}
	if c.Format != "" {
		return export.Format(c.Format), nil
	}
	for end, format := range formats {
		if strings.HasSuffix(c.Output, end) {
			return format, nil
		}
	}
	return "", usagef("which format? --format cdxj, warc or wacz, or a FILE that ends in .cdxj, .warc.gz or .wacz")
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

// exported is the JSON form of what came of an export.
type exported struct {
	File     string `json:"file"`
	Versions int64  `json:"versions"`
	Pages    int64  `json:"pages"`
	Bytes    int64  `json:"bytes"`
	Lost     int64  `json:"lost"`
	Refused  int64  `json:"asked_not_to_be_archived"` // pages
}

// finish says what came of it: on standard output, unless that is where the export went.
func (r *exportRun) finish(c exportCmd, s *selection, sum export.Summary) error {
	for _, segment := range slices.Sorted(maps.Keys(r.missing)) {
		hint := ""
		if r.force.config.Store != "sqlite" {
			hint = "; if another machine's worker wrote it, export there as well"
		}
		fmt.Fprintf(r.Stderr, "left out: %s: segment %s is not in %s%s\n", report.Plural(r.missing[segment], "version"), segment,
			archiveDir(&r.force.config), hint)
	}
	var err error
	switch {
	case c.Output != "" && r.JSON:
		err = r.printJSON(exported{c.Output, sum.Versions, s.pages, sum.Bytes, sum.Lost, s.refused})
	case c.Output != "":
		_, err = fmt.Fprintf(r.Stdout, "%s: %s of %s, %s, in %s%s\n", c.Output, report.Plural(sum.Versions, "version"),
			report.Plural(s.pages, "page"), report.Bytes(sum.Bytes), report.Span(clock.System{}.Now().Sub(r.began)), s.refusals())
	}
	if err == nil && sum.Lost > 0 {
		err = fmt.Errorf("%s cannot be read any more and had to be left out, as said above; all else was exported to %s",
			report.Plural(sum.Lost, "version"), cmp.Or(c.Output, "standard output"))
	}
	if err == nil && r.unread > 0 {
		err = fmt.Errorf("%s cannot be read, as said above: versions whose own records are there were exported with the header of "+
			"another answer that has their body", report.Plural(r.unread, "segment"))
	}
	return err
}
