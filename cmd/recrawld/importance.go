package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"recrawld/config"
	"recrawld/importance"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/scope"
)

// siteWorth is what the operator holds the pages of a site to be worth, ready to decide. It does not change and is safe
// for concurrent use.
type siteWorth struct {
	weight float64
	links  bool
	rules  []worthRule
}

type worthRule struct {
	filter *scope.Matcher
	weight float64
}

func compileWorth(i config.Importance) (*siteWorth, error) {
	w := &siteWorth{weight: cmp.Or(i.Weight, 1), links: i.Links}
	for _, rule := range i.Rules {
		filter, err := scope.CompileFilter(rule.Filter)
		if err != nil {
			return nil, fmt.Errorf("rule of importance: %w", err)
		}
		w.rules = append(w.rules, worthRule{filter, rule.Weight})
	}
	return w, nil
}

// plain tells whether all pages of the site are worth as much as any other.
func (w *siteWorth) plain() bool { return w.weight == 1 && !w.links && len(w.rules) == 0 }

// of is the importance of a page, given what its links make of it.
func (w *siteWorth) of(url string, links float64) float32 {
	return importance.Of(w.weight, w.rule(url), links)
}

// rule is the weight of the first rule that keeps a URL, 1 where none does.
func (w *siteWorth) rule(url string) float64 {
	if len(w.rules) == 0 {
		return 1
	}
	u, err := canon.Parse(url)
	if err != nil {
		return 1
	}
	for _, rule := range w.rules {
		if rule.filter.Keeps(u) {
			return rule.weight
		}
	}
	return 1
}

// compileWorths prepares the importance of all sites.
func (f *inForce) compileWorths() error {
	others, err := compileWorth(f.config.Defaults.Importance)
	if err != nil {
		return err
	}
	f.worths = map[int32]*siteWorth{0: others}
	for _, row := range f.rows {
		if f.worths[row.ID], err = compileWorth(f.config.Site(row.ID).Settings.Importance); err != nil {
			return fmt.Errorf("site %s: %w", row.Name, err)
		}
	}
	return nil
}

// worth is how the pages of a site are weighed.
func (f *inForce) worth(site int32) *siteWorth {
	if w := f.worths[site]; w != nil {
		return w
	}
	return f.worths[0]
}

// weigh gives pages that are about to be added the importance that their URLs have. What links make of it follows when
// there are any.
func (f *inForce) weigh(found []models.Discovery) {
	for i := range found {
		p := &found[i].Page
		if w := f.worth(p.SiteID); p.Importance == 0 && !w.plain() {
			p.Importance = w.of(p.URL, 1)
		}
	}
}

// weigh is that of the configuration in force.
func (d *daemon) weigh(found []models.Discovery) { d.force.Load().weigh(found) }

// weighingStore is the worker's store. It weighs the pages that visits find on their way into the database.
type weighingStore struct {
	*models.Store
	weigh func([]models.Discovery)
}

// Commit implements scheduler.Store.
func (s weighingStore) Commit(ctx context.Context, now time.Time, results []models.Result) ([]error, error) {
	for i := range results {
		s.weigh(results[i].Discovered)
	}
	return s.Store.Commit(ctx, now, results)
}
