package config

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

const adaptive, classic = "adaptive", "classic"

// Policies lists the names that Settings.Policy may have, in alphabetical order: adaptive, classic and fixed to work
// with, nutch, storm and uniform to compare them with.
func Policies() []string {
	return []string{adaptive, classic, "fixed", "nutch", "storm", "uniform"}
}

// ForComparison tells whether a policy is there to be compared with, not to be worked with: the rules of other crawlers,
// and round robin.
func ForComparison(policy string) bool {
	return slices.Contains([]string{"nutch", "storm", "uniform"}, policy)
}

// policyValue notes that a policy was named.
type policyValue struct {
	scalar[string]
	named *bool
}

func (v policyValue) read(r *reader, n ast.Node) {
	before := len(r.problems)
	v.scalar.read(r, n)
	*v.named = *v.named || len(r.problems) == before
}

// choosePolicy sets the policy where none is named, under that budget of all sites. A budget that does not pay for the visits that classic asks for
// is spent by it as they come, which is worse than to visit all pages in turn; adaptive spends it where it makes pages freshest.
func (s *Settings) choosePolicy(all Budget) {
	switch {
	case s.PolicyNamed:
	case all.IsZero() && s.Budget.IsZero():
		s.Policy = classic
	default:
		s.Policy = adaptive
	}
}

// choosePolicies does that for the defaults and all sites.
func (c *Config) choosePolicies() {
	c.Defaults.choosePolicy(c.Budget)
	for i := range c.Sites {
		c.Sites[i].Settings.choosePolicy(c.Budget)
	}
}
