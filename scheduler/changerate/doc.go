// Package changerate estimates how often a page changes from visits that only tell whether it changed since the last
// one, and says what a visit interval is worth. Everything is a pure function of its arguments.
//
// # Model
//
// A page changes by a Poisson process of rate λ per day (Cho & Garcia-Molina, "Estimating Frequency of Change", ACM
// TOIT 3(3), 2003). A visit compares the page with its last copy: over a gap of I days it differs with the probability
// 1 − e^{−λI}, however many changes lie between. Symbols:
//
//	λ  changes per day          n  comparisons, that is visits after the first
//	I  gap between two visits   X  comparisons that found a change, 0 ≤ X ≤ n
//
// # Estimators
//
//	Regular    equal gaps: the bias-reduced estimator of that paper, with the Wilson score interval
//	Irregular  unequal gaps: its maximum-likelihood equation, bias-reduced alike, with the likelihood-ratio interval
//	Pool       many pages at once in bounded memory: the same equation, with an interval that allows for pages that
//	           differ from each other
//
// All intervals are of 95 %.
package changerate
