package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler"
)

// statusBudget is a budget in force, with what it paid for since midnight UTC.
type statusBudget struct {
	Site   string  `json:"site,omitempty"` // empty: of all sites together
	Budget string  `json:"budget"`         // as the configuration has it
	PerDay float64 `json:"requests_per_day,omitempty"`
	Used   int64   `json:"requests_today"`
	Bytes  int64   `json:"bytes_today"`
	Price  float64 `json:"price,omitempty"` // days of freshness that a visit must gain; 0: not known yet
	Even   float64 `json:"even_interval_seconds,omitempty"`
	First  float64 `json:"first_pass_seconds,omitempty"` // until the pages that were never visited have been
	New    int64   `json:"pages_never_visited,omitempty"`
	byByte bool
	closes bool // nothing of it is spent while the windows of all its sites are closed
}

// statusBudgets fills in the budgets: that of all sites, then those of single sites.
func (l *look) statusBudgets(ctx context.Context, s *status) error {
	c := &l.force.config
	var pages, unseen int64
	for _, site := range s.Sites {
		pages += site.Pages
		unseen += site.unseen()
	}
	if b := c.EffectiveBudget(); !b.IsZero() {
		if err := l.addBudget(ctx, s, "", 0, b, s.Today, pages, unseen); err != nil {
			return err
		}
	}
	for i, row := range l.force.rows {
		settings := c.Site(row.ID).Settings
		if b := c.SiteBudget(&settings); !b.IsZero() {
			if err := l.addBudget(ctx, s, cmp.Or(row.Name, row.URL), row.ID, b, s.Sites[i].Today, s.Sites[i].Pages, s.Sites[i].unseen()); err != nil {
				return err
			}
		}
	}
	return nil
}

// unseen is how many of its pages were never visited.
func (s siteStatus) unseen() int64 { return s.States[models.StateNew.String()] }

// addBudget adds the budget of a site, 0 for all, that pays for so many pages, of which so many were never visited.
func (l *look) addBudget(ctx context.Context, s *status, name string, site int32, b config.Budget, today statusDay, pages, unseen int64) error {
	price, err := scheduler.Price(ctx, l.store, site)
	if err != nil {
		return err
	}
	shown := statusBudget{Site: name, Budget: budgetWords(b), PerDay: b.Requests.Of(pages), Used: today.Visits + today.Robots,
		Bytes: today.Bytes, Price: price.Hours() / 24, Even: l.force.planner.Even(site).Seconds(), byByte: b.Bytes > 0, closes: l.closes(site)}
	if shown.PerDay > 0 && unseen > 0 && !b.Requests.PerPage { // by one for each page first visits come beside it
		shown.New, shown.First = unseen, float64(unseen)/shown.PerDay*(24*time.Hour).Seconds()
	}
	s.Budgets = append(s.Budgets, shown)
	return nil
}

// closes tells whether there are hours at which the budget of a site, 0 for all, pays for nothing, since all have windows.
func (l *look) closes(site int32) bool {
	c := &l.force.config
	if site != 0 {
		return len(c.Site(site).Settings.Windows) > 0
	}
	for _, row := range l.force.rows {
		if len(c.Site(row.ID).Settings.Windows) == 0 {
			return false
		}
	}
	return len(l.force.rows) > 0
}

// budgetsShown is how many budgets have a line on the screen.
const budgetsShown = 4

// budgetWords are the lines about budgets; what was put off stands on the first.
func (s status) budgetWords() []string {
	var lines []string
	for _, b := range s.Budgets[:min(len(s.Budgets), budgetsShown)] {
		lines = append(lines, b.words())
	}
	if more := len(s.Budgets) - budgetsShown; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %s more (--json has all)", report.Plural(more, "budget")))
	}
	if s.PutOff > 0 && len(lines) > 0 {
		lines[0] += "; " + report.Plural(s.PutOff, "page") + " put off"
	}
	return lines
}

func (b statusBudget) words() string {
	words := b.Budget
	if b.Site != "" {
		words = b.Site + ": " + words
	}
	switch perDay := int64(b.PerDay + 0.5); {
	case b.PerDay > 0 && b.Used > perDay:
		words += fmt.Sprintf(", %s used today, %s more than a day brings", report.Plural(b.Used, "request"), report.Count(b.Used-perDay))
		if b.closes {
			words += ": what comes in while its windows are closed is spent as one opens"
		}
	case b.PerDay > 0:
		words += fmt.Sprintf(", %s of %s used today", report.Count(b.Used), report.Plural(perDay, "request"))
	}
	if b.byByte {
		words += fmt.Sprintf(", %s received today", report.Bytes(b.Bytes))
	}
	if b.Even > 0 {
		words += fmt.Sprintf(", a page every %s on average", report.Span(time.Duration(min(b.Even, 1e9)*float64(time.Second))))
	}
	if took := b.First * float64(time.Second); took >= float64(24*time.Hour) { // a few new pages of a site that is known need no word
		words += fmt.Sprintf("; %s never visited yet, at least %s at that pace", report.Plural(b.New, "page"), report.Span(time.Duration(min(took, 1e18))))
	}
	if b.Price > 0 {
		words += fmt.Sprintf("; a visit must gain %s of freshness", report.Span(time.Duration(min(b.Price, 1e5)*24*float64(time.Hour))))
	}
	return words
}

// paysFirst is the budget that pays for the first visits to pages of a site, "" where none does: those come beside one for each page known.
func (l *look) paysFirst(site int32) string {
	settings := l.force.config.Site(site).Settings
	for _, b := range []config.Budget{l.force.config.SiteBudget(&settings), l.force.config.EffectiveBudget()} {
		if b.Requests.PerPage {
			b.Requests = config.Rate{}
		}
		if !b.IsZero() {
			return budgetWords(b)
		}
	}
	return ""
}
