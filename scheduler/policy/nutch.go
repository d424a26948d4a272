package policy

import "time"

// The constants of Apache Nutch's AdaptiveFetchSchedule as nutch-default.xml ships them.
const (
	nutchGrow   = 1.4 // db.fetch.schedule.adaptive.inc_rate 0.4
	nutchShrink = 0.8 // db.fetch.schedule.adaptive.dec_rate 0.2
	nutchMin    = time.Minute
	nutchMax    = 365 * 24 * time.Hour
	nutchStart  = 30 * 24 * time.Hour // db.fetch.interval.default
)

// Nutch is the rule of Apache Nutch's AdaptiveFetchSchedule, without its sync_delta: the interval grows by 0.4 of itself
// after a visit that saw no change and shrinks by 0.2 of itself after one that did, between a minute and a year. It
// begins at the interval that visits all pages alike, or at 30 days where there is no budget to say that. For
// comparison: it drifts to the interval at which 60 % of the visits see a change, whatever the budget.
func Nutch(in Input) Choice {
	every := first(in, nutchStart)
	if in.Stats.Records > 1 {
		if changed(in) {
			every = scale(every, nutchShrink)
		} else {
			every = scale(every, nutchGrow)
		}
	}
	return in.choice(min(max(every, nutchMin), nutchMax))
}
