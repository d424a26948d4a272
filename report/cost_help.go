package report

import (
	"cmp"
	"fmt"
)

// siteCost is a site with what it cost.
type siteCost struct {
	name string
	*cost
}

// The least that something must cost for a line of its own: so many visits, and so large a share of all, in percent.
const (
	helpVisits = 100
	helpShare  = 10
)

// costHelp says in one line what would help most: the site with most requests of those for which something is amiss. Sites come with most
// requests first.
func costHelp(sites []siteCost, all *cost) []string {
	for _, s := range sites {
		if 100*s.requests() < helpShare*all.requests() {
			break
		}
		if words := s.help(all); words != "" && s.Asked >= helpVisits {
			return []string{"What would help: " + s.name + " takes " + Share(s.requests(), all.requests()) + " of the requests, and " + words}
		}
	}
	return nil
}

// help says what is amiss, and the way out; "": nothing is.
func (s siteCost) help(all *cost) string {
	part := func(part, whole int64, percent int64) bool { return whole >= helpVisits && 100*part >= percent*whole }
	switch {
	case part(s.Failed, s.Asked, 25):
		return fmt.Sprintf("%s of its %s failed: report responses says why.", Share(s.Failed, s.Asked), Plural(s.Asked, "visit"))
	case s.Changed == 0 && s.First == 0 && s.seen() >= helpVisits:
		return fmt.Sprintf("none of the %s that saw its pages found a change: a larger fr_max, or a budget and the policy adaptive, would spare most of them.",
			Plural(s.seen(), "visit"))
	case part(s.Same, s.seen(), 50):
		return fmt.Sprintf("%s of the visits that saw its pages read again what was known: report hints says why its answers are seldom 304.", Share(s.Same, s.seen()))
	case all.Changed > 0 && 3*float64(s.findings())/float64(max(all.findings(), 1)) < float64(s.requests())/float64(max(all.requests(), 1)):
		return fmt.Sprintf("brings %s of what they find: report cost --by directory tells where they go.", Share(s.findings(), all.findings()))
	}
	return ""
}

// costDocument orders directories by the visits that they took, the most first. Pages have no sums by day, so it tells of all that their
// rates are learned from.
func (c *changeRates) costDocument() Document {
	groups, all := c.sorted(func(a, b *rateGroup) int { return cmp.Compare(b.visits, a.visits) })
	d := Document{Name: "cost", Title: "Cost by directory", At: c.options.Now, Columns: []Column{
		{Key: "directory", Head: "directory", Flex: true},
		{Key: "pages", Head: "pages", Right: true, Drop: 1},
		{Key: "visits", Head: "visits", Right: true},
		{Key: "share", Head: "of all", Right: true},
		{Key: "changed", Head: "changed", Right: true},
		{Key: "visits_per_change", Head: "per change", Right: true},
	}}
	for _, g := range groups {
		d.Rows = append(d.Rows, g.costRow(all.visits))
	}
	if len(groups) > 1 {
		d.Total = all.costRow(all.visits)
	}
	if c.options.Limit > 0 {
		d.More = max(len(d.Rows)-c.options.Limit, 0)
	}
	if len(groups) > 0 {
		d.Notes = append([]string{"visits: those that saw the content, of the pages that are visited at present, since each is known. per change: visits for each change that matters."},
			directoryHelp(groups, all.visits)...)
	}
	return d
}

func (g *rateGroup) costRow(all int64) Row {
	changed, per := CountCell(g.changes), Cell{Text: none, Tone: Faint}
	if g.changes > 0 {
		changed.Tone = Good
		each := float64(g.visits) / float64(g.changes)
		per = Cell{Value: each, Text: rounded(each)}
	}
	return Row{TextCell(g.key), CountCell(g.pages), CountCell(g.visits), ShareCell(g.visits, all), changed, per}
}

// directoryHelp names the directory that cost most without any change.
func directoryHelp(groups []*rateGroup, all int64) []string {
	for _, g := range groups {
		if g.visits < helpVisits || 100*g.visits < helpShare*all {
			break
		}
		if g.changes == 0 && g.key != otherGroups {
			return []string{fmt.Sprintf("What would help: %s takes %s of the visits, and none of its %s found a change: a lower weight in importance: rules:, with a budget and "+
				"the policy adaptive, would spare most of them.", g.key, Share(g.visits, all), Count(g.visits))}
		}
	}
	return nil
}
