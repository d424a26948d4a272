package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"recrawld/models"
)

// cost is what visits of a site, or of a day, cost.
type cost struct {
	models.Daily
	atStart float64 // visits if every page kept the interval that it began with, of the sites of which that is known
	timed   int64   // visits of these
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
	c.Daily, c.atStart, c.timed = c.Daily.Plus(o.Daily), c.atStart+o.atStart, c.timed+o.timed
}

// costOf is what a day of a site cost.
func costOf(d models.Daily, o Options) cost {
	c := cost{Daily: d}
	if o.Start == nil {
		return c
	}
	if every := o.Start(d.SiteID); every > 0 {
		c.atStart, c.timed = c.visitsAt(every), d.Asked
	}
	return c
}

// visitsAt is how many visits there would have been had every page been looked at at that interval. How many pages were watched is told by the
// looks at them: each stands for the days since the one before (models.Daily.FoundDays), so that over many days they add up to the days of
// all pages, also of those that are looked at rarely. A first visit is made whatever the interval, and stands for no day. Visits that saw no
// page count as they were: how often one that fails or is missing is tried again is not said by fr. Visits of requisites again are left out,
// so the number is rather too low. A day on which nothing was watched, and one of an earlier release, which did not count looks, counts as
// it was.
func (c *cost) visitsAt(every time.Duration) float64 {
	watched := c.FoundDays + c.LostDays
	if watched == 0 {
		return float64(c.Asked)
	}
	unseen := max(c.Asked-c.seen()-c.Lost, 0)
	return float64(unseen+c.First) + float64(watched-min(c.First, c.Found))*float64(day)/float64(every)
}

// costDocument lists the sites with most requests first, or the days newest first.
func costDocument(rows []models.Daily, since time.Time, o Options) Document {
	o.By = cmp.Or(o.By, "site")
	sums, all := make(map[dailyKey]*cost), new(cost)
	for _, r := range rows {
		key := dailyKeyOf(r, o.By)
		if sums[key] == nil {
			sums[key] = new(cost)
		}
		c := costOf(r, o)
		sums[key].plus(c)
		all.plus(c)
	}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b dailyKey) int {
		return cmp.Or(cmp.Compare(b.day, a.day), cmp.Compare(sums[b].requests(), sums[a].requests()),
			cmp.Compare(sums[b].Bytes, sums[a].Bytes), cmp.Compare(a.site, b.site))
	})
	d := Document{Name: "cost", Title: "Cost by " + o.By, At: o.Now, Columns: costColumns(o.By)}
	if len(keys) == 0 {
		return d
	}
	var sites []siteCost
	for _, key := range keys {
		d.Rows = append(d.Rows, costRow(key.cell(o), sums[key], all.requests()))
		if o.By == "site" {
			sites = append(sites, siteCost{o.siteName(key.site), sums[key]})
		}
	}
	if len(keys) > 1 {
		d.Total = costRow(TextCell("all"), all, all.requests())
	}
	if o.Limit > 0 {
		d.More = max(len(d.Rows)-o.Limit, 0)
	}
	d.Lead = costLead(all, since, o)
	d.Notes = append(costNotes(len(d.Lead) > 1), costHelp(sites, all)...)
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
	if c.timed == c.Asked {
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
	if all.atStart < leastCompared || o.By == "day" {
		return lead
	}
	naive, asked, of := int64(all.atStart), all.timed, ""
	if asked < all.Asked {
		of = " of the sites that are configured"
	}
	switch words := fmt.Sprintf("at the interval that pages start with (fr) it would be about %s visits instead of %s%s", Count(naive), Count(asked), of); {
	case 10*asked < 9*naive:
		lead = append(lead, words+": "+Share(naive-asked, naive)+" fewer were made")
	case 10*asked > 11*naive:
		lead = append(lead, words+": more were made, where pages change more often, a budget allows it, what they need to be shown is visited too, or visits come early")
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
		notes = append(notes, "What it would be at fr is by today's settings, and for the pages that were looked at and answered: the looks say how many there were, each for "+
			"the days since the one before, also those of a pause. It says nothing of how fresh they would be.")
	}
	return notes
}

// makeCost reads the daily sums; by directory it passes over all pages instead.
func makeCost(ctx context.Context, store *models.Store, o Options) (Document, error) {
	if o.By == "directory" {
		rates, err := ratesOf(ctx, store, o)
		if err != nil {
			return Document{}, fmt.Errorf("report cost: %w", err)
		}
		return rates.costDocument(), nil
	}
	rows, since, err := dailySums(ctx, store, o)
	if err != nil {
		return Document{}, fmt.Errorf("report cost: %w", err)
	}
	return costDocument(rows, since, o), nil
}
