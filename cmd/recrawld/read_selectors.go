package main

import (
	"fmt"
	"slices"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
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
	answer, err := l.answer(v)
	if err != nil {
		return nil
	}
	view := content.Read(answer.Body, headerField(answer.Header, "Content-Type"), u, rules)
	return unmatchedWords(site.Settings, view, fmt.Sprintf("in version %d", v.Number))
}

// unmatchedWords is a sentence for each selector that matches nothing in a page.
func unmatchedWords(s config.Settings, view *content.View, where string) []string {
	if view.Kind != content.HTML {
		return nil
	}
	var words []string
	for _, selector := range view.Unmatched {
		key := "ignore"
		if slices.Contains(s.Watch, selector) {
			key = "watch"
		}
		words = append(words, fmt.Sprintf("%s: %q matches nothing %s", key, selector, where))
	}
	return words
}
