package changerate

import "math"

// Interval is the credible interval of the change rate, per day: it lies inside with the probability share, and below
// and above with that of half the rest each. It is for a person: it takes some microseconds.
func (g Gamma) Interval(share float64) (low, high float64) {
	g = g.sane()
	tail := (1 - bounded(share, 0, 1)) / 2
	return g.quantile(tail), g.quantile(1 - tail)
}

// quantile is the rate that λ lies below with a probability, by bisection over its logarithm.
func (g Gamma) quantile(p float64) float64 {
	if p <= 0 {
		return 0
	}
	if p >= 1 {
		return math.Inf(1)
	}
	high := 1.0
	for lowerGamma(g.Shape, high) < p && high < math.MaxFloat64/2 {
		high *= 2
	}
	return bisect(math.SmallestNonzeroFloat64, high, func(x float64) bool { return lowerGamma(g.Shape, x) < p }) / g.Days
}

// lowerGamma is P(a, x), the regularised lower incomplete gamma function: by its series where x < a + 1, else one
// minus the continued fraction of its complement, evaluated by Lentz's method (NIST Handbook of Mathematical
// Functions, 8.11.4 and 8.9.2).
func lowerGamma(a, x float64) float64 {
	if x <= 0 {
		return 0
	}
	logGamma, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - logGamma)
	if x < a+1 {
		sum, term := 1/a, 1/a
		for k := 1.0; term > sum*1e-15 && k < 1e5; k++ {
			term *= x / (a + k)
			sum += term
		}
		return min(front*sum, 1)
	}
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for k := 1.0; k < 1e5; k++ {
		factor := -k * (k - a)
		b += 2
		d = 1 / nonzero(factor*d+b, tiny)
		c = nonzero(b+factor/c, tiny)
		h *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return max(0, 1-front*h)
}

func nonzero(x, instead float64) float64 {
	if math.Abs(x) < instead {
		return instead
	}
	return x
}
