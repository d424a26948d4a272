package verify

import "math"

// Confidence is that of Interval.
const Confidence = 0.95

// Interval is what a random sample says of the whole: where bad of n drawn were bad, the share of all that is bad lies between low and high
// (0 to 1) with 95 % confidence. It is the exact interval of Clopper and Pearson (1934), with half of what is left for chance at either end;
// where none or all are bad there is one end alone to be wrong at, and it has all of it: with none of n, high is 1 - 0.05^(1/n), about 3/n
// (the rule of three). Drawing without replacement makes the truth narrower, never wider. Of an empty sample it is 0 to 1.
func Interval(bad, n int64) (low, high float64) {
	const chance = 1 - Confidence
	switch {
	case n <= 0:
		return 0, 1
	case bad <= 0:
		return 0, -math.Expm1(math.Log(chance) / float64(n))
	case bad >= n:
		return math.Exp(math.Log(chance) / float64(n)), 1
	}
	// P(X ≥ bad | p) = I(p; bad, n - bad + 1) is chance/2 at low, and P(X ≤ bad | p) at high.
	k, rest := float64(bad), float64(n-bad)
	return quantile(chance/2, k, rest+1), quantile(1-chance/2, k+1, rest)
}

// quantile is the p at which the regularised incomplete beta function is share.
func quantile(share, a, b float64) float64 {
	low, high := 0.0, 1.0
	for range 200 {
		middle := (low + high) / 2
		if middle <= low || middle >= high {
			break
		}
		if beta(middle, a, b) < share {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// beta is the regularised incomplete beta function I(x; a, b) for 0 < x < 1, by its continued fraction (DLMF 8.17.22), which converges fast
// where x is below the mean; above it the function is that of the other end.
func beta(x, a, b float64) float64 {
	if x > (a+1)/(a+b+2) {
		return 1 - beta(1-x, b, a)
	}
	both, _ := math.Lgamma(a + b)
	one, _ := math.Lgamma(a)
	other, _ := math.Lgamma(b)
	front := math.Exp(both-one-other+a*math.Log(x)+b*math.Log1p(-x)) / a
	return front * fraction(x, a, b)
}

// fraction is the continued fraction of beta, by the method of Lentz (1976).
func fraction(x, a, b float64) float64 {
	const tiny, exact = 1e-300, 1e-15
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	f := d
	for m := 1.0; m < 1e6; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = 1/away(1+even*d), away(1+even/c)
		f *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = 1/away(1+odd*d), away(1+odd/c)
		f *= d * c
		if math.Abs(d*c-1) < exact {
			break
		}
	}
	return f
}
