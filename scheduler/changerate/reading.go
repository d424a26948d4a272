package changerate

import "math"

// Reading is what the weights and the crowd of its host make of a page, for any time: what does not depend on the time is
// worked out once. It is good until one of the three learns something. It is not safe for concurrent use.
type Reading struct {
	subject *Subject
	weights *Weights
	crowd   *Crowd
	groups  [groupings]*group // nil: not kept
	cycle   float64
	still   bool // never seen to change
	level   float64
	prior   Gamma
	lasts   lasting
	shape   memo  // the prior's, of its logarithm
	own     Gamma // the posterior: the prior with the evidence of the page's own visits

	since        news // as it was read last, for the next time to come
	now, last    float64
	present      float64                // of the last forecast that was not of a time to come
	ahead        bool                   // now is a time to come
	faded        [len(memories)]float64 // what is left by now of the sums of a heat, of the time fadedFrom
	fadedFrom    float64
	past, future float64 // logarithms of how many times more than usual it changed since the last record, and will
	values       *vector // where the values of the features go, in the past for those that do not last; nil: nowhere
}

// The bounds of the logarithms of a rate per day and of its change over time.
const (
	slowest, fastest = -18, 4
	maxSwing         = 6
)

// Read reads a page. The reading may hold an older one.
func (r *Reading) Read(w *Weights, c *Crowd, s *Subject) { r.read(w, c, s, nil) }

func (r *Reading) read(w *Weights, c *Crowd, s *Subject, values *vector) {
	r.subject, r.weights, r.crowd, r.values = s, w, c, values
	r.cycle, r.still = cycle(s), !(s.ChangedAt > 0)
	c.place(s, &r.groups)
	r.lasts.over(r.cycle)
	r.since.known = false
	r.level = c.level(c.rate(w.rate(r.cycle)))
	r.readLasting()
	shape := r.shape.of(bounded(w.mean[shape], -3, 2), expOf)
	r.prior = Gamma{Shape: shape, Days: shape / expOf(bounded(r.level, slowest, fastest))}
	r.own = r.prior.with(s.Evidence)
}

// at reads what depends on the time. The times are in bounds.
func (r *Reading) at(last, now float64) {
	r.last, r.now, r.past, r.future = last, now, 0, 0
	r.readPassing()
	r.past = bounded(r.past, -maxSwing, maxSwing)
	r.future = bounded(r.future, -maxSwing, maxSwing)
}

// lasting adds a feature that lasts.
func (r *Reading) lasting(feature int, value float64) {
	r.level += r.weights.mean[feature] * value
	if r.values != nil {
		r.values[feature] = value
	}
}

// passing adds a feature of the time.
func (r *Reading) passing(feature int, past, future float64) {
	weight := r.weights.mean[feature]
	r.past += weight * past
	r.future += weight * future
	if r.values != nil {
		r.values[feature] = past
	}
}

// both adds one that says the same of the past and of the future.
func (r *Reading) both(feature int, value float64) { r.passing(feature, value, value) }

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
	g := r.own
	byTime := -g.Shape * x / (g.Days + x)
	byLevel := byTime * r.prior.Days / g.Days
	for i := range features {
		if features[i].lasting {
			slopes[i] = byLevel * r.values[i]
		} else {
			slopes[i] = byTime * r.values[i]
		}
	}
	slopes[shape] = -r.prior.Shape*log1pOf(x/g.Days) - byLevel
	return slopes, -byTime / 2
}
