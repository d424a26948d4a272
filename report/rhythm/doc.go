// Package rhythm tells at what hours of the week pages change, from visits that see a change only somewhere between two of
// them. It is pure.
//
// # What a look tells
//
// A look is the time L between two visits that saw a page's content, after which it was changed or not. Where changes come at
// a rate λ at any hour alike, a look expects e = λL of them, spread evenly over its hours. If it was unchanged there were none.
// If it was changed there was one at least, and there were
//
//	n = λL/(1 − e^(−λL))
//
// on average (the mean of a Poisson count that is not 0), spread likewise, as the changes of a Poisson process between two moments are. A
// change with a date is one change, at its moment; it was the last one, so what is expected is λ times the time since then, and of the
// time before it nothing is known.
//
// λ is that of the page: the one that makes all of its looks most likely, at which Σn = Σe. One rate for all pages would not do. With n
// and e of another rate than its own a page that is looked at often by night and once over the day seems to change by night if its
// rate is the higher one, and by day if it is the lower one. What no look found changed has λ = 0 and says nothing; a page that was
// changed at more than four of five looks is left out, as noise or faster than it is looked at; so are, for all but λ, looks of more
// than a week, which say nothing of its hours.
//
// Each hour of the week has what came in it, Σn, and what was expected, Σe. The one over the other is how many times as often as at any
// hour alike pages change in it; that when they are looked at is not even cancels out.
//
// # Whether there is a rhythm
//
// Were the rate λ(1 + a·cos ωt + b·sin ωt), the derivative of the logarithm of the likelihood by a and b at 0 would be the sum over all
// looks of n·φ − e·φ', with φ and φ' the means of (cos ωt, sin ωt) over the hours of each: the score, whose mean is 0 where there is no
// rhythm. The scores of blocks of three days (ω one turn a day) or of seven (one turn a week) are vectors that are independent of each other,
// as pages that change together do it in one block. That their mean is 0 is tested by Hotelling's test of second order (E.
// Batschelet, Circular Statistics in Biology, 1981, chapter 7; as in J. H. Zar, Biostatistical Analysis, 1999, chapter 27): see P. Two
// questions are asked, so each probability is doubled (Bonferroni), and one of less than MostP is a rhythm.
//
// All of that takes it for granted that a look ends whether the page changed or not. Visits that follow what a list tells do not; their ends
// have the hour at which it was read, which no two blocks have in common as long as that varies. Where a list is read at one hour of the day alone, the
// hours before it look busy.
//
// A block counts as no more than three times as many changes as the median one, so that one sweep over all pages is no rhythm and hides
// none. Only what has one turn a day, or a week, is looked for: changes at noon and at midnight cancel out.
//
// # When it is
//
// Of all spans of whole hours, of all days or some, the one is taken that makes the looks most likely where pages change u times as often
// as at any hour alike within and v times outside, by expectation maximisation (Dempster, Laird & Rubin, JRSS B 39, 1977): n is split
// between within and outside by what is expected of both, and u and v are what came over what was expected. So u/v is not blurred by the
// length of the looks, which the hours themselves are.
package rhythm
