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
// Their intervals are of 95 %.
//
// # Forecasts
//
// A page is visited too seldom to be known by its own visits alone. What a visit will find is forecast from all that is
// known at the time (Look), and each visit teaches (Learn):
//
//	Gamma     the posterior of one page's rate, and what a visit after some days is worth by it
//	Names     the groups of pages that a URL belongs to
//	Crowd     of one host: which of its groups change more than expected of late (heat), and when they did (calendar)
//	Weights   of all hosts: how much each feature of a page says of its rate
//	Subject   a page, with the evidence of its own visits
//	Forecast  the rate to come, and how much of it has passed since the last visit
//
// The rate of a page at the time u is λ(u) = θ·exp(D(u)). θ is gamma-distributed; the logarithm of its mean is linear
// in the lasting features, and the page's own visits update it. D is linear in the other features: news of the page's
// neighbours, its age, its last change. The days since the last visit count exp(D) each, those to come another exp(D);
// so a page whose folder was swept over has aged by many days, though it will change as seldom as before.
//
// Prior and posterior are apart: a page keeps only its Evidence, what its visits add to the prior, so that a prior
// that has learned better since holds for all pages at once.
package changerate
