package changerate

import "math"

// Reading is what the weights and the crowd of its host make of a page, for any time: what does not depend on the time is
// worked out once. It is good until one of the three learns something. It is not safe for concurrent use.
type Reading struct {
	view
	weights      *Weights
	lasting      vector // the features that last
	passing      vector // the others, in the past
	prior        Gamma
	posterior    Gamma   // the prior with the evidence of the page's own visits
	past, future float64 // logarithms of how many times more than usual it changed since the last record, and will
}

// The bounds of the logarithms of a rate per day and of its change over time.
const (
	slowest, fastest = -18, 4
	maxSwing         = 6
)

// Read reads a page. The reading may hold an older one.
func (r *Reading) Read(w *Weights, c *Crowd, s *Subject) {
	*r = Reading{weights: w}
	r.view = view{subject: s, crowd: c, cycle: cycle(s), still: !(s.ChangedAt > 0)}
	c.place(s, &r.groups)
	r.view.lasting(&r.lasting)
	level := c.level(c.rate(w.rate(r.cycle)))
	for i, value := range &r.lasting {
		if value != 0 {
			level += w.mean[i] * value
		}
	}
	shape := math.Exp(bounded(w.mean[shape], -3, 2))
	r.prior = Gamma{Shape: shape, Days: shape / math.Exp(bounded(level, slowest, fastest))}
	r.posterior = r.prior.with(s.Evidence)
}

// at reads what depends on the time. The times are in bounds.
func (r *Reading) at(last, now float64) {
	var future vector
	r.view.at(last, now)
	r.passing, r.past, r.future = vector{}, 0, 0
	r.view.passing(&r.passing, &future)
	mean := &r.weights.mean
	for i, value := range &r.passing {
		if value != 0 {
			r.past += mean[i] * value
		}
		if future[i] != 0 {
			r.future += mean[i] * future[i]
		}
	}
	r.past = bounded(r.past, -maxSwing, maxSwing)
	r.future = bounded(r.future, -maxSwing, maxSwing)
}

// with is a prior with the evidence of the page's own visits. Where the prior has moved away from what it was when they
// were made, their sum may fall to nothing or below; some of the prior always stays.
func (g Gamma) with(e Evidence) Gamma {
	if math.IsNaN(e.Shape + e.Days) {
		return g
	}
	return Gamma{
		Shape: max(leastShape, g.Shape+e.Shape),
		Days:  max(leastDays*g.Days, g.Days+e.Days),
	}.sane()
}

// What stays of the prior: so much shape, and this share of its days.
const leastShape, leastDays = 0.02, 0.01

// slopes are the derivatives of log S = −a·log(1 + x/b) by each weight, x the days since the last record as far as
// they count. The prior's days are its shape by its rate, so a lasting feature moves b, another one x.
func (r *Reading) slopes(x float64) (slopes vector, limit float64) {
	g := r.posterior
	byTime := -g.Shape * x / (g.Days + x)
	byLevel := byTime * r.prior.Days / g.Days
	for i := range features {
		if features[i].lasting {
			slopes[i] = byLevel * r.lasting[i]
		} else {
			slopes[i] = byTime * r.passing[i]
		}
	}
	slopes[shape] = -r.prior.Shape*math.Log1p(x/g.Days) - byLevel
	return slopes, -byTime / 2
}
