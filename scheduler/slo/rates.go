package slo

import (
	"math"

	"recrawld/scheduler/changerate"
	"time"
)

// Seen is what a page's visits showed of its changes.
type Seen struct {
	Compared int           // visits with one before to compare to, ≥ 0
	Changed  int           // of these, those that differed
	Gap      time.Duration // mean time between two of them
}

const (
	// rateSteps is how many rates are told apart, by a factor of 1.2 or so.
	rateSteps = 100
	// slowest is a change in 30 years: a page that is slower than that has no part in any goal.
	slowest = 1.0 / (30 * 365)
	// fastest bounds what pages that were different on every visit are taken for.
	fastest = 1440
	rounds  = 200
)

// Rate is the page's own estimate of its changes a day (changerate.Regular); 0 where nothing was compared.
func (s Seen) Rate() float64 {
	return changerate.Regular(s.Compared, s.Changed, s.Gap).PerDay
}

// Rates estimates the expected changes a day of each page from what was seen of all of them: the mean of the posterior
// under the distribution of rates that makes what was seen most likely, found by expectation maximisation on a fixed set
// of rates (Laird, "Nonparametric maximum likelihood estimation of a mixing distribution", JASA 73, 1978), with the
// likelihood (1 − e^(−λI))^X·e^(−λI(n−X)) of X changes in n comparisons a gap I apart. So a page that was never seen to
// change has a rate above 0, by how the others are, and one that always did a finite one: the rates reach from a change
// in 30 years to the bias-reduced estimate of the fastest page (see changerate.Regular). A page that was not compared
// gets the mean of all. Where nothing was compared at all the rates are 0 and known is false.
func Rates(pages []Seen) (rates []float64, known bool) {
	groups := make(map[Seen]float64)
	top := slowest * 2
	for _, s := range pages {
		s = s.rounded()
		groups[s]++
		if s.Compared > 0 {
			top = max(top, min(s.Rate(), fastest))
		}
	}
	at := make([]float64, rateSteps)
	weights := make([]float64, rateSteps)
	for k := range at {
		at[k] = slowest * math.Pow(top/slowest, float64(k)/(rateSteps-1))
		weights[k] = 1.0 / rateSteps
	}
	chances := make(map[Seen][]float64, len(groups))
	for s := range groups {
		if s.Compared > 0 {
			chances[s] = s.chances(at)
		}
	}
	if len(chances) == 0 {
		return make([]float64, len(pages)), false
	}
	for range rounds {
		weights = improved(weights, chances, groups)
	}
	means := make(map[Seen]float64, len(groups))
	for s := range groups {
		means[s] = mean(at, weights, chances[s])
	}
	rates = make([]float64, len(pages))
	for i, s := range pages {
		rates[i] = means[s.rounded()]
	}
	return rates, true
}

// rounded brings pages of which about the same was seen together: gaps to 2 %, and comparisons beyond 200 to 5 %.
func (s Seen) rounded() Seen {
	if s.Compared <= 0 || s.Gap <= 0 {
		return Seen{}
	}
	s.Changed = min(max(s.Changed, 0), s.Compared)
	if n := float64(s.Compared); n > 200 {
		kept := math.Round(math.Pow(1.05, math.Round(math.Log(n)/math.Log(1.05))))
		s.Changed = int(math.Round(float64(s.Changed) * kept / n))
		s.Compared = int(kept)
	}
	s.Gap = time.Duration(math.Exp(math.Round(math.Log(float64(s.Gap))*50) / 50))
	return s
}

// chances is the likelihood at each rate, over that at the likeliest.
func (s Seen) chances(at []float64) []float64 {
	out := make([]float64, len(at))
	best := math.Inf(-1)
	for k, rate := range at {
		x := rate * s.Gap.Hours() / 24
		out[k] = -x * float64(s.Compared-s.Changed)
		if s.Changed > 0 {
			out[k] += float64(s.Changed) * math.Log(-math.Expm1(-x))
		}
		best = max(best, out[k])
	}
	for k := range out {
		out[k] = math.Exp(out[k] - best)
	}
	return out
}

// improved is one round of expectation maximisation.
func improved(weights []float64, chances map[Seen][]float64, groups map[Seen]float64) []float64 {
	next, total := make([]float64, len(weights)), 0.0
	for s, chance := range chances {
		sum := 0.0
		for k, c := range chance {
			sum += weights[k] * c
		}
		if sum == 0 {
			continue
		}
		pages := groups[s]
		total += pages
		for k, c := range chance {
			next[k] += pages * weights[k] * c / sum
		}
	}
	if total == 0 {
		return weights
	}
	for k := range next {
		next[k] /= total
	}
	return next
}

// mean is the expected rate, given the chances of what was seen; nil: nothing was.
func mean(at, weights, chance []float64) float64 {
	sum, total := 0.0, 0.0
	for k, rate := range at {
		w := weights[k]
		if chance != nil {
			w *= chance[k]
		}
		sum += w * rate
		total += w
	}
	if total == 0 {
		return 0
	}
	return sum / total
}
