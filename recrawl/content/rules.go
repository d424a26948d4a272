package content

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"

	"recrawld/recrawl/canon"
)

// Rules are what a person said of a site's content. nil: nothing. They are safe for concurrent use.
type Rules struct {
	watch, ignore []selector
	ignoreText    []*regexp.Regexp
	some          []ruled // the rules of some pages, in place of these
}

type ruled struct {
	pages Pages
	rules *Rules
}

// Pages are some of the pages of a site.
type Pages interface{ Keeps(u canon.URL) bool }

// Watching is what alone is content of some pages.
type Watching struct {
	Pages Pages
	Watch []string // CSS selectors; none: it is found out
}

// Of is the rules of a page, with no others for some pages.
func (r *Rules) Of(u canon.URL) *Rules {
	if r == nil {
		return nil
	}
	for _, s := range r.some {
		if s.pages.Keeps(u) {
			return s.rules
		}
	}
	return r
}

// Selectors are those that are looked for in a page whose rules these are.
func (r *Rules) Selectors() []string {
	if r == nil {
		return nil
	}
	var texts []string
	for _, s := range slices.Concat(r.watch, r.ignore) {
		texts = append(texts, s.text)
	}
	return texts
}

type selector struct {
	text    string
	matches cascadia.Matcher
	counts  bool // it looks at the siblings of an element
}

// selects tells whether there are selectors.
func (r *Rules) selects() bool { return r != nil && len(r.watch)+len(r.ignore) > 0 }

// Compile reads CSS selectors of what alone is content (watch) and of what never is (ignore), and patterns (RE2) of text
// that is taken out before Views are compared. Of some pages, by the first that has one among them, another watch holds in place of
// that. Without any of them it returns nil. A selector that looks at the siblings of an element (:nth-child, ~) matches none of more
// than 4,000 in one parent.
func Compile(watch, ignore, ignoreText []string, some ...Watching) (*Rules, error) {
	if len(watch)+len(ignore)+len(ignoreText)+len(some) == 0 {
		return nil, nil
	}
	r := &Rules{}
	var err error
	if r.watch, err = selectors(watch); err != nil {
		return nil, fmt.Errorf("compile watch: %w", err)
	}
	if r.ignore, err = selectors(ignore); err != nil {
		return nil, fmt.Errorf("compile ignore: %w", err)
	}
	for _, pattern := range ignoreText {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("compile ignore_text: %w", err)
		}
		r.ignoreText = append(r.ignoreText, re)
	}
	for _, w := range some {
		others := &Rules{ignore: r.ignore, ignoreText: r.ignoreText}
		if others.watch, err = selectors(w.Watch); err != nil {
			return nil, fmt.Errorf("compile watch: %w", err)
		}
		r.some = append(r.some, ruled{w.Pages, others})
	}
	return r, nil
}

// countsSiblings tells whether a selector looks at all the siblings of an element.
func countsSiblings(text string) bool {
	text = strings.ToLower(text)
	for _, part := range []string{":nth-", ":last-", ":only-", ":first-of-"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return strings.Count(text, "~") > strings.Count(text, "~=")
}

func selectors(texts []string) ([]selector, error) {
	var all []selector
	for _, text := range texts {
		group, err := cascadia.ParseGroup(text)
		if err != nil {
			return nil, fmt.Errorf("selector %q: %w", text, err)
		}
		all = append(all, selector{text, group, countsSiblings(text)})
	}
	return all, nil
}
