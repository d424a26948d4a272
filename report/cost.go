package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recrawld/models"
)

// costSpan is how far back the report looks unless told otherwise.
const costSpan = 30 * day

// cost is what visits of a site, or of a day, cost.
type cost struct {
	models.Daily
	atStart float64 // visits if every page kept the interval that it began with; only where timed
	timed   bool    // it is known of all days
}

// requests are all that were sent: for pages, and for robots.txt and names that do not exist.
func (c *cost) requests() int64 { return c.Asked + c.Robots }

// findings are the visits that brought what was not known: a change, or the first copy.
func (c *cost) findings() int64 { return c.Changed + c.First }

// wasted are the requests that cost an answer, or the wait for one, and told nothing of a page. A 304 is none: it is what a look costs.
func (c *cost) wasted() int64 { return c.Same + c.Failed + c.Robots }

// seen are the visits that saw a page's content.
func (c *cost) seen() int64 { return c.NotModified + c.Same + c.Changed + c.First }

func (c *cost) plus(o cost) {
	c.Daily, c.atStart, c.timed = c.Daily.Plus(o.Daily), c.atStart+o.atStart, c.timed && o.timed
}

// costOf is what a day of a site cost. How many pages were watched is told by the looks at them: each stands for the days since the one before
// (models.Daily.FoundDays), so that over many days they add up to the days of all pages, also of those that are looked at rarely. Requisites
// are not among these, so what is said of the interval at the start is rather too low. A day of an earlier release, which did not count looks,
// counts as it was.
func costOf(d models.Daily, o Options) cost {
	c := cost{Daily: d}
	var every time.Duration
	if o.Start != nil {
		every = o.Start(d.SiteID)
	}
	c.timed = every > 0
	switch watched := d.FoundDays + d.LostDays; {
	case !c.timed:
	case watched == 0:
		c.atStart = float64(d.Asked)
	default:
		c.atStart = float64(watched) * float64(day) / float64(every)
	}
	return c
}

// costKey is a line of the report: a site or a day.
type costKey struct{ day, site int32 }

// costDocument lists the sites with most requests first, or the days newest first.
func costDocument(rows []models.Daily, since time.Time, o Options) Document {
	o.By = cmp.Or(o.By, "site")
	sums, all := make(map[costKey]*cost), cost{timed: true}
	for _, r := range rows {
		key := costKey{site: r.SiteID}
		if o.By == "day" {
			key = costKey{day: r.Day}
		}
		if sums[key] == nil {
			sums[key] = &cost{timed: true}
		}
		c := costOf(r, o)
		sums[key].plus(c)
		all.plus(c)
	}
	keys := make([]costKey, 0, len(sums))
	for key := range sums {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b costKey) int {
		return cmp.Or(cmp.Compare(b.day, a.day), cmp.Compare(sums[b].requests(), sums[a].requests()),
			cmp.Compare(sums[b].Bytes, sums[a].Bytes), cmp.Compare(a.site, b.site))
	})
	d := Document{Name: "cost", Title: "Cost by " + o.By, At: o.Now, Columns: costColumns(o.By)}
	sites := make([]siteCost, 0, len(keys))
	for _, key := range keys {
		name := TextCell(DayOf(key.day).Format(time.DateOnly))
		name.Text = DayOf(key.day).Format("Mon 2 Jan 2006")
		if o.By == "site" {
			name = TextCell(o.siteName(key.site))
			sites = append(sites, siteCost{name.Text, sums[key]})
		}
		d.Rows = append(d.Rows, costRow(name, sums[key], all.requests()))
	}
	if len(keys) > 1 {
		d.Total = costRow(TextCell("all"), &all, all.requests())
	}
	if o.Limit > 0 {
		d.More = max(len(d.Rows)-o.Limit, 0)
	}
	if len(keys) > 0 {
		d.Lead = costLead(&all, since, o)
		d.Notes = append(costNotes(len(d.Lead) > 1), costHelp(sites, &all)...)
	}
	return d
}

func costColumns(by string) []Column {
	return []Column{
		{Key: by, Head: by, Flex: true},
		{Key: "requests", Head: "requests", Right: true},
		{Key: "share", Head: "of all", Right: true, Drop: 5},
		{Key: "visits"},
		{Key: "not_modified", Head: "304", Right: true, Drop: 4},
		{Key: "same", Head: "same", Right: true, Drop: 3},
		{Key: "changed", Head: "changed", Right: true},
		{Key: "new", Head: "new", Right: true, Spare: true, Drop: 7},
		{Key: "failed", Head: "failed", Right: true, Spare: true, Drop: 8},
		{Key: "robots"},
		{Key: "wasted_share", Head: "wasted", Right: true},
		{Key: "requests_per_change", Head: "per change", Right: true},
		{Key: "bytes", Head: "received", Right: true, Drop: 1},
		{Key: "bytes_saved", Head: "spared", Right: true, Drop: 2},
		{Key: "bytes_per_change", Head: "bytes per change", Right: true, Drop: 6},
		{Key: "visits_at_start_interval"},
	}
}

func costRow(name Cell, c *cost, all int64) Row {
	changed := CountCell(c.Changed)
	if c.Changed > 0 {
		changed.Tone = Good
	}
	wasted := ShareCell(c.wasted(), c.requests())
	if c.requests() >= helpVisits && 2*c.wasted() > c.requests() {
		wasted.Tone = Warn
	}
	perChange, bytesPerChange, atStart := Cell{Text: none, Tone: Faint}, Cell{Text: none, Tone: Faint}, OnlyValue(nil)
	if c.Changed > 0 {
		per := float64(c.requests()) / float64(c.Changed)
		perChange = Cell{Value: per, Text: rounded(per)}
		bytes := c.Bytes / c.Changed
		bytesPerChange = Cell{Value: bytes, Text: Bytes(bytes)}
	}
	if c.timed {
		atStart.Value = c.atStart
	}
	return Row{
		name, CountCell(c.requests()), ShareCell(c.requests(), all), OnlyValue(c.Asked), CountCell(c.NotModified), CountCell(c.Same), changed,
		CountCell(c.First), CountCell(c.Failed), OnlyValue(c.Robots), wasted, perChange, BytesCell(c.Bytes), BytesCell(c.BytesSaved), bytesPerChange, atStart,
	}
}

// costLead says what all of it cost, and what it is beside visiting every page at one interval. Between a tenth less and a tenth more nothing
// is said of that: the days of pages are known no better.
func costLead(all *cost, since time.Time, o Options) []string {
	lead := []string{fmt.Sprintf("%s and %s received since %s; answers 304 spared %s, by the lengths of the copies", Plural(all.requests(), "request"),
		Bytes(all.Bytes), DayOf(DayNumber(since)).Format("2 January 2006"), Bytes(all.BytesSaved))}
	if !all.timed || all.atStart < leastCompared || o.By == "day" {
		return lead
	}
	naive, asked := int64(all.atStart), all.Asked
	switch words := fmt.Sprintf("at the interval that pages start with (fr) it would be about %s visits instead of %s", Count(naive), Count(asked)); {
	case 10*asked < 9*naive:
		lead = append(lead, words+": "+Share(naive-asked, naive)+" fewer were made")
	case 10*asked > 11*naive:
		lead = append(lead, words+": pages are visited more often than that, where they change more often or their budget allows it")
	}
	return lead
}

// leastCompared is how many visits there must be for a comparison to say something.
const leastCompared = 100

// costNotes explain what is no plain count, and what was compared.
func costNotes(compared bool) []string {
	notes := []string{"same: read again in full and the same in what matters; whether all bytes were the same the sums of a day do not tell. wasted: the share of " +
		"the requests that were same, failed, or for robots.txt. per change: requests, and bytes, for each change that matters."}
	if compared {
		notes = append(notes, "What it would be at fr is by today's settings, and for the pages that were looked at and answered: the looks say how many there were. It says "+
			"nothing of how fresh they would be.")
	}
	return notes
}

// makeCost reads the daily sums of the last 30 days, or since o.Since. These are a row a day, site and bucket, whatever the number of pages,
// and are read in one pass; memory is that of a row a day and site. By directory it passes over all pages instead.
func makeCost(ctx context.Context, store *models.Store, o Options) (Document, error) {
	if o.By == "directory" {
		return makeDirectoryCost(ctx, store, o)
	}
	since := o.Since
	if since.IsZero() {
		since = o.Now.Add(-costSpan)
	}
	rows, err := store.DailySums(ctx, o.Site, DayNumber(since), DayNumber(o.Now))
	if err != nil {
		return Document{}, fmt.Errorf("report cost: %w", err)
	}
	return costDocument(rows, since, o), nil
}
