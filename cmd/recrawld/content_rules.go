package main

import (
	"slices"

	"recrawld/archive"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
)

// contentRules compiles what settings say of content; nil: nothing.
func contentRules(s *config.Settings) (*content.Rules, error) {
	some := make([]content.Watching, len(s.WatchSome))
	for i, w := range s.WatchSome {
		pages, err := scope.CompileFilter(w.Filter)
		if err != nil {
			return nil, err
		}
		some[i] = content.Watching{Pages: pages, Watch: w.Selectors}
	}
	return content.Compile(s.Watch, s.Ignore, s.IgnoreText, some...)
}

// sought is in how many pages each selector of a site was looked for, those alone that none of them had.
type sought struct {
	selectors []string // that were looked for, in their order
	pages     map[string]int
	found     map[string]bool
}

// in counts what was looked for in a page by the rules of that.
func (s *sought) in(rules *content.Rules, view *content.View) {
	if s.pages == nil {
		s.pages, s.found = make(map[string]int), make(map[string]bool)
	}
	for _, selector := range rules.Selectors() {
		if s.pages[selector]++; s.pages[selector] == 1 {
			s.selectors = append(s.selectors, selector)
		}
		s.found[selector] = s.found[selector] || !slices.Contains(view.Unmatched, selector)
	}
}

// inVain are the selectors that none of the pages had.
func (s *sought) inVain() []string {
	var selectors []string
	for _, selector := range s.selectors {
		if !s.found[selector] {
			selectors = append(selectors, selector)
		}
	}
	return selectors
}

// unmatched looks for the site's selectors in a page and keeps those that matched in no page yet.
func (v *surveyor) unmatched(raw string, out models.Outcome) {
	u, err := canon.Parse(raw)
	rules, bad := contentRules(&v.site.Settings)
	if err != nil || bad != nil || rules == nil || len(out.Body) == 0 {
		return
	}
	view := content.Read(out.Body, archive.Field(out.Header, "Content-Type"), u, rules)
	if view.Kind != content.HTML {
		return
	}
	v.found.looked++
	v.selectors.in(rules.Of(u), view)
	v.found.Unmatched = v.selectors.inVain()
}
