package content

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/andybalholm/cascadia"
)

// Rules are what a person said of a site's content. nil: nothing. They are safe for concurrent use.
type Rules struct {
	watch, ignore []selector
	ignoreText    []*regexp.Regexp
}

type selector struct {
	text    string
	matches cascadia.Matcher
	counts  bool // it looks at the siblings of an element
}

// selects tells whether there are selectors.
func (r *Rules) selects() bool { return r != nil && len(r.watch)+len(r.ignore) > 0 }

// Compile reads CSS selectors of what alone is content (watch) and of what never is (ignore), and patterns (RE2) of text
// that is taken out before Views are compared. Without any of them it returns nil. A selector that looks at the siblings of
// an element (:nth-child, ~) matches none of more than 4,000 in one parent.
func Compile(watch, ignore, ignoreText []string) (*Rules, error) {
	if len(watch)+len(ignore)+len(ignoreText) == 0 {
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
