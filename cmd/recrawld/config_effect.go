package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
	"recrawld/report"
)

// scopeEffect is what another configuration makes of the pages of a site that are known.
type scopeEffect struct {
	site          string
	before, after int64  // pages that its scope and filter keep
	leave, join   int64  // pages that they keep no more, or from now on
	elsewhere     int64  // of those that leave: pages that another site keeps
	example       string // of those that leave, or else that join
}

// configEffect is what another configuration does to what is known.
type configEffect struct {
	pages  int64
	turns  *[2]float64   // a day at the intervals of the pages that wait, before and after; nil: nothing that they follow has changed
	scopes []scopeEffect // of sites with pages that leave or join
	left   []leftSite    // that the new file has no more
}

// leftSite is a site with so many pages that stays although it is not in the file any more.
type leftSite struct {
	name  string
	pages int64
}

// effectOf passes over all pages of the database of the new configuration, nil where there is none yet.
func (g *globals) effectOf(ctx context.Context, old, changed *config.Config) (effect *configEffect, err error) {
	store, err := g.openStore(ctx, changed)
	if exitCode(err) == exitNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	rows, err := store.Sites(ctx)
	if err != nil {
		return nil, err
	}
	before, err := putTogether(*old, config.DefaultOrigins(), rowsUnder(old, rows))
	if err != nil {
		return nil, err
	}
	after, err := putTogether(*changed, config.DefaultOrigins(), rowsUnder(changed, rows))
	if err != nil {
		return nil, err
	}
	e := &effecting{before: before, after: after, now: clock.System{}.Now(), bySite: make(map[int32]*scopeEffect), known: make(map[int32]int64),
		paced: len(pacingsOf(after).changedSince(pacingsOf(before))) > 0}
	if err := count(ctx, store, before, after); err != nil {
		return nil, err
	}
	if err := store.EachPage(ctx, func(p *models.Page) error { e.page(p); return nil }); err != nil {
		return nil, err
	}
	effect = e.effect(rows)
	for _, row := range leftFile(inFile(old, rows), inFile(changed, rows)) {
		effect.left = append(effect.left, leftSite{row.Name, e.known[row.ID]})
	}
	return effect, nil
}

// inFile are the sites of the database, those alone from the file that a configuration has.
func inFile(c *config.Config, rows []models.Site) []models.Site {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].FromFile = false
	}
	return rowsUnder(c, rows)
}

// rowsUnder are the sites of the database as they are once the daemon has read a configuration.
func rowsUnder(c *config.Config, rows []models.Site) []models.Site {
	var file []models.Site
	for _, site := range c.Sites {
		url := site.URL
		if u, err := canon.Parse(url); err == nil {
			url = u.String()
		}
		file = append(file, models.Site{Name: site.Name, URL: url})
	}
	rows = slices.Clone(rows)
	names := models.Renamed(rows, file)
	for i := range rows {
		if name, renamed := names[rows[i].ID]; renamed {
			rows[i].Name = name
		}
		listed := slices.ContainsFunc(file, func(s models.Site) bool { return s.Name == rows[i].Name })
		rows[i].FromFile = rows[i].FromFile || listed
	}
	return rows
}

// effecting is a configEffect under way.
type effecting struct {
	before, after *inForce
	now           time.Time
	pages         int64
	paced         bool // something that due times follow has changed
	turns         [2]float64
	bySite        map[int32]*scopeEffect
	known         map[int32]int64 // pages, by site
}

func (e *effecting) page(p *models.Page) {
	e.pages++
	e.known[p.SiteID]++
	if e.paced {
		for i, f := range []*inForce{e.before, e.after} {
			if every, waits := f.planner.Every(p, e.now); waits {
				e.turns[i] += 24 / every.Hours()
			}
		}
	}
	u, err := canon.Parse(p.URL)
	if err != nil {
		return
	}
	s := e.bySite[p.SiteID]
	if s == nil {
		s = &scopeEffect{}
		e.bySite[p.SiteID] = s
	}
	was, is := keptBy(e.before, p.SiteID, u, p), keptBy(e.after, p.SiteID, u, p)
	if was {
		s.before++
	}
	if is {
		s.after++
	}
	switch {
	case was && !is:
		if s.leave++; s.leave == 1 {
			s.example = p.URL
		}
		for id := range e.after.sites {
			if id != p.SiteID && keptBy(e.after, id, u, p) {
				s.elsewhere++
				break
			}
		}
	case is && !was:
		if s.join++; s.join == 1 && s.leave == 0 {
			s.example = p.URL
		}
	}
}

// keptBy tells whether a site keeps a page. One that is not configured keeps what it has.
func keptBy(f *inForce, site int32, u canon.URL, p *models.Page) bool {
	s, known := f.sites[site]
	return !known || s.scope == nil || s.scope.DecideKnown(u, recrawl.KnownAs(p)).Keep
}

func (e *effecting) effect(rows []models.Site) *configEffect {
	effect := &configEffect{pages: e.pages}
	if e.paced {
		effect.turns = &e.turns
	}
	for _, row := range rows {
		if s := e.bySite[row.ID]; s != nil && s.leave+s.join > 0 {
			s.site = row.Name
			effect.scopes = append(effect.scopes, *s)
		}
	}
	return effect
}

// rows are what the effect adds to the table of changes.
func (e *configEffect) rows(old, changed *config.Config) []report.Row {
	var rows []report.Row
	add := func(site, key, was, is string) {
		rows = append(rows, report.Row{report.TextCell(site), report.TextCell(key), report.TextCell(was), report.TextCell(is)})
	}
	if was, is := old.EffectiveBudget().Requests, changed.EffectiveBudget().Requests; was != is {
		add("", "visits a day that the budget pays for", paidFor(was, e.pages), paidFor(is, e.pages))
	}
	if e.turns != nil {
		add("", "turns a day of the pages that wait", report.Count(int64(math.Round(e.turns[0]))), report.Count(int64(math.Round(e.turns[1]))))
	}
	for _, s := range e.scopes {
		add(s.site, "pages in scope", report.Count(s.before), report.Count(s.after))
	}
	return rows
}

// effectShown is how many sites are told of in words; each has its row in the table.
const effectShown = 10

// notes say it for a person, of the sites that lose most.
func (e *configEffect) notes() []string {
	var notes []string
	most := slices.SortedStableFunc(slices.Values(e.scopes), func(a, b scopeEffect) int { return cmp.Compare(b.leave, a.leave) })
	for _, s := range most[:min(len(most), effectShown)] {
		words := fmt.Sprintf("%s: of %s that its scope keeps %s go out of it", s.site, report.Plural(s.before, "page"), report.Count(s.leave))
		if s.elsewhere > 0 {
			words += fmt.Sprintf(" (another site keeps %s of them)", report.Count(s.elsewhere))
		}
		if s.join > 0 {
			words += fmt.Sprintf(", and %s come into it", report.Count(s.join))
		}
		notes = append(notes, words+", such as "+s.example)
	}
	if rest := most[len(notes):]; len(rest) > 0 {
		var leave, join int64
		for _, s := range rest {
			leave, join = leave+s.leave, join+s.join
		}
		notes = append(notes, fmt.Sprintf("%s more: %s out of scope, %s into it",
			report.Plural(len(rest), "site"), report.Plural(leave, "page"), report.Count(join)))
	}
	for _, s := range e.left[:min(len(e.left), effectShown)] {
		notes = append(notes, fmt.Sprintf("%s: leaves the file and stays, with %s that are visited under the defaults, until recrawld remove %[1]s",
			s.name, report.Plural(s.pages, "page")))
	}
	return notes
}

// paidFor is a budget for so many pages.
func paidFor(r config.Rate, pages int64) string {
	switch {
	case r.PerDay == 0:
		return "no bound"
	case r.PerPage:
		return report.Count(int64(math.Round(r.PerDay * float64(pages))))
	}
	return report.Count(int64(math.Round(r.PerDay)))
}
