package config

import "slices"

const adaptive = "adaptive"

// Policies lists the names that Settings.Policy may have, in alphabetical order: adaptive, classic and fixed to work
// with, nutch, storm and uniform to compare them with.
func Policies() []string {
	return []string{adaptive, "classic", "fixed", "nutch", "storm", "uniform"}
}

// ForComparison tells whether a policy is there to be compared with, not to be worked with: the rules of other crawlers,
// and round robin.
func ForComparison(policy string) bool {
	return slices.Contains([]string{"nutch", "storm", "uniform"}, policy)
}
