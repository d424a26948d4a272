package policy

import (
	"math"
	"time"

	"recrawld/scheduler/changerate"
)

// AdaptiveName is the name of the policy Adaptive.
const AdaptiveName = "adaptive"

// Outlook is what the adaptive policy looks at.
type Outlook struct {
	Forecast changerate.Forecast
	DueIn    float64 // days from now until a visit is worth its price; see changerate.DueIn
	Price    float64 // what a visit to this page must be worth, in days of freshness: the price by the page's importance
	Chance   float64 // in [0, 1), of this page and visit: rounds the interval to cycles
}

// Adaptive visits a page when a visit is worth its price: when the utility of its forecast (Olston & Pandey 2008; see
// changerate.Gamma.Utility) reaches it, but no sooner than a cycle and no later than the ceiling. FRMax is that interval
// in cycles, rounded up or down by chance so that it is right on average.
func Adaptive(in Input) Choice {
	c := in.choice(scale(24*time.Hour, in.Outlook.DueIn))
	c.FRMax = Cycles(c.Every, in.Cycle, in.Ceiling, in.Outlook.Chance)
	return c
}

// Cycles is an interval in cycles within [1, ceiling]: rounded up with the probability of what is left over, which u in
// [0, 1) decides, so that the mean of the result over u is every/cycle.
func Cycles(every, cycle time.Duration, ceiling int, u float64) int {
	n := float64(every)/float64(max(cycle, 1)) + u
	return clamp(int(min(math.Floor(n), float64(math.MaxInt32))), ceiling)
}
