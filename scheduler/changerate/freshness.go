package changerate

import (
	"math"
	"time"
)

// Freshness is the share of time, in [0, 1], that the copy of a page which changes perDay times a day and is visited
// every `every` equals the page: F = (1 − e^{−λI})/(λI) (Cho & Garcia-Molina, ACM TODS 28(4), 2003). It is 1 for a page
// that never changes or is visited without a pause, and 0 for one that always changes.
func Freshness(perDay float64, every time.Duration) float64 {
	x := product(perDay, every)
	if x == 0 {
		return 1
	}
	return -math.Expm1(-x) / x
}

// Age is for how long, on average over time, the copy of such a page has been out of date (0 while it is fresh):
// A = I·(1/2 − 1/(λI) + (1 − e^{−λI})/(λI)²) (Cho & Garcia-Molina, ACM TODS 28(4), 2003), between 0 and every/2.
func Age(perDay float64, every time.Duration) time.Duration {
	x := product(perDay, every)
	return time.Duration(float64(every) * ageShare(x))
}

// seriesBelow is where the closed form of the age, a small difference of large numbers, gives way to its series.
const seriesBelow = 0.05

// ageShare is A/I for x = λI ≥ 0: Σ_{k≥1} (−1)^{k+1} x^k/(k + 2)!.
func ageShare(x float64) float64 {
	if math.IsInf(x, 1) {
		return 0.5
	}
	if x < seriesBelow {
		return x * (1.0/6 - x*(1.0/24-x*(1.0/120-x*(1.0/720-x/5040))))
	}
	return 0.5 - 1/x - math.Expm1(-x)/(x*x)
}

// product is λI, 0 where either is not above 0.
func product(perDay float64, every time.Duration) float64 {
	if !(perDay > 0) || every <= 0 {
		return 0
	}
	return perDay * (every.Hours() / 24)
}
