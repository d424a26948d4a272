package changerate

import (
	"fmt"
	"math"
)

// Lesson is what one run of visits says of the weights, whatever they began from: the logarithm of its likelihood, up
// to a constant, as a quadratic of the weights. Lessons of runs on the same pages may be added up.
type Lesson struct {
	precision   matrix
	information vector // the precision times where the likelihood is greatest
}

// Broad returns weights that say next to nothing: each is 0, give or take 1. What is learned from them owes nothing to
// the defaults.
func Broad() *Weights {
	w := blank()
	for i := range w.mean {
		w.begin(i, 0, 1)
	}
	return w
}

// LessonSince is what the weights learned since they were a copy of base.
func (w *Weights) LessonSince(base *Weights) Lesson {
	l := Lesson{precision: w.precision, information: w.information()}
	begun := base.information()
	for i := range l.information {
		l.information[i] -= begun[i]
		for j := range l.precision[i] {
			l.precision[i][j] -= base.precision[i][j]
		}
	}
	return l
}

// Add adds another lesson on the same pages.
func (l *Lesson) Add(other Lesson) {
	for i := range l.information {
		l.information[i] += other.information[i]
		for j := range l.precision[i] {
			l.precision[i][j] += other.precision[i][j]
		}
	}
}

// Fitting says how lessons make weights to begin with.
type Fitting struct {
	Temper float64 // in (0, 1]: a lesson counts as this share of itself, because visits are less independent than they are taken for
	Narrow float64 // the spreads become this share of those between the sites
	Widest float64 // and no more than this
	Rounds int     // of the algorithm
}

// Fit finds the weights to begin with on a site that is like those of the lessons, by empirical Bayes: each site's
// weights are taken for a draw from one normal distribution with independent components, whose means and spreads the EM
// algorithm finds (Dempster, Laird & Rubin 1977; normal means with unknown hyperparameters). One more site is thought
// to have all weights 0, so that what few sites tell of stays near 0. Without a lesson the result is Broad's mean.
func (f Fitting) Fit(sites []Lesson) *Weights {
	var mean, variance vector
	for i := range variance {
		variance[i] = 0.25
	}
	for range f.Rounds {
		var sum, squares vector // of the sites' weights as they are now thought to be; the one with 0 adds nothing
		for k := range sites {
			site, ok := f.site(&sites[k], &mean, &variance)
			if !ok {
				continue
			}
			for i, x := range site.mean {
				sum[i] += x
				squares[i] += x*x + site.covariance[i][i]
			}
		}
		for i := range mean {
			n := float64(len(sites) + 1)
			mean[i] = sum[i] / n
			variance[i] = max(leastVariance, squares[i]/n-mean[i]*mean[i])
		}
	}
	w := blank()
	for i := range mean {
		w.begin(i, mean[i], min(f.Widest, f.Narrow*math.Sqrt(variance[i])))
	}
	return w
}

// leastVariance keeps a weight on which all sites agree from being taken for certain.
const leastVariance = 0.01

// site is what the weights of one site are, by its lesson and what is thought of all.
func (f Fitting) site(l *Lesson, mean, variance *vector) (*Weights, bool) {
	w := blank()
	var information vector
	for i := range information {
		information[i] = f.Temper*l.information[i] + mean[i]/variance[i]
		for j := range w.precision[i] {
			w.precision[i][j] = f.Temper * l.precision[i][j]
		}
		w.precision[i][i] += 1 / variance[i]
	}
	return w, w.solve(&information)
}

// Weight is one of the Weights, for a person.
type Weight struct {
	Name         string  // of its feature
	Mean, Spread float64 // of the normal distribution
}

// WeightsOf makes weights of a list like that of List. An error says that it is one of another model.
func WeightsOf(list []Weight) (*Weights, error) {
	w := Broad()
	known := w.List()
	if len(list) != len(known) {
		return nil, fmt.Errorf("%w: %d weights, want %d", ErrOtherModel, len(list), len(known))
	}
	for i, one := range list {
		if one.Name != known[i].Name {
			return nil, fmt.Errorf("%w: weight %q, want %q", ErrOtherModel, one.Name, known[i].Name)
		}
		if !(one.Spread > 0) || math.IsInf(one.Spread, 1) || math.IsNaN(one.Mean) || math.IsInf(one.Mean, 0) {
			return nil, fmt.Errorf("weight %q: %v ± %v is no distribution", one.Name, one.Mean, one.Spread)
		}
		w.begin(i, one.Mean, one.Spread)
	}
	return w, nil
}

// List lists the weights in their order.
func (w *Weights) List() []Weight {
	list := make([]Weight, weightCount)
	for i := range list {
		list[i] = Weight{Name: "shape", Mean: w.mean[i], Spread: math.Sqrt(w.covariance[i][i])}
		if i != shape {
			list[i].Name = features[i].name
		}
	}
	return list
}
