package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// maxGroups bounds the memory of a grouping by directory; pages of any further directory are added up as one.
const maxGroups = 20_000

// otherGroups is that group.
const otherGroups = "(other directories)"

// fewRecords is how many visits a page needs before its rate says much.
const fewRecords = 3

// rateGroup sums pages that belong together.
type rateGroup struct {
	key                      string
	pages, visits, changes   int64
	byteChanges, compared    int64 // of so many comparisons with the record before
	duplicates               int64
	few, atOne, atTop, timed int64 // timed: pages with a ceiling to compare with
	frMax                    Histogram
	pool, bytes              changerate.Pool // of the content, of the bytes
}

// add adds a page. top is its site's ceiling of fr_max, 0 where it is not known.
func (g *rateGroup) add(p models.PageSummary, top int32) {
	g.pages++
	g.visits += int64(p.Records)
	g.changes += int64(p.Changes)
	byteChanges := max(p.ByteChanges, p.Changes) // an earlier release did not count them
	g.byteChanges += int64(byteChanges)
	if p.DuplicateOf {
		g.duplicates++
	}
	g.frMax.Add(p.FRMax)
	if p.Records < fewRecords {
		g.few++
	}
	if p.FRMax <= 1 {
		g.atOne++
	}
	if top > 0 {
		g.timed++
	}
	if top > 0 && p.FRMax >= top {
		g.atTop++
	}
	if n := p.Records - 1; n > 0 {
		span := p.VisitedAt.Time().Sub(p.FirstAt.Time())
		g.pool.Add(int(n), int(p.Changes), span/time.Duration(n))
		g.compared += int64(n)
		g.bytes.Add(int(n), min(int(byteChanges), int(n)), span/time.Duration(n))
	}
}

func (g *rateGroup) merge(o *rateGroup) {
	g.pages += o.pages
	g.visits += o.visits
	g.changes += o.changes
	g.byteChanges += o.byteChanges
	g.compared += o.compared
	g.duplicates += o.duplicates
	g.few += o.few
	g.atOne += o.atOne
	g.atTop += o.atTop
	g.timed += o.timed
	for i, n := range o.frMax {
		g.frMax[i] += n
	}
	g.pool.Merge(&o.pool)
	g.bytes.Merge(&o.bytes)
}

// changeRates sums pages by group.
type changeRates struct {
	options Options
	groups  map[string]*rateGroup
}

func newChangeRates(o Options) *changeRates {
	if o.By == "" {
		o.By = "site"
	}
	if o.Depth <= 0 {
		o.Depth = 2
	}
	return &changeRates{options: o, groups: map[string]*rateGroup{}}
}

// add adds a page. Excluded and gone pages are left out: they are not visited for change.
func (c *changeRates) add(p models.PageSummary) {
	if p.State == models.StateExcluded || p.State == models.StateGone {
		return
	}
	var top int32
	if c.options.FRMax != nil {
		top = c.options.FRMax(p.SiteID)
	}
	c.group(c.key(p)).add(p, top)
}

func (c *changeRates) key(p models.PageSummary) string {
	switch c.options.By {
	case "directory":
		return directory(p.URL, c.options.Depth)
	case "type":
		if p.ContentType == "" {
			return "(none yet)"
		}
		return p.ContentType
	}
	return c.options.siteName(p.SiteID)
}

func (c *changeRates) group(key string) *rateGroup {
	g := c.groups[key]
	if g == nil && len(c.groups) >= maxGroups {
		key = otherGroups
		g = c.groups[key]
	}
	if g == nil {
		g = &rateGroup{key: key}
		c.groups[key] = g
	}
	return g
}

// directory is the directory of a canonical URL, at most depth segments deep, without its scheme:
// "docs.example.org/en/guide/".
func directory(url string, depth int) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	url, _, _ = strings.Cut(url, "?")
	end := strings.IndexByte(url, '/')
	if end < 0 {
		return url + "/"
	}
	for range depth {
		next := strings.IndexByte(url[end+1:], '/')
		if next < 0 {
			break
		}
		end += 1 + next
	}
	return url[:end+1]
}

// sorted orders the groups, those that are alike by their pages, the most first, and sums them.
func (c *changeRates) sorted(compare func(a, b *rateGroup) int) (groups []*rateGroup, all *rateGroup) {
	all = &rateGroup{key: "all"}
	for _, g := range c.groups {
		all.merge(g)
	}
	return slices.SortedFunc(maps.Values(c.groups), func(a, b *rateGroup) int {
		return cmp.Or(compare(a, b), cmp.Compare(b.pages, a.pages), strings.Compare(a.key, b.key))
	}), all
}

// document orders the groups, the largest first.
func (c *changeRates) document() Document {
	groups, all := c.sorted(func(*rateGroup, *rateGroup) int { return 0 })
	upTo := all.frMax.last()
	d := Document{
		Name: "change-rates", Title: "Change rates by " + c.options.By, At: c.options.Now,
		Columns: rateColumns(c.options.By, upTo), Notes: rateNotes(all, upTo),
	}
	for _, g := range groups {
		d.Rows = append(d.Rows, g.row(upTo))
	}
	if len(groups) > 1 {
		d.Total = all.row(upTo)
	}
	if limit := c.options.Limit; limit > 0 {
		d.More = max(len(d.Rows)-limit, 0)
	}
	return d
}

func rateColumns(by string, upTo int) []Column {
	return []Column{
		{Key: by, Head: by, Flex: true},
		{Key: "pages", Head: "pages", Right: true},
		{Key: "visits", Head: "visits", Right: true},
		{Key: "changes", Head: "changes", Right: true, Drop: 2},
		{Head: "a page changes"}, {Head: "its bytes", Spare: true, Drop: 1},
		{Key: "rate_per_day"}, {Key: "rate_low"}, {Key: "rate_high"},
		{Key: "fr_max", Head: "fr_max " + span(upTo)},
		{Key: "share_at_1", Head: "at 1", Right: true, Drop: 4},
		{Key: "share_at_ceiling", Head: "at top", Right: true, Drop: 3},
		{Key: "share_few_visits", Head: "< 3 visits", Right: true, Drop: 5},
		{Key: "byte_changes"}, {Key: "byte_rate_per_day"}, {Key: "byte_rate_low"}, {Key: "byte_rate_high"},
		{Key: "duplicates", Head: "duplicates", Right: true, Spare: true, Drop: 6},
	}
}

// span names the bins up to and with the given one: "1", "1–16".
func span(upTo int) string {
	if upTo == 0 {
		return "1"
	}
	return "1–" + Count(1<<upTo)
}

func (g *rateGroup) row(upTo int) Row {
	rate := g.pool.Rate()
	r := Row{
		TextCell(g.key), CountCell(g.pages), CountCell(g.visits), CountCell(g.changes), OnlyText(Rate(rate)), g.bytesCell(),
		OnlyValue(nil), OnlyValue(nil), OnlyValue(nil),
		{Value: g.frMax, Text: g.frMax.Bars(upTo)},
		ShareCell(g.atOne, g.pages), ShareCell(g.atTop, g.timed), ShareCell(g.few, g.pages),
		OnlyValue(g.byteChanges), OnlyValue(nil), OnlyValue(nil), OnlyValue(nil), CountCell(g.duplicates),
	}
	if rate.Known() {
		r[6], r[7], r[8] = OnlyValue(rate.PerDay), OnlyValue(rate.Low), OnlyValue(rate.High)
	}
	if bytes := g.bytes.Rate(); bytes.Known() {
		r[14], r[15], r[16] = OnlyValue(bytes.PerDay), OnlyValue(bytes.Low), OnlyValue(bytes.High)
	}
	if g.pages > 0 && 2*g.few > g.pages {
		r[12].Tone = Warn
	}
	return r
}

// bytesCell is how often bytes change, where that is more often than the content does.
func (g *rateGroup) bytesCell() Cell {
	switch {
	case g.byteChanges == g.changes:
		return Cell{}
	case g.byteChanges >= g.compared:
		return OnlyText("at every visit")
	}
	if rate := g.bytes.Rate(); rate.PerDay > 0 {
		return OnlyText("1 per " + Span(rate.Every()))
	}
	return OnlyText(none)
}

// rateNotes explain the two columns that are not plain counts.
func rateNotes(all *rateGroup, upTo int) []string {
	if all.pages == 0 {
		return nil
	}
	bins := make([]string, 0, upTo+1)
	for i := range upTo + 1 {
		bins = append(bins, label(i))
	}
	return []string{
		"Rate: one Poisson process fitted to all comparisons of the content, with its 95 % interval; its bytes: of the bytes, where they change more often.",
		fmt.Sprintf("fr_max: pages by visit interval in cycles, %s.", strings.Join(bins, " | ")),
	}
}

// ratesOf passes over all pages once; memory grows with the number of groups, not of pages.
func ratesOf(ctx context.Context, store *models.Store, o Options) (*changeRates, error) {
	rates := newChangeRates(o)
	for p, err := range store.Summaries(ctx, o.Site) {
		if err != nil {
			return nil, err
		}
		rates.add(p)
	}
	return rates, nil
}

func makeChangeRates(ctx context.Context, store *models.Store, o Options) (Document, error) {
	rates, err := ratesOf(ctx, store, o)
	if err != nil {
		return Document{}, fmt.Errorf("report change rates: %w", err)
	}
	return rates.document(), nil
}
