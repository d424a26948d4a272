package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recrawld/models"
)

// responsesSpan is how far back the report looks unless told otherwise.
const responsesSpan = 7 * day

// responseDocument lists what visits found, good news first, each with how often, how long it took and when last.
func responseDocument(rows []models.Response, since time.Time, o Options) Document {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r models.Response) bool { return r.Visits == 0 })
	slices.SortFunc(rows, func(a, b models.Response) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Visits, a.Visits), cmp.Compare(a.Status, b.Status),
			cmp.Compare(a.Class, b.Class))
	})
	var all int64
	for _, r := range rows {
		all += r.Visits
	}
	d := Document{
		Name: "responses", Title: "Responses", At: o.Now,
		Lead: []string{fmt.Sprintf("%s since %s", Plural(all, "visit"), Moment(o.Now, since))},
		Columns: []Column{
			{Key: "outcome", Head: "outcome"},
			{Key: "status", Head: "status", Right: true},
			{Key: "class", Head: "class", Spare: true},
			{Key: "visits", Head: "visits", Right: true},
			{Key: "share", Head: "share", Right: true, Drop: 3},
			{Key: "bytes", Head: "received", Right: true, Drop: 1},
			{Key: "mean_seconds", Head: "took", Right: true, Drop: 2},
			{Key: "last_at", Head: "last", Right: true},
		},
	}
	for _, r := range rows {
		d.Rows = append(d.Rows, responseRow(r, all, o.Now))
	}
	return d
}

func responseRow(r models.Response, all int64, now time.Time) Row {
	outcome, status := TextCell(r.Kind.String()), Cell{}
	outcome.Tone = OutcomeTone(r.Kind)
	if r.Status > 0 {
		status = Cell{Value: r.Status, Text: fmt.Sprint(r.Status)}
	}
	mean := time.Duration(r.Took / r.Visits)
	took := Cell{Value: mean.Seconds(), Text: Span(mean)}
	if r.Took == 0 {
		took = Cell{}
	}
	return Row{
		outcome, status, TextCell(r.Class.String()), CountCell(r.Visits), ShareCell(r.Visits, all), BytesCell(r.Bytes),
		took, {Value: r.LastAt.Time(), Text: Until(now, r.LastAt.Time())},
	}
}

// OutcomeTone is the colour of an outcome.
func OutcomeTone(k models.OutcomeKind) Tone {
	switch k {
	case models.Changed, models.First:
		return Good
	case models.Failed, models.Gone:
		return Bad
	case models.Missing, models.Moved, models.Excluded:
		return Warn
	case models.NotModified, models.SameBytes, models.SameText, models.Noise:
		return Neutral
	}
	return Faint
}

// makeResponses adds up the history since o.Since, 7 days by default. It passes over all rows of the history.
func makeResponses(ctx context.Context, store *models.Store, o Options) (Document, error) {
	since := o.Since
	if since.IsZero() {
		since = o.Now.Add(-responsesSpan)
	}
	rows, err := store.Responses(ctx, o.Site, models.At(since))
	if err != nil {
		return Document{}, fmt.Errorf("report responses: %w", err)
	}
	return responseDocument(rows, since, o), nil
}
