package main

import (
	"context"
	"fmt"
	"slices"

	"recrawld/archive"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/report"
)

// newestWords says what the newest version was weighed to be, where that is of use: where a page changes that does not
// count, or did last.
func (w why) newestWords(l *look) string {
	v := w.newest
	if v.Number < 2 || v.Reasons == 0 && v.Significance == 0 {
		return ""
	}
	return fmt.Sprintf("version %d, %s: %s; it counts from %.2f on", v.Number, l.ago(v.At), weighedWords(v), w.ruling.settings.Significance)
}

// unmatchedIn says which selectors of a site's settings match nothing in a version. A version that cannot be read says
// nothing: that is the business of show and diff.
func (l *look) unmatchedIn(v models.Version, p models.Page, u canon.URL) []string {
	site, _, rules := l.force.visited(p.SiteID)
	if rules == nil {
		return nil
	}
	answer, err := l.answer(v.Record)
	if err != nil {
		return nil
	}
	view := content.Read(answer.Body, archive.Field(answer.Header, "Content-Type"), u, rules)
	return unmatchedWords(site.Settings, view, fmt.Sprintf("in version %d", v.Number))
}

// unmatchedWords is a sentence for each selector that matches nothing in a page.
func unmatchedWords(s config.Settings, view *content.View, where string) []string {
	if view.Kind != content.HTML {
		return nil
	}
	var words []string
	for _, selector := range view.Unmatched {
		words = append(words, fmt.Sprintf("%s: %q matches nothing %s", selectorKey(s, selector), selector, where))
	}
	return words
}

// selectorPages is in how many pages of a site its selectors are looked for, those for some pages in as many of them, if there are such among
// the first selectorRows.
const selectorPages, selectorRows = 20, 10_000

// unmatchedSelectors looks for the selectors of a configuration in what its data directory holds of each site, and names
// those that none of the pages has. Where there is no data yet, or it cannot be read, there is nothing to say: add looks at
// the site itself.
func (g *globals) unmatchedSelectors(ctx context.Context, c config.Config, origins config.Origins) []string {
	if g.Data != "" {
		c.SetData(g.Data)
	}
	store, err := g.openStore(ctx, &c)
	if err != nil {
		return nil
	}
	defer store.Close()
	rows, err := store.Sites(ctx)
	if err != nil {
		return nil
	}
	force, err := putTogether(c, origins, rows)
	if err != nil {
		return nil
	}
	l := &look{globals: g, store: store, force: force}
	var notes []string
	for _, site := range force.config.Sites {
		if site.ID != 0 && len(site.Settings.Watch)+len(site.Settings.WatchSome)+len(site.Settings.Ignore) > 0 {
			notes = append(notes, l.unmatchedOf(ctx, site)...)
		}
	}
	return notes
}

// unmatchedOf names the selectors of a site that none of its pages has, of those that are looked at.
func (l *look) unmatchedOf(ctx context.Context, site config.Site) []string {
	_, _, rules := l.force.visited(site.ID)
	var selectors sought
	looked := make(map[*content.Rules]int) // pages of each
	passed := 0
	for p, err := range l.store.Summaries(ctx, site.ID) {
		if passed++; err != nil || passed > selectorRows {
			break
		}
		u, err := canon.Parse(p.URL)
		if err != nil || looked[rules.Of(u)] == selectorPages {
			continue
		}
		view, ok := l.newestView(ctx, p.URL, rules)
		if !ok || view.Kind != content.HTML {
			continue
		}
		looked[rules.Of(u)]++
		selectors.in(rules.Of(u), view)
	}
	var notes []string
	for _, selector := range selectors.inVain() {
		notes = append(notes, fmt.Sprintf("site %s: %s: %q matches nothing in the %s that were looked at", site.Name,
			selectorKey(site.Settings, selector), selector, report.Plural(selectors.pages[selector], "page")))
	}
	return notes
}

// newestView is the newest version of a page as the rules have it.
func (l *look) newestView(ctx context.Context, url string, rules *content.Rules) (*content.View, bool) {
	page, u, err := l.page(ctx, url)
	if err != nil || page.Version == 0 {
		return nil, false
	}
	version, err := l.store.Version(ctx, page.Bucket, page.ID, page.Version)
	if err != nil {
		return nil, false
	}
	answer, err := l.answer(version.Record)
	if err != nil {
		return nil, false
	}
	return content.Read(answer.Body, archive.Field(answer.Header, "Content-Type"), u, rules), true
}

// selectorKey is the setting that a selector stands in.
func selectorKey(s config.Settings, selector string) string {
	if slices.Contains(s.Watch, selector) || slices.ContainsFunc(s.WatchSome, func(w config.Watched) bool { return slices.Contains(w.Selectors, selector) }) {
		return "watch"
	}
	return "ignore"
}
