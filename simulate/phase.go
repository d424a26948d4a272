package simulate

import "math"

// PhaseOptimum bounds what visits reach that know the rates of independent pages and the profile of their week: each page
// changes by a Poisson process whose rate is λ times the profile (shifted by whole hours as it may be; that changes
// nothing). No policy whose visits do not depend on what they find is better, and one whose budget may be spent at any
// time of the week comes as close to it as one likes.
//
// By duality: the best of Σ w·F under Σ visits = perDay is at most min over the price of Σ max(w·F − price·visits) +
// price·perDay, where each page's maximum is a problem of its own, solved by dynamic programming over the hours of a few
// months (see gain). Those are computed at points of a grid of rates and prices and interpolated between.
func PhaseOptimum(pages []Source, p Profile, perDay float64) Optimum {
	return newGains(p).optimum(pages, perDay)
}

// optimum is PhaseOptimum. What it computes serves the next budget too.
func (g *gains) optimum(pages []Source, perDay float64) Optimum {
	weight := 0.0
	for _, s := range pages {
		weight += s.Weight
	}
	dual := func(price float64) float64 {
		sum := price * perDay
		for _, s := range pages {
			sum += s.Weight * g.at(s.PerDay, price/s.Weight)
		}
		return sum / weight
	}
	price, fresh := lowest(dual, math.Log(1e-4), math.Log(1e4))
	return Optimum{Freshness: min(fresh, 1), Price: price, PerDay: perDay}
}

// lowest is the minimum of a convex function of exp(x) over [low, high], by golden section.
func lowest(f func(float64) float64, low, high float64) (at, value float64) {
	const golden = 0.6180339887498949
	a, b := high-golden*(high-low), low+golden*(high-low)
	fa, fb := f(math.Exp(a)), f(math.Exp(b))
	for high-low > 0.02 { // around its minimum the function is flat
		if fa < fb {
			high, b, fb = b, a, fa
			a = high - golden*(high-low)
			fa = f(math.Exp(a))
		} else {
			low, a, fa = a, b, fb
			b = low + golden*(high-low)
			fb = f(math.Exp(b))
		}
	}
	return math.Exp((low + high) / 2), min(fa, fb)
}

// The grid of rates (changes a day) and prices (days), both in equal steps of the logarithm.
const (
	gridLow   = -7.0 // of ln λ, and less ln λ of ln(price): only their product matters for pages without rhythm
	gridHigh  = 3.5
	gridStep  = 0.25
	gridCount = int((gridHigh-gridLow)/gridStep) + 1
)

// gains are the best gains for a profile, computed where they are asked for. They are not safe for concurrent use.
type gains struct {
	profile Profile
	known   map[[2]int]float64
}

func newGains(p Profile) *gains { return &gains{profile: p, known: make(map[[2]int]float64)} }

// at is the gain of a page of weight 1: the largest F − price·(visits a day), interpolated between the points of the grid.
func (g *gains) at(perDay, price float64) float64 {
	if perDay <= 0 {
		return 1
	}
	x := (min(max(math.Log(perDay), gridLow), gridHigh) - gridLow) / gridStep
	y := min(max(math.Log(price), -10), 10) / gridStep
	i, j := int(math.Floor(x)), int(math.Floor(y))
	u, v := x-float64(i), y-float64(j)
	return (1-u)*((1-v)*g.point(i, j)+v*g.point(i, j+1)) + u*((1-v)*g.point(i+1, j)+v*g.point(i+1, j+1))
}

func (g *gains) point(i, j int) float64 {
	key := [2]int{i, j}
	value, ok := g.known[key]
	if !ok {
		value = gain(g.profile, math.Exp(gridLow+float64(i)*gridStep), math.Exp(float64(j)*gridStep))
		g.known[key] = value
	}
	return value
}

// longHours is the interval up to which phase matters: six weeks.
const longHours = 6 * weekHours

// month is the time, in hours, over which a gain is measured: four weeks.
const month = 4 * weekHours

// gain is the largest F − price·(visits a day), over all plans of visits at whole hours, for a page that changes perDay
// times a day by the profile. Backward from the end of a long time, best[h] is the most that can be had from hour h on
// where the copy counts for nothing: nothing until the next hour, or a visit, whose copy is fresh until it changes, and at
// some later hour the same choice again. What a week adds to it, far from the end, is the gain of a week.
func gain(p Profile, perDay, price float64) float64 {
	flat := flatGain(perDay, price)
	every := Source{PerDay: perDay, Weight: 1}.every(price) * 24
	if every > longHours/2 && !math.IsInf(every, 1) || every < 1 {
		return flat // far longer than the rhythm, or shorter than an hour
	}
	longest := int(min(3*every+48, longHours))
	horizon := month + 3*longest
	survive := make([]float64, weekHours) // e^{−λ·(changes expected in that hour)}
	during := make([]float64, weekHours)  // fresh days of that hour, where it begins fresh
	for h := range survive {
		x := 7 * perDay * p[h]
		survive[h] = math.Exp(-x)
		during[h] = 1.0 / 24
		if x > 1e-9 {
			during[h] = -math.Expm1(-x) / x / 24
		}
	}
	best := make([]float64, horizon+1)
	for h := horizon - 1; h >= 0; h-- {
		best[h] = best[h+1]
		still, fresh := 1.0, -price
		for next := h; next < min(h+longest, horizon) && still > 1e-5; next++ {
			fresh += still * during[next%weekHours]
			still *= survive[next%weekHours]
			best[h] = max(best[h], fresh+best[next+1])
		}
	}
	return max(flat, (best[0]-best[month])/(month/24))
}

// flatGain is the gain where changes come at all hours alike.
func flatGain(perDay, price float64) float64 {
	s := Source{PerDay: perDay, Weight: 1}
	every := s.every(price)
	if math.IsInf(every, 1) {
		return 0
	}
	return max(0, freshAt(s, price)-price/every)
}
