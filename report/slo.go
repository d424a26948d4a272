package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"recrawld/models"
)

// makeLevels measures on from what was measured last.
func makeLevels(ctx context.Context, store *models.Store, o Options) (Document, error) {
	promises := slices.DeleteFunc(slices.Clone(o.Promises), func(p Promise) bool { return o.Site != 0 && p.Site != o.Site })
	body, err := store.Note(ctx, NoteLevels)
	if err != nil {
		return Document{}, fmt.Errorf("report service levels: %w", err)
	}
	levels, err := MeasureLevels(ctx, store, ReadLevels(body), "", promises, o.Now, nil)
	if err != nil {
		return Document{}, err
	}
	pages, err := CopiesBySite(ctx, store)
	if err != nil {
		return Document{}, err
	}
	return levelsDocument(levels.Sites, pages, o), nil
}

// CopiesBySite counts the pages of each site that there is a copy of and that are to be fresh.
func CopiesBySite(ctx context.Context, store *models.Store) (map[int32]int64, error) {
	states, err := store.PageCounts(ctx)
	if err != nil {
		return nil, err
	}
	pages := make(map[int32]int64)
	for _, s := range states {
		if s.State == models.StateLive {
			pages[s.SiteID] += s.Pages
		}
	}
	return pages, nil
}

// levelsDocument lists the sites with a service level, those that use most of their error budget first.
func levelsDocument(levels []Level, pages map[int32]int64, o Options) Document {
	d := Document{Name: "slo", Title: "Service levels", At: o.Now, Columns: []Column{
		{Key: "site", Head: "site", Flex: true}, {Key: "promised", Head: "promised"}, {Key: "promised_share"}, {Key: "within_seconds"},
		{Key: "attained", Head: "attained", Right: true}, {Key: "at_worst", Head: "at worst", Right: true, Drop: 3},
		{Key: "at_best", Head: "at best", Right: true, Drop: 2}, {Key: "budget_used", Head: "budget used", Right: true},
		{Key: "since_yesterday", Head: "since yesterday", Right: true, Drop: 1}, {Key: "changes", Head: "changes", Right: true},
		{Key: "measured_since", Head: "measured over", Right: true, Drop: 4},
	}}
	if len(levels) == 0 {
		d.Lead = []string{"Nothing is promised: write slo: 95% of changes within 6h beside a site's url, or under defaults " +
			"(recrawld plan SITE --slo LEVEL says what that takes)."}
		return d
	}
	missed := 0
	type line struct {
		used float64
		row  Row
	}
	var lines []line
	for _, level := range levels {
		all := level.Over(o.Since, o.Now, pages[level.Site])
		lately := level.Over(DayOf(DayNumber(o.Now)-1), o.Now, pages[level.Site])
		if all.Broken() {
			missed++
		}
		lines = append(lines, line{all.Used(), levelRow(o.siteName(level.Site), all, lately)})
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.used, a.used) })
	for _, l := range lines {
		d.Rows = append(d.Rows, l.row)
	}
	if o.Limit > 0 {
		d.More = max(len(d.Rows)-o.Limit, 0)
	}
	d.Lead = []string{fmt.Sprintf("%s with a service level, %s", Plural(int64(len(levels)), "site"), missedWords(missed))}
	d.Notes = []string{"Of the changes that visits found: each happened between the visit before and the one that found it, at worst right " +
		"after the former, at best right before the latter, and is taken to have happened at any moment between as likely, unless a " +
		"trusted date tells when. Budget used: of what may be missed by the promise, what was. " +
		fmt.Sprintf("Of fewer than %d changes nobody is told that it is missed.", oddVisits)}
	return d
}

func missedWords(n int) string {
	if n == 0 {
		return "none is missed"
	}
	return Count(n) + " missed"
}

func levelRow(name string, all, lately Attainment) Row {
	within := Cell{}
	if !all.Goal.Fresh() {
		within.Value = all.Goal.Within.Seconds()
	}
	attained, used := all.cell(all.Share.Likely), all.cell(all.Used())
	if used.Value != nil {
		used.Text = fmt.Sprintf("%.0f %%", 100*all.Used())
	}
	if attained.Value != nil {
		switch attained.Tone = Good; {
		case all.Broken():
			attained.Tone = Bad
		case all.Used() > 1:
			attained.Tone = Warn
		}
	}
	return Row{
		TextCell(name), TextCell(all.Goal.String()), OnlyValue(all.Goal.Share), within,
		attained, all.cell(all.Share.AtWorst), all.cell(all.Share.AtBest), used, lately.cell(lately.Share.Likely),
		CountCell(all.Missed.Changes), {Value: all.From, Text: Plural(all.days(), "day")},
	}
}

// cell is a share of what was found; of nothing there is none.
func (a Attainment) cell(share float64) Cell {
	if a.Missed.Changes == 0 {
		return Cell{Text: none}
	}
	return Cell{Value: share, Text: percent(share)}
}
