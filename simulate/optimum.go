package simulate

import "math"

// Source is a page of a world whose true average change rate is known.
type Source struct {
	PerDay float64 // changes a day, ≥ 0
	Weight float64 // > 0
	Host   int     // index of its host
}

// Optimum is the best that visits at even intervals reach.
type Optimum struct {
	Freshness float64 // weighted, in [0, 1]
	Price     float64 // days of weighted freshness that the last visit buys
	PerDay    float64 // visits a day that it takes: the budget, or less where that is more than the hosts let through
}

// KnownRates is the optimum for independent pages that change by Poisson processes of known rates, with a budget of
// perDay visits a day, and at most most[h] visits a day to host h (nil: no bound): each page is visited at the interval I at
// which w/λ·g(λI) = price, g(x) = 1 − e^{−x}(1 + x), and not at all where w/λ ≤ price (Cho & Garcia-Molina, ACM TODS
// 28(4), 2003). A host that reaches its bound has a price of its own, above that of the others (Kolobov, Peres, Lubetzky
// & Horvitz, SIGIR 2019). Its freshness is (1 − e^{−x})/x with x = λI.
func KnownRates(pages []Source, perDay float64, most []float64) Optimum {
	hosts := group(pages)
	floor := make([]float64, len(hosts))
	for h := range hosts {
		if h < len(most) && demand(hosts[h], 0) > most[h] {
			floor[h] = priceOf(func(price float64) float64 { return demand(hosts[h], price) }, most[h])
		}
	}
	all := func(price float64) (sum float64) {
		for h := range hosts {
			sum += demand(hosts[h], max(price, floor[h]))
		}
		return sum
	}
	o := Optimum{Price: priceOf(all, perDay)}
	var fresh, weight float64
	for h := range hosts {
		for _, s := range hosts[h] {
			fresh += s.Weight * freshAt(s, max(o.Price, floor[h]))
			weight += s.Weight
		}
	}
	o.Freshness, o.PerDay = fresh/weight, all(o.Price)
	return o
}

func group(pages []Source) [][]Source {
	last := -1
	for _, s := range pages {
		last = max(last, s.Host)
	}
	hosts := make([][]Source, last+1)
	for _, s := range pages {
		hosts[s.Host] = append(hosts[s.Host], s)
	}
	return hosts
}

// leastPrice and mostPrice bound a price, in days.
const leastPrice, mostPrice = 1e-12, 1e9

// priceOf is the price at which the falling function demand is perDay, or leastPrice where it is below that everywhere.
func priceOf(demand func(float64) float64, perDay float64) float64 {
	low, high := math.Log(leastPrice), math.Log(mostPrice)
	for range 60 {
		middle := (low + high) / 2
		if demand(math.Exp(middle)) > perDay {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(high)
}

func demand(pages []Source, price float64) (perDay float64) {
	price = max(price, leastPrice)
	for _, s := range pages {
		if every := s.every(price); every > 0 && !math.IsInf(every, 1) {
			perDay += 1 / every
		}
	}
	return perDay
}

func freshAt(s Source, price float64) float64 {
	every := s.every(price)
	switch {
	case s.PerDay <= 0:
		return 1
	case math.IsInf(every, 1):
		return 0
	}
	x := s.PerDay * every
	return -math.Expm1(-x) / x
}

// every is the interval, in days, at which a visit to the page is worth the price; +Inf: never.
func (s Source) every(price float64) float64 {
	if s.PerDay <= 0 {
		return math.Inf(1)
	}
	x := inverseG(price * s.PerDay / s.Weight)
	return x / s.PerDay
}

// inverseG is the x ≥ 0 at which g(x) = 1 − e^{−x}(1 + x) is y; +Inf for y ≥ 1. By Newton's method on ln g, which is
// concave and rises, from below: it converges from there without leaving the branch.
func inverseG(y float64) float64 {
	switch {
	case y <= 0:
		return 0
	case y >= 1:
		return math.Inf(1)
	}
	x := math.Sqrt(2 * y) // g(x) ≤ x²/2, so the root is above
	for range 60 {
		g := gOf(x)
		step := math.Log(y/g) * g / (x * math.Exp(-x))
		if y > 0.9 { // far out ln g is flat: ln(1 − g) = ln(1 + x) − x is not
			step = (math.Log1p(x) - x - math.Log1p(-y)) * (1 + x) / x
		}
		x += step
		if math.Abs(step) <= 1e-12*x {
			break
		}
	}
	return x
}

// gOf is g(x), by its series where the closed form loses digits.
func gOf(x float64) float64 {
	if x < 1e-2 {
		return x * x * (0.5 - x*(1.0/3-x*(1.0/8-x/30)))
	}
	return 1 - math.Exp(-x)*(1+x)
}
