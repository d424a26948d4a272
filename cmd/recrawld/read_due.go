package main

import (
	"context"
	"fmt"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
)

// span is a length of time on the command line, as the configuration writes it: "24h", "7d".
type span time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *span) UnmarshalText(text []byte) error {
	d, err := config.ParseDuration(string(text))
	if err == nil && d <= 0 {
		err = fmt.Errorf("%s is not a span of time", text)
	}
	*s = span(d)
	return err
}

// dueCmd lists what will be visited.
type dueCmd struct {
	Next  span   `default:"24h" placeholder:"TIME" help:"How far to look ahead: 90m, 24h, 7d."`
	Site  string `placeholder:"NAME" help:"Only this site."`
	Limit int    `default:"20" help:"Pages listed, the longest due first; 0 for all (at most 100,000)."`
}

// mostRows bounds what --limit 0 lists.
const mostRows = 100_000

// Run implements the command.
func (c dueCmd) Run(ctx context.Context, g *globals) error { return g.read(ctx, c) }

func (c dueCmd) read(ctx context.Context, l *look) error {
	site, err := l.siteID(c.Site)
	if err != nil {
		return err
	}
	d, err := c.document(ctx, l, site)
	if err != nil {
		return err
	}
	return l.print(d)
}

// dueSteps is how many bars the load has.
const dueSteps = 24

func (c dueCmd) document(ctx context.Context, l *look, site int32) (report.Document, error) {
	until := l.now.Add(time.Duration(c.Next))
	limit := c.Limit
	if limit <= 0 || limit > mostRows {
		limit = mostRows
	}
	rows, err := l.store.Due(ctx, site, models.At(until), limit)
	if err != nil {
		return report.Document{}, err
	}
	load, err := l.store.DueByStep(ctx, site, models.At(l.now), time.Duration(c.Next)/dueSteps, dueSteps)
	if err != nil {
		return report.Document{}, err
	}
	d := report.Document{Name: "due", Title: "Due in the next " + report.Span(time.Duration(c.Next)), At: l.now,
		Lead: loadWords(l.now, until, load), Columns: []report.Column{
			{Key: "due_at", Head: "due"}, {Key: "seconds"}, {Head: "in", Right: true},
			{Key: "url", Head: "page", Flex: true}, {Key: "site"},
			{Key: "fr_max", Head: "every", Right: true}, {Key: "rule", Head: "by"},
			{Key: "requisite"},
		}}
	for _, r := range rows {
		d.Rows = append(d.Rows, l.dueRow(r))
	}
	if all := addUp(load); len(rows) == c.Limit && all > int64(c.Limit) {
		d.Notes = append(d.Notes, fmt.Sprintf("… and %s more (%s)", report.Count(all-int64(c.Limit)), l.style.AllRows()))
	}
	return d, nil
}

func (l *look) dueRow(r models.DueRow) report.Row {
	due := r.DueAt.Time()
	in := report.OnlyText(dueWords(l.now, due))
	if !due.After(l.now) {
		in.Tone = report.Warn
	}
	every := l.calendar.Interval(l.now, int(r.FRMax))
	return report.Row{
		{Value: due, Text: report.Moment(l.now, due)}, report.OnlyValue(int64(due.Sub(l.now).Seconds())), in,
		report.TextCell(r.URL), report.OnlyValue(l.siteNames()[r.SiteID]),
		{Value: r.FRMax, Text: report.Span(every)}, report.TextCell(r.Rule.String()), report.OnlyValue(r.Requisite),
	}
}

// loadWords says how many pages are due and draws when.
func loadWords(now, until time.Time, load []int64) []string {
	all := addUp(load)
	if all == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s   %s %s %s", report.Plural(all, "page"), now.UTC().Format("15:04"), report.Bars(load),
		report.Moment(now, until))}
}

func addUp(counts []int64) (all int64) {
	for _, n := range counts {
		all += n
	}
	return all
}
