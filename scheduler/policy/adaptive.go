package policy

import (
	"fmt"
	"math"
	"time"

	"recrawld/scheduler/changerate"
)

// Worth is what the adaptive policy looks at: what a visit of a page is worth, and what one costs.
type Worth struct {
	Forecast   changerate.Forecast
	Since      time.Duration // since the page's last record, at the forecast; 0 right after it
	Importance float64       // of the page; 0: 1
	Price      float64       // of a visit: page-days of freshness that it must be worth
	Floor      time.Duration // the shortest interval; not below a cycle
	Ceiling    time.Duration // the longest one, whatever the price; not below the floor
	Cycle      time.Duration // length of a cycle; 0 or less: a second
	PageID     int64
	Visits     int32 // of the page so far: its fr_max is rounded by another dice each time
}

// Interval is what the adaptive policy asks for.
type Interval struct {
	Every  time.Duration // from the last record to the next visit, within [Floor, Ceiling]
	FRMax  int           // the same in cycles, rounded up or down by chance so that its mean is right; ≥ 1
	Wanted float64       // the interval before floor and ceiling, in days; +Inf: never
}

// Adaptive asks for a visit when it is worth its price: J(t) = importance · U(t) = price, U the days of freshness that
// a visit after t buys (changerate.Gamma.Utility). With one price for all pages that is the best use of a budget
// (Olston & Pandey, WWW 2008; the square-root rule of Cho & Garcia-Molina for pages that change seldom).
//
// The interval never falls with the price and never grows with the importance. It is finite whatever comes in: a price
// of 0 or less gives the floor, one that no visit is worth or that is not a number the ceiling.
func Adaptive(w Worth) Interval {
	cycle := w.Cycle
	if cycle <= 0 {
		cycle = time.Second
	}
	floor := max(w.Floor, cycle)
	ceiling := max(w.Ceiling, floor)
	in := w.Forecast.DueIn(w.Price / importance(w.Importance))
	wanted := max(0, w.Since).Hours()/24 + in
	every := within(wanted, floor, ceiling)
	return Interval{Every: every, FRMax: cycles(every, ceiling, cycle, w.PageID, w.Visits), Wanted: wanted}
}

// importance is 1 for what is not a number above 0.
func importance(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return 1
	}
	return x
}

// within turns days into a duration that a Duration holds.
func within(days float64, floor, ceiling time.Duration) time.Duration {
	length := days * float64(24*time.Hour)
	switch {
	case !(length < float64(ceiling)):
		return ceiling
	case !(length > float64(floor)):
		return floor
	}
	return time.Duration(length)
}

// cycles is the interval in cycles: ⌊every/cycle + u⌋, at least 1 and at most the ceiling, where u in [0, 1) is drawn
// from the page and its visit. Its mean over the visits is the interval; plain rounding down would make short ones up
// to twice too short.
func cycles(every, ceiling, cycle time.Duration, page int64, visits int32) int {
	exact := float64(every) / float64(cycle)
	most := max(1, float64(ceiling/cycle))
	return int(min(max(1, math.Floor(exact+dice(page, visits))), most, math.MaxInt32))
}

// dice is a number in [0, 1), the same for the same page and visit (the mixing of SplitMix64).
func dice(page int64, visits int32) float64 {
	x := uint64(page)*0x9e3779b97f4a7c15 + uint64(uint32(visits))*0xd1342543de82ef95
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}

// String says what was asked for.
func (i Interval) String() string {
	return fmt.Sprintf("every %v, fr_max %d", i.Every.Round(time.Second), i.FRMax)
}
