package policy

import (
	"math"
	"time"
)

// Uniform visits all pages alike, as often as the budget allows: round robin. Where there is no budget it keeps the
// interval a page starts with, as Fixed does. For comparison: what a policy is worth is what it wins over this one.
func Uniform(in Input) Choice {
	if in.Even <= 0 {
		return Fixed(in)
	}
	return in.choice(in.Even)
}

// choice bounds an interval to [1, Ceiling] cycles.
func (in Input) choice(every time.Duration) Choice {
	cycle := max(in.Cycle, 1)
	ceiling := max(in.Ceiling, 1)
	if longest := times(cycle, ceiling); every >= longest {
		return Choice{FRMax: ceiling, Every: longest}
	}
	every = max(every, cycle)
	return Choice{FRMax: clamp(int((every+cycle/2)/cycle), ceiling), Every: every}
}

// first is the interval that the policy asked for last, or else that at which the budget visits all pages alike, or else
// start.
func first(in Input, start time.Duration) time.Duration {
	switch {
	case in.Every > 0 && in.Stats.Records > 1:
		return in.Every
	case in.Even > 0:
		return in.Even
	}
	return start
}

// changed tells whether the last record differs from the one before.
func changed(in Input) bool { return in.Stats.Records > 1 && in.Stats.Bits&1 == 1 }

// times is n cycles, n ≥ 1; past the range of time.Duration its largest value.
func times(cycle time.Duration, n int) time.Duration {
	if cycle > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}
	return cycle * time.Duration(n)
}

// scale multiplies an interval; a product past the range of time.Duration is its largest value.
func scale(d time.Duration, by float64) time.Duration {
	const limit = float64(1<<63 - 1)
	if product := float64(d) * by; product < limit {
		return time.Duration(product)
	}
	return 1<<63 - 1
}
