package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recrawld/models"
)

// dailySpan is how far back reports of days look unless told otherwise.
const dailySpan = 30 * day

// dailyKey is a line of the report: a day or a site.
type dailyKey struct {
	day  int32
	site int32
}

// dailyKeyOf is the line by the grouping: "day" (all sites together) or "site" (all days together).
func dailyKeyOf(r models.Daily, by string) dailyKey {
	if by == "site" {
		return dailyKey{site: r.SiteID}
	}
	return dailyKey{day: r.Day}
}

// cell names the line.
func (k dailyKey) cell(o Options) Cell {
	if o.By == "site" {
		return TextCell(o.siteName(k.site))
	}
	return Cell{Value: DayOf(k.day).Format(time.DateOnly), Text: DayOf(k.day).Format("Mon 2 Jan 2006")}
}

func sumDaily(rows []models.Daily, by string) map[dailyKey]models.Daily {
	sums := map[dailyKey]models.Daily{}
	for _, r := range rows {
		key := dailyKeyOf(r, by)
		sums[key] = sums[key].Plus(r)
	}
	return sums
}

// dailyDocument lists the days newest first, or the sites with most visits first.
func dailyDocument(rows []models.Daily, o Options) Document {
	if o.By == "" {
		o.By = "day"
	}
	sums := sumDaily(rows, o.By)
	keys := make([]dailyKey, 0, len(sums))
	for key := range sums {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b dailyKey) int {
		return cmp.Or(cmp.Compare(b.day, a.day), cmp.Compare(sums[b].Asked, sums[a].Asked), cmp.Compare(a.site, b.site))
	})
	d := Document{Name: "daily", Title: "Visits by " + o.By, At: o.Now, Columns: dailyColumns(o.By)}
	var all models.Daily
	for _, key := range keys {
		all = all.Plus(sums[key])
		d.Rows = append(d.Rows, dailyRow(key.cell(o), sums[key]))
	}
	if len(keys) > 1 {
		d.Total = dailyRow(TextCell("all"), all)
	}
	if o.Limit > 0 {
		d.More = max(len(d.Rows)-o.Limit, 0)
	}
	return d
}

// DayOf is the midnight, UTC, of a day number as in models.Daily.
func DayOf(number int32) time.Time { return time.Unix(int64(number)*86400, 0).UTC() }

// DayNumber is the number of the day, UTC, that t lies in.
func DayNumber(t time.Time) int32 { return int32(t.Unix() / 86400) }

func dailyColumns(by string) []Column {
	return []Column{
		{Key: by, Head: by, Flex: true},
		{Key: "visits", Head: "visits", Right: true},
		{Key: "not_modified", Head: "304", Right: true},
		{Key: "same", Head: "same", Right: true},
		{Key: "changed", Head: "changed", Right: true},
		{Head: "hit rate", Right: true},
		{Key: "new", Head: "new", Right: true},
		{Key: "moved", Head: "moved", Right: true, Spare: true, Drop: 3},
		{Key: "gone", Head: "not found", Right: true, Spare: true, Drop: 2},
		{Key: "failed", Head: "failed", Right: true},
		{Key: "robots", Head: "robots", Right: true, Spare: true, Drop: 5},
		{Key: "skipped", Head: "skipped", Right: true, Spare: true, Drop: 4},
		{Key: "bytes", Head: "received", Right: true},
		{Key: "bytes_saved", Head: "spared", Right: true, Drop: 1},
	}
}

func dailyRow(name Cell, d models.Daily) Row {
	failed := CountCell(d.Failed)
	if d.Failed > 0 {
		failed.Tone = Bad
	}
	changed := CountCell(d.Changed)
	if d.Changed > 0 {
		changed.Tone = Good
	}
	return Row{
		name, CountCell(d.Asked), CountCell(d.NotModified), CountCell(d.Same), changed,
		OnlyText(Share(d.Changed, d.NotModified+d.Same+d.Changed)), CountCell(d.First), CountCell(d.Moved),
		CountCell(d.Gone), failed, CountCell(d.Robots), CountCell(d.Skipped), BytesCell(d.Bytes), BytesCell(d.BytesSaved),
	}
}

// makeDaily reads the daily sums of the last 30 days, or since o.Since.
func makeDaily(ctx context.Context, store *models.Store, o Options) (Document, error) {
	rows, _, err := dailySums(ctx, store, o)
	if err != nil {
		return Document{}, fmt.Errorf("report days: %w", err)
	}
	return dailyDocument(rows, o), nil
}

// dailySums reads the sums of the days from that of o.Since, by default of 30 days ago, to the present one. They are a row a day and site,
// whatever the number of pages.
func dailySums(ctx context.Context, store *models.Store, o Options) (rows []models.Daily, since time.Time, err error) {
	if since = o.Since; since.IsZero() {
		since = o.Now.Add(-dailySpan)
	}
	rows, err = store.DailySums(ctx, o.Site, DayNumber(since), DayNumber(o.Now))
	return rows, since, err
}
