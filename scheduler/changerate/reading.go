package changerate

import "math"

// reading is what the weights make of a view.
type reading struct {
	values       vector // of the features, in the past for those that do not last
	prior        Gamma
	past, future float64 // logarithms of how many times more than usual it changed since the last record, and will
}

// The bounds of the logarithms of a rate per day and of its change over time.
const (
	slowest, fastest = -18, 4
	maxSwing         = 6
)

// read forecasts by the features alone.
func (w *Weights) read(v *view) reading {
	var r reading
	level := math.Log(v.crowd.rate(w.rate(v.cycle)))
	for i := range features {
		f := &features[i]
		past, future := f.read(v)
		r.values[i] = past
		if f.lasting {
			level += w.mean[i] * past
			continue
		}
		r.past += w.mean[i] * past
		r.future += w.mean[i] * future
	}
	r.past = bounded(r.past, -maxSwing, maxSwing)
	r.future = bounded(r.future, -maxSwing, maxSwing)
	shape := math.Exp(bounded(w.mean[shape], -3, 2))
	r.prior = Gamma{Shape: shape, Days: shape / math.Exp(bounded(level, slowest, fastest))}
	return r
}

// posterior is the prior with the evidence of the page's own visits. Where the prior has moved away from what it was
// when they were made, their sum may fall to nothing or below; some of the prior always stays.
func (r *reading) posterior(e Evidence) Gamma {
	if math.IsNaN(e.Shape + e.Days) {
		return r.prior
	}
	return Gamma{
		Shape: max(leastShape, r.prior.Shape+e.Shape),
		Days:  max(leastDays*r.prior.Days, r.prior.Days+e.Days),
	}.sane()
}

// What stays of the prior: so much shape, and this share of its days.
const leastShape, leastDays = 0.02, 0.01

// slopes are the derivatives of log S = −a·log(1 + x/b) by each weight, x the days since the last record as far as
// they count. The prior's days are its shape by its rate, so a lasting feature moves b, another one x.
func (r *reading) slopes(g Gamma, x float64) (slopes vector, limit float64) {
	byTime := -g.Shape * x / (g.Days + x)
	byLevel := byTime * r.prior.Days / g.Days
	for i := range features {
		if features[i].lasting {
			slopes[i] = byLevel * r.values[i]
		} else {
			slopes[i] = byTime * r.values[i]
		}
	}
	slopes[shape] = -r.prior.Shape*math.Log1p(x/g.Days) - byLevel
	return slopes, -byTime / 2
}
