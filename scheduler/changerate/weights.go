package changerate

import "math"

const (
	weightCount = featureCount + 1
	shape       = featureCount // the last weight: the logarithm of the prior's shape
)

type (
	vector [weightCount]float64
	matrix [weightCount]vector
)

// Weights say how much each feature of a page (see features) moves the logarithm of its change rate, and how much a
// page is worth beside them. They are learned from every visit to every page: a normal distribution over all weights,
// moved by one step of the extended Kalman filter a visit.
//
// The distribution is also kept as a precision, the inverse of its covariance, to which each visit adds: so what
// several workers learned from one beginning can be added up (Merge). A Weights is not safe for concurrent use.
type Weights struct {
	changes, days float64 // seen, of all pages of all hosts, in how many page-days
	mean          vector
	covariance    matrix
	precision     matrix
	customs       customs // whether hosts change at hours of their own
}

// Defaults are the weights to begin with. They were fitted on seven public histories of page changes (terms pages,
// release pages, feeds, documentation, a news site and a forum), each taken for one host.
func Defaults() *Weights {
	w := blank()
	for i, f := range features {
		w.begin(i, f.weight, f.spread)
	}
	w.begin(shape, shapeWeight, shapeSpread)
	return w
}

// blank are weights that say nothing, not even how sure they are of it.
func blank() *Weights { return &Weights{customs: begun(0, 0)} }

func (w *Weights) begin(i int, mean, spread float64) {
	w.mean[i] = mean
	w.covariance[i][i] = spread * spread
	w.precision[i][i] = 1 / (spread * spread)
}

// rate is how often a page changes where nothing else is known, per day. Without any visit it is once a cycle, the
// mean time between two visits of a page.
func (w *Weights) rate(cycle float64) float64 { return (w.changes + 1) / (w.days + cycle) }

// learn moves the weights by one visit. slopes are the derivatives of log S by each weight, S the probability that no
// change would be seen. One step of Newton's method on the log-likelihood of what was seen; the curvature
// S/(1 − S)·slopes·slopesᵀ adds to the precision. No step moves log S further than limit says: one visit is not trusted
// with more.
func (w *Weights) learn(slopes *vector, survival float64, changed bool, limit float64) {
	odds := survival / max(1e-9, 1-survival)
	score := 1.0
	if changed {
		score = -odds
	}
	spread := w.covariance.times(slopes)
	variance := slopes.dot(&spread)
	gain := 1 + odds*variance
	step := score / gain
	if moved := math.Abs(step * variance); moved > limit {
		step *= limit / moved
	}
	for i := range w.mean {
		w.mean[i] += step * spread[i]
	}
	w.covariance.add(-odds/gain, &spread)
	w.precision.add(odds, slopes)
}

func (v *vector) dot(other *vector) (sum float64) {
	for i := range v {
		sum += v[i] * other[i]
	}
	return sum
}

// times is the product with a vector; most features of a page are 0. The matrix is symmetric.
func (m *matrix) times(v *vector) (product vector) {
	for i, x := range v {
		if x == 0 {
			continue
		}
		row := &m[i]
		for j := range product {
			product[j] += x * row[j]
		}
	}
	return product
}

// add adds factor·v·vᵀ.
func (m *matrix) add(factor float64, v *vector) {
	for i, x := range v {
		if x == 0 {
			continue
		}
		scaled, row := factor*x, &m[i]
		for j := range row {
			row[j] += scaled * v[j]
		}
	}
}
