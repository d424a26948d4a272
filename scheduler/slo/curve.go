package slo

import (
	"math"
	"slices"
	"time"
)

// gridSteps is how many frequencies a curve is kept at between the longest and the shortest interval, evenly on a
// logarithmic scale, and rareSteps how many below, down to a thousandth.
const (
	gridSteps = 400
	rareSteps = 150
)

// grid is the frequencies, in visits a day, at which all curves of one problem are kept, ascending; low is one of them.
func grid(low, high float64, corners ...float64) []float64 {
	f := make([]float64, 0, gridSteps+rareSteps+len(corners)+1)
	for i := range rareSteps {
		f = append(f, low*math.Pow(1000, float64(i)/rareSteps-1))
	}
	for i := range gridSteps + 1 {
		f = append(f, low*math.Pow(high/low, float64(i)/gridSteps))
	}
	for _, c := range corners {
		if c > f[0] && c < high {
			f = append(f, c)
		}
	}
	slices.Sort(f)
	return slices.Compact(f)
}

// varied is E min(x, u) for u uniform in [1 − v/2, 1 + v/2].
func varied(x, v float64) float64 {
	switch over := x - (1 - v/2); {
	case v <= 0 || over >= v:
		return min(x, 1)
	case over <= 0:
		return x
	default:
		return x - over*over/(2*v)
	}
}

// calm is F for x = λ/f.
func calm(x float64) float64 {
	if x < 1e-9 {
		return 1
	}
	return -math.Expm1(-x) / x
}

// week is the open time of a week that comes again and again, by slots of equal length.
type week struct {
	open []float64 // sums: the open slots before each slot, of two weeks
	n    int
	slot float64 // days
}

func newWeek(open []bool) week {
	w := week{n: len(open), slot: 7 / float64(max(len(open), 1)), open: make([]float64, 2*len(open)+1)}
	for i := range 2 * w.n {
		w.open[i+1] = w.open[i]
		if open[i%w.n] {
			w.open[i+1]++
		}
	}
	return w
}

// share is ω, 1 where there are no windows.
func (w week) share() float64 {
	if w.n == 0 {
		return 1
	}
	return w.open[w.n] / float64(w.n)
}

// stretch is the mean length of a time without a pause in which visits are allowed, in days; 0 where there are no windows
// or they are always open.
func (w week) stretch() float64 {
	begins := 0.0
	for i := range w.n {
		if w.open[i+1+w.n] > w.open[i+w.n] && w.open[i+w.n] == w.open[i+w.n-1] {
			begins++
		}
	}
	if begins == 0 {
		return 0
	}
	return w.open[w.n] * w.slot / begins
}

// vary is the variation of intervals of so many days, v, with what waiting for windows adds: a visit that waited takes
// place anywhere in the window, so the distance of two is off by the difference of two such places, whose positive part
// is a sixth of the window on average. That of a uniform variation v is v/8 of the interval.
func (w week) vary(v, days float64) float64 {
	waiting := 4.0 / 3 * w.stretch() / days
	return min(math.Sqrt(v*v+waiting*waiting), 1)
}

// spell is an open time o(t)/ω, in days, and the share of the week in which it holds.
type spell struct{ days, share float64 }

// spells lists the open time of the a days that begin at each slot, over ω.
func (w week) spells(a float64) []spell {
	if w.n == 0 {
		return []spell{{a, 1}}
	}
	slots := a / w.slot
	weeks := math.Floor(slots / float64(w.n))
	rest := slots - weeks*float64(w.n)
	whole, part := int(rest), rest-math.Floor(rest)
	count := make(map[float64]float64)
	for i := range w.n {
		end := i + whole
		o := weeks*w.open[w.n] + w.open[end] - w.open[i] + part*(w.open[min(end+1, 2*w.n)]-w.open[min(end, 2*w.n)])
		count[o]++
	}
	all := make([]spell, 0, len(count))
	for o, times := range count {
		all = append(all, spell{o * w.slot / w.share(), times / float64(w.n)})
	}
	slices.SortFunc(all, func(a, b spell) int { return int(math.Copysign(1, a.days-b.days)) })
	return all
}

// caught is the probability, at each frequency, that of a moment and the a days behind it a visit falls into them.
func (w week) caught(f []float64, a, v float64) []float64 {
	spells := w.spells(a)
	out := make([]float64, len(f))
	for i := range f {
		for _, s := range spells {
			out[i] += s.share * varied(f[i]*s.days, v)
		}
	}
	return out
}

// younger is caught for ages from a minute to far beyond the longest interval, a century at most, for the integral of F.
type younger struct {
	ages  []float64
	share [][]float64 // by age, then by frequency
}

const ageSteps = 240

func (w week) younger(f []float64, v float64) younger {
	var y younger
	low, high := time.Minute.Hours()/24, min(2/f[0]+7, 100*365)
	for i := range ageSteps + 1 {
		a := low * math.Pow(high/low, float64(i)/ageSteps)
		y.ages = append(y.ages, a)
		y.share = append(y.share, w.caught(f, a, v))
	}
	return y
}

// fresh is F at each frequency for a page of so many changes a day: ∫ λe^(−λa)·P(younger than a) da, with P at the lower
// end of each step, so that it is not overstated.
func (y younger) fresh(rate float64) []float64 {
	out := make([]float64, len(y.share[0]))
	for i := range y.ages {
		weight := math.Exp(-rate * y.ages[i])
		if i+1 < len(y.ages) {
			weight -= math.Exp(-rate * y.ages[i+1])
		}
		for j, p := range y.share[i] {
			out[j] += weight * p
		}
	}
	return out
}
