// Package slo is the arithmetic of "how many visits does it take to see 95 % of the changes within six hours", and of
// its inverse. It is pure.
//
// # What a schedule gives
//
// A page with λ changes a day is visited f times a day, 1/f days apart but for a variation of up to v/2 of that either
// way. A change is seen within T days if a visit follows within T. Changes know nothing of visits, so of those of one
// page the share seen in time is
//
//	h(f) = E min(fT, u),  u uniform in [1 − v/2, 1 + v/2];  min(fT, 1) where v = 0
//
// and of all changes S = Σ λh(f)/Σ λ over the pages. A change that another one overwrites before the visit counts as
// seen by that visit. "p95 delay 6h" says the same as "95% of changes seen within 6h". h is linear in λ, so where λ is
// only estimated its expectation is all that counts.
//
// The share of pages that are fresh is the mean of F(f) = (1 − e^(−λ/f))·f/λ (Cho & Garcia-Molina, ACM TODS 28(4),
// 2003). F is convex in λ, so an estimate of λ in the place of its distribution promises too little, not too much.
//
// Where visits are only allowed in windows they are taken to be spread evenly over the open time, an ω-th of the week:
// with o(t) the open time in [t, t+T], h(f) = E_t E_u min(f·o(t)/ω, u); and a copy is younger than a at t with the same
// probability, with o(t) the open time in [t−a, t], so F = ∫ λe^(−λa)·P(younger than a) da. A visit that waited for a
// window takes place anywhere in it, which adds to v for goals of days. For goals shorter than a window it is a bound:
// a page that is visited several times in a window begins anywhere in it, too.
//
// # The cheapest schedule
//
// Each page is visited at least once in the longest interval and at most once in the shortest, and the pages of one host
// together no more often than its politeness allows. h and F are concave in f, so the fewest visits for a goal are found
// by one price of a visit: each page is visited so often that one visit a day more would bring it less than the price;
// on a host that is saturated the price is higher, as high as it takes (the Karush-Kuhn-Tucker conditions; for F these
// are Cho & Garcia-Molina's). For changes seen with v = 0 that means: the pages that change most every T, as many as it
// takes, and the others as seldom as they may be. The even schedule, all pages equally often, stands beside it: it needs
// to know no rates.
//
// Curves are kept at a few hundred frequencies and taken to be straight between them; they are concave, so what is
// promised is never more than the formulas say, and less by at most some parts in ten thousand.
package slo
