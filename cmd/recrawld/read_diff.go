package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
	"recrawld/report"
)

// diffCmd shows what changed between two versions of a page.
type diffCmd struct {
	URL   string `arg:"" help:"The page."`
	Range string `arg:"" optional:"" name:"A..B" help:"The versions; default the newest and the one before. A alone is A and the one after."`
	Raw   bool   `help:"Compare the source and not the visible text."`
}

// Run implements the command.
func (c diffCmd) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(l *look) error {
		page, u, err := l.page(ctx, c.URL)
		if err != nil {
			return err
		}
		a, b, err := c.versions(page)
		if err != nil {
			return err
		}
		before, err := l.side(ctx, page, a)
		if err != nil {
			return err
		}
		after, err := l.side(ctx, page, b)
		if err != nil {
			return err
		}
		d := compare(u, before, after, c.Raw)
		if l.JSON {
			return l.printJSON(d)
		}
		return d.write(l)
	})
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

// side is one of the two versions that are compared.
type side struct {
	version models.Version
	body    []byte
	kind    string // the header's Content-Type, with its parameters
}

func (l *look) side(ctx context.Context, page models.Page, number int32) (side, error) {
	v, err := l.store.Version(ctx, page.Bucket, page.ID, number)
	if errors.Is(err, models.ErrNotFound) {
		return side{}, notFoundf("%s has no version %d: the newest is %d", page.URL, number, page.Version)
	}
	if err != nil {
		return side{}, err
	}
	answer, err := l.answer(v)
	return side{version: v, body: answer.Body, kind: headerField(answer.Header, "Content-Type")}, err
}

// headerField is the first value of a field in a header block, "" for none.
func headerField(header []byte, name string) string {
	for line := range bytes.Lines(header) {
		key, value, _ := strings.Cut(string(line), ":")
		if strings.EqualFold(key, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// difference is what the command says; its JSON form is the command's.
type difference struct {
	URL     string `json:"url"`
	From    int32  `json:"from"`
	To      int32  `json:"to"`
	Of      string `json:"of"` // what is compared: text, source, bytes
	Equal   bool   `json:"equal"`
	Added   int    `json:"lines_added"`
	Removed int    `json:"lines_removed"`
	Words   string `json:"summary"`
	Diff    string `json:"diff"`

	before, after models.Version
}

// readAll is how much of a body is compared, in bytes: more than any page that a person reads.
const readAll = 16 << 20

// compare shows the visible text where it differs, else the source, and of what is no text the sizes. It always says
// something: what has two versions has two bodies.
func compare(at canon.URL, a, b side, raw bool) difference {
	d := difference{URL: at.String(), From: a.version.Number, To: b.version.Number, before: a.version, after: b.version}
	if bytes.Equal(a.body, b.body) {
		d.Of, d.Equal, d.Words = "bytes", true, "the two versions have the same body"
		return d
	}
	textA, okA := visible(at, a)
	textB, okB := visible(at, b)
	switch {
	case okA && okB && !raw && textA != textB:
		d.Of = "text"
		d.lines(textA, textB)
		d.Words = "visible text: "
	case isText(a) && isText(b):
		d.Of = "source"
		d.source(a.body, b.body)
		d.Words = "source: "
		if okA && okB && textA == textB {
			d.Words = "the visible text is the same; source: "
		}
	default:
		d.Of = "bytes"
		d.Words = fmt.Sprintf("not text: %s of %s → %s of %s", report.Bytes(int64(len(a.body))), a.version.ContentType,
			report.Bytes(int64(len(b.body))), b.version.ContentType)
		return d
	}
	if d.Diff == "" {
		d.Words += "they differ in nothing but the end of the last line"
		return d
	}
	d.Words += fmt.Sprintf("%s removed, %s added", report.Plural(d.Removed, "line"), report.Plural(d.Added, "line"))
	return d
}

// lines compares two texts by lines.
func (d *difference) lines(a, b string) {
	d.Diff = udiff.Unified(fmt.Sprintf("version %d", d.From), fmt.Sprintf("version %d", d.To), ended(a), ended(b))
	for line := range strings.Lines(d.Diff) {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case line[0] == '+':
			d.Added++
		case line[0] == '-':
			d.Removed++
		}
	}
}

// source compares two sources by lines, broken up where they are long; where that hides the difference, as they are.
func (d *difference) source(a, b []byte) {
	if d.lines(readable(a), readable(b)); d.Diff == "" {
		d.lines(string(a), string(b))
	}
}

// ended makes sure that the last line ends.
func ended(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// visible is the text that a reader of a page sees, a line a block and long ones a line a sentence; false where there is
// no such text.
func visible(at canon.URL, s side) (string, bool) {
	kind, _, _ := mime.ParseMediaType(s.kind)
	if kind == "text/plain" { // its lines are those of the source
		return "", false
	}
	var text bytes.Buffer
	extract.Page(s.body, s.kind, at, extract.Options{Bytes: readAll, Text: &text})
	return sentences(text.String()), text.Len() > 0
}

// sentenceLines is the length from which on a line is broken at the ends of its sentences.
const sentenceLines = 120

func sentences(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if len(line) > sentenceLines {
			line = strings.NewReplacer(". ", ".\n", "! ", "!\n", "? ", "?\n").Replace(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

// readable breaks the lines of a source that are too long to compare by eye, as of a page without line ends, at its tags.
func readable(source []byte) string {
	var b strings.Builder
	for line := range bytes.Lines(source) {
		if len(line) > 2*sentenceLines {
			line = bytes.ReplaceAll(line, []byte("><"), []byte(">\n<"))
		}
		b.Write(line)
	}
	return b.String()
}

// isText tells whether a person can read the source.
func isText(s side) bool {
	return !bytes.ContainsRune(s.body[:min(len(s.body), 8000)], 0)
}

// write shows the difference to a person.
func (d difference) write(l *look) error {
	fmt.Fprintf(l.Stdout, "%s\n%s\n", l.style.Bold(d.URL), d.heading(l))
	for line := range strings.Lines(d.Diff) {
		line = report.Printable(strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			line = l.style.Bold(line)
		case strings.HasPrefix(line, "@@"):
			line = l.style.Paint(report.Faint, line)
		case strings.HasPrefix(line, "+"):
			line = l.style.Paint(report.Good, line)
		case strings.HasPrefix(line, "-"):
			line = l.style.Paint(report.Bad, line)
		}
		fmt.Fprintln(l.Stdout, line)
	}
	return nil
}

func (d difference) heading(l *look) string {
	return fmt.Sprintf("version %d, %s → version %d, %s\n%s", d.From, report.Moment(l.now, d.before.At.Time()), d.To,
		report.Moment(l.now, d.after.At.Time()), d.Words)
}
