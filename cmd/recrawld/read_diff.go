package main

import (
	"context"
	"strconv"
	"strings"

	"recrawld/archive"
	"recrawld/diff"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/report"
)

// diffCmd shows what changed between two versions of a page.
type diffCmd struct {
	URL     string `arg:"" help:"The page."`
	Range   string `arg:"" optional:"" name:"A..B" help:"The versions; default the newest and the one before. A alone is A and the one after."`
	Words   bool   `xor:"form" help:"A changed line as one line, by words: the default."`
	Lines   bool   `xor:"form" help:"A changed line as two lines, before and after."`
	Raw     bool   `help:"Compare the source and not the content."`
	All     bool   `help:"Also what cannot be seen (attributes, scripts, headers) where the content differs."`
	Context int    `default:"3" help:"Lines of the same around a difference."`
	Limit   int    `default:"200" help:"Differences shown to a person; 0 for all."`
	Format  string `enum:"text,unified,html,json" default:"text" help:"text, unified, html (a page of its own) or json."`
}

// Run implements the command.
func (c diffCmd) Run(ctx context.Context, g *globals) error { return g.read(ctx, c) }

func (c diffCmd) read(ctx context.Context, l *look) error {
	if c.Context < 0 || c.Limit < 0 {
		return usagef("--context and --limit are not negative")
	}
	page, u, err := l.page(ctx, c.URL)
	if err != nil {
		return err
	}
	from, to, err := c.versions(page)
	if err != nil {
		return err
	}
	b := l.library()
	before, err := b.side(ctx, page, u, from)
	if err != nil {
		return err
	}
	after, err := b.side(ctx, page, u, to)
	if err != nil {
		return err
	}
	d, err := b.difference(ctx, page, u, before, after, diff.Options{Raw: c.Raw, Context: c.Context})
	if err != nil {
		return err
	}
	return c.write(l, d)
}

// difference is what differs between two versions of a page, with what was found of it.
func (b library) difference(ctx context.Context, page models.Page, u canon.URL, before, after side, o diff.Options) (_ diff.Difference, err error) {
	o.URL = page.URL
	if o.Verdict, o.Blocks, err = b.verdict(ctx, page, u, before, after); err != nil {
		return diff.Difference{}, err
	}
	return diff.Compare(before.Version, after.Version, o), nil
}

func (c diffCmd) write(l *look, d diff.Difference) error {
	switch {
	case l.JSON || c.Format == "json":
		return l.printJSON(d)
	case c.Format == "html":
		return diff.HTML(l.Stdout, d)
	case c.Format == "unified":
		_, err := l.Stdout.Write([]byte(d.Unified))
		return err
	}
	return diff.Text(l.Stdout, d, diff.Show{Style: l.style, Now: l.now, Lines: c.Lines, All: c.All, Limit: c.Limit})
}

// versions reads the range.
func (c diffCmd) versions(page models.Page) (a, b int32, err error) {
	if page.Version < 2 && c.Range == "" {
		return 0, 0, notFoundf("%s has %s: nothing to compare", page.URL, report.Plural(page.Version, "version"))
	}
	if c.Range == "" {
		return page.Version - 1, page.Version, nil
	}
	first, second, ranged := strings.Cut(c.Range, "..")
	from, err := strconv.ParseInt(first, 10, 32)
	to := from + 1
	if err == nil && ranged {
		to, err = strconv.ParseInt(second, 10, 32)
	}
	if err != nil || from < 1 || to < 1 {
		return 0, 0, usagef("%q is no range of versions: 3..5 compares version 3 with version 5", c.Range)
	}
	return int32(from), int32(to), nil
}

// side is one of the two versions that are compared, with its row.
type side struct {
	diff.Version
	row models.Version
}

// side reads a version from the archive, and its content by the rules of the page's site.
func (b library) side(ctx context.Context, page models.Page, u canon.URL, number int32) (side, error) {
	row, err := b.version(ctx, page, number)
	if err != nil {
		return side{}, err
	}
	return b.sideOf(ctx, page, u, row)
}

// sideOf is side with the version's row.
func (b library) sideOf(ctx context.Context, page models.Page, u canon.URL, row models.Version) (side, error) {
	answer, err := b.copied(ctx, page, row)
	if err != nil {
		return side{}, err
	}
	_, _, rules := b.force.visited(page.SiteID)
	kind := archive.Field(answer.Header, "Content-Type")
	return side{row: row, Version: diff.Version{Number: row.Number, At: row.At.Time(), ContentType: kind, Header: answer.Header,
		Body: answer.Body, View: content.Read(answer.Body, kind, u, rules)}}, nil
}
