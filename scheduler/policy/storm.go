package policy

import "time"

// The constants of Apache StormCrawler's AdaptiveScheduler.
const (
	stormGrow   = 1.5 // scheduler.adaptive.fetchInterval.rate.incr 0.5
	stormShrink = 0.5 // scheduler.adaptive.fetchInterval.rate.decr 0.5
	stormMin    = time.Hour
	stormMax    = 14 * 24 * time.Hour
	stormStart  = 24 * time.Hour
)

// Storm is the rule of Apache StormCrawler's AdaptiveScheduler: the interval grows by half of itself after a visit that
// saw no change and moves half of the way to an hour after one that did, between an hour and 14 days, from one day on.
// For comparison: it drifts to the interval at which 37 % of the visits see a change, whatever the budget.
func Storm(in Input) Choice {
	every := stormStart
	if in.Stats.Records > 1 {
		every = first(in, stormStart)
		if changed(in) {
			every = scale(every, 1-stormShrink) + scale(stormMin, stormShrink)
		} else {
			every = scale(every, stormGrow)
		}
	}
	return in.choice(min(max(every, stormMin), stormMax))
}
