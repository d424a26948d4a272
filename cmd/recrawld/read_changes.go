package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/report"
)

// changesCmd lists what happened to pages.
type changesCmd struct {
	Since      span     `default:"24h" placeholder:"TIME" help:"How far to look back: 90m, 24h, 7d."`
	Site       string   `placeholder:"NAME" help:"Only this site."`
	Kind       []string `placeholder:"KIND" help:"Only these kinds: new, changed, refreshed, moved, gone, restored, failing, excluded, removed, template."`
	Weight     float64  `name:"min-significance" placeholder:"0-1" help:"Without changes, and copies with other bytes, of less significance."`
	Requisites bool     `help:"With images, styles, scripts and fonts that are kept because pages need them to be shown."`
	Limit      int      `default:"30" help:"Events listed, the newest first; 0 for all (at most 100,000)."`
	After      string   `placeholder:"CURSOR" help:"What came after an earlier look, those of a page in order, whenever that was: now (nothing, to begin with), start (all events that are kept), all (every page as it is now, and then what comes), or the cursor that the last answer ended with."`
	Follow     bool     `help:"Go on after that, or now, and print events as they come, until interrupted. With --json a line each, and where they end one with the cursor to go on from once they are done with."`
}

// Run implements the command.
func (c changesCmd) Run(ctx context.Context, g *globals) error { return g.read(ctx, c) }

func (c changesCmd) read(ctx context.Context, l *look) error {
	if !(c.Weight >= 0 && c.Weight <= 1) {
		return usagef("--min-significance is a number from 0 to 1")
	}
	kinds, err := eventKinds(c.Kind)
	if err != nil {
		return err
	}
	sites, err := l.library().sitesTold(ctx, c.Site)
	if err != nil {
		return err
	}
	if c.Follow {
		return c.follow(ctx, l, sites, kinds)
	}
	list := c.document
	if c.After != "" {
		list = c.feed
	}
	d, err := list(ctx, l, sites, kinds)
	if err != nil {
		return err
	}
	return l.print(d)
}

// words implements speller.
func (changesCmd) words(name string) (kinds []string) {
	for kind := models.EventNew; kind <= models.EventRemoved && name == "kind"; kind++ {
		kinds = append(kinds, kind.String())
	}
	return kinds
}

// eventKinds reads the words for kinds of event.
func eventKinds(words []string) ([]models.EventKind, error) {
	var kinds []models.EventKind
	for _, word := range words {
		kind := models.EventNew
		for ; kind <= models.EventRemoved && kind.String() != word; kind++ {
		}
		if kind > models.EventRemoved {
			return nil, usagef("kind %s: there is new, changed, refreshed, moved, gone, restored, failing, excluded, removed, template", word)
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

func (c changesCmd) document(ctx context.Context, l *look, sites []int32, kinds []models.EventKind) (report.Document, error) {
	q := c.query(sites, kinds)
	q.Since = models.At(l.now.Add(-time.Duration(c.Since)))
	events, err := l.store.Changes(ctx, q)
	if err != nil {
		return report.Document{}, err
	}
	counts, err := l.store.ChangeCounts(ctx, q.Since, q.Requisites)
	if err != nil {
		return report.Document{}, err
	}
	d, err := l.library().table(ctx, events)
	if err != nil {
		return report.Document{}, err
	}
	d.Title = "Changes of the last " + report.Span(time.Duration(c.Since))
	if words := countWords(counts, sites, kinds); words != "" {
		d.Lead = []string{words}
	}
	if len(events) == c.Limit {
		note := l.style.AllRows()
		if l.style.All == "" { // a browser is led there by the page's address
			note += "; recrawld diff URL shows what changed"
		}
		d.Notes = append(d.Notes, note)
	}
	return d, nil
}

// query is what to look for, at any time.
func (c changesCmd) query(sites []int32, kinds []models.EventKind) models.ChangesQuery {
	q := models.ChangesQuery{Sites: sites, Kinds: kinds, Requisites: c.Requisites, Limit: c.Limit, Weight: float32(c.Weight)}
	if q.Limit <= 0 || q.Limit > mostRows {
		q.Limit = mostRows
	}
	return q
}

// eventTable is the table of some events, for a moment and with the names of the sites.
func eventTable(events []models.Event, now time.Time, names map[int32]string) report.Document {
	d := report.Document{Name: "changes", At: now, Columns: []report.Column{
		{Key: "at", Head: "when"}, {Key: "kind", Head: "what"}, {Key: "url", Head: "page", Flex: true},
		{Key: "version", Head: "version", Right: true, Drop: 1}, {Key: "bytes", Head: "size", Right: true, Drop: 2},
		{Key: "significance", Head: "weight", Right: true, Spare: true}, {Key: "reasons", Head: "reasons", Spare: true},
		{Key: "note"}, {Key: "site"}, {Key: "previous"}, {Key: "not_before"}, {Key: "redirect_to"}, {Key: "content_type"}, {Key: "digest"},
		{Key: "requisite"},
	}}
	for _, e := range events {
		d.Rows = append(d.Rows, eventRow(e, now, names[e.SiteID]))
	}
	return d
}

// countWords adds up the events of some sites, or of all (none), by kind, those of some kinds alone, or of all (none).
func countWords(counts map[int32]map[models.EventKind]int64, sites []int32, only []models.EventKind) string {
	var words []string
	for kind := models.EventNew; kind <= models.EventRemoved; kind++ {
		var n int64
		for id, kinds := range counts {
			if len(sites) == 0 || slices.Contains(sites, id) {
				n += kinds[kind]
			}
		}
		if n > 0 && (len(only) == 0 || slices.Contains(only, kind)) {
			words = append(words, report.Count(n)+" "+kind.String())
		}
	}
	return strings.Join(words, ", ")
}

func eventRow(e models.Event, now time.Time, site string) report.Row {
	what := report.TextCell(e.Kind.String())
	what.Tone = eventTone(e.Kind)
	page := report.TextCell(e.URL)
	if e.Kind == models.EventMoved {
		page.To = e.RedirectTo
	}
	significance, reasons := weightCells(e.Significance, e.Reasons)
	if e.Kind == models.EventTemplate { // of the host, not of the page that showed it
		_, rest, _ := strings.Cut(e.URL, "://")
		host, _, _ := strings.Cut(rest, "/")
		page.Text, significance.Text = fmt.Sprintf("%s, many pages: %s", host, shortSample(e.Note)), ""
	}
	version, size := report.Cell{Value: e.Version}, report.Cell{Value: e.Bytes}
	if e.Version > 0 {
		version.Text = fmt.Sprint(e.Version)
	}
	if e.Digest != (models.Digest{}) { // else it does not say what the copy was
		size.Text = report.Bytes(e.Bytes)
	}
	return report.Row{
		{Value: e.At.Time(), Text: report.Until(now, e.At.Time())}, what, page, version, size, significance, reasons, report.OnlyValue(e.Note),
		report.OnlyValue(site), report.OnlyValue(e.Previous), report.OnlyValue(e.NotBefore.Time()),
		report.OnlyValue(e.RedirectTo), report.OnlyValue(e.ContentType), report.OnlyValue(e.Digest.String()),
		report.OnlyValue(e.Requisite),
	}
}

// eventTone is the colour of an event.
func eventTone(k models.EventKind) report.Tone {
	switch k {
	case models.EventNew, models.EventChanged, models.EventRestored:
		return report.Good
	case models.EventGone, models.EventFailing:
		return report.Bad
	case models.EventMoved, models.EventExcluded, models.EventRemoved:
		return report.Warn
	}
	return report.Faint
}
