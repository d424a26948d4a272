package scope

import (
	"fmt"

	"recrawld/config"
	"recrawld/recrawl/canon"
)

// Matcher is a filter alone, apart from the scope and the limits of a site. It does not change and is safe for
// concurrent use.
type Matcher struct{ rule *rule }

// CompileFilter prepares a filter. It is an error if one of its patterns does not compile, which config has checked for
// what it has loaded.
func CompileFilter(f config.Filter) (*Matcher, error) {
	r, err := compile(f, false)
	if err != nil {
		return nil, fmt.Errorf("compile filter: %w", err)
	}
	return &Matcher{r}, nil
}

// Keeps tells whether the filter keeps a URL. The zero Filter keeps all.
func (m *Matcher) Keeps(u canon.URL) bool {
	keep, _ := m.rule.decide(u)
	return keep
}
