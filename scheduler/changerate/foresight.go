package changerate

import "math"

// Foresight is how well changes were foreseen: as the model had it, and as that was corrected by what had come of the forecasts
// made before. The zero value is empty.
type Foresight struct {
	Made      Calibration
	Corrected Calibration
}

// Add takes in one visit, of which the model made a probability that was corrected.
func (f *Foresight) Add(made float64, by Correction, changed bool) {
	f.Made.Add(made, changed)
	f.Corrected.Add(by.Of(made), changed)
}

// Merge adds the visits of another one.
func (f *Foresight) Merge(other *Foresight) {
	f.Made.Merge(&other.Made)
	f.Corrected.Merge(&other.Corrected)
}

// Correction is how forecasts are corrected by what came of earlier ones. Of a forecast that a page has changed with the
// probability p, H = −log(1 − p) is how many changes of a Poisson process it stands for; it becomes e^Level·H^(1 + Slope).
// A slope above 0 says that forecasts are too much alike: what is likely comes true more often than foreseen, what is unlikely more
// seldom. The zero value changes nothing.
//
// It is a calibration line as that of Cox (Two further applications of a model for binary regression, Biometrika 45, 1958), which is
// one of logits; here it is one of log H.
type Correction struct {
	Level, Slope float64
}

// The bounds within which a correction stays, whatever came.
const maxLevel, maxSlope = 1.5, 0.75

// Of corrects a probability. It keeps the order, 0 and 1, and takes any value: what lies outside of [0, 1] counts as the
// nearer end, NaN as 0.
func (k Correction) Of(p float64) float64 {
	p = bounded(p, 0, 1)
	if k == (Correction{}) || p == 0 || p == 1 {
		return p
	}
	return bounded(-math.Expm1(-math.Exp(k.Level+(1+k.Slope)*math.Log(-math.Log1p(-p)))), 0, 1)
}

// What a correction is taken for beforehand, a level and a slope of 0, each give or take so much; and what share of itself a visit
// counts for, since those of one host and week are not independent (as Fitting.Temper).
const (
	usualCorrection = 0.2
	correctionShare = 0.3
)

// Correction is the likeliest one by the forecasts that were judged and what it is taken for beforehand, within its bounds, by
// Fisher's scoring. The visits of a decile count as if all had been foreseen with their mean, which makes the slope of forecasts
// that lie orders of magnitude apart in the lowest decile a fifth too small. Without visits it is the zero value.
func (c *Calibration) Correction() (k Correction) {
	for range 50 {
		level, slope, ll, ls, ss := c.ascent(k)
		steeper := bounded(k.Slope+bounded((ll*slope-ls*level)/(ll*ss-ls*ls), -0.25, 0.25), -maxSlope, maxSlope) - k.Slope
		// At its bound one does not move, and the other is to be the best beside that.
		up := bounded(k.Level+bounded((level-ls*steeper)/ll, -0.5, 0.5), -maxLevel, maxLevel) - k.Level
		steeper = bounded(k.Slope+bounded((slope-ls*up)/ss, -0.25, 0.25), -maxSlope, maxSlope) - k.Slope
		k.Level, k.Slope = k.Level+up, k.Slope+steeper
		if math.Abs(up)+math.Abs(steeper) < 1e-6 {
			break
		}
	}
	return k
}

// ascent is the gradient of the log-likelihood of a correction by its level and slope, and the information that is expected.
func (c *Calibration) ascent(k Correction) (level, slope, ll, ls, ss float64) {
	const certainty = 1 / (usualCorrection * usualCorrection)
	level, slope, ll, ss = -certainty*k.Level, -certainty*k.Slope, certainty, certainty
	for _, d := range c.Deciles {
		if d.Visits <= 0 {
			continue
		}
		mean := bounded(d.Predicted/float64(d.Visits), surest, 1-surest)
		x := math.Log(-math.Log1p(-mean))
		hazard := bounded(math.Exp(k.Level+(1+k.Slope)*x), surest, -math.Log(surest))
		odds := 1 / math.Expm1(hazard) // of no change
		changed, visits := correctionShare*float64(d.Changed), correctionShare*float64(d.Visits)
		pull := hazard * (changed*odds - (visits - changed))
		weight := visits * hazard * hazard * odds
		level, slope = level+pull, slope+pull*x
		ll, ls, ss = ll+weight, ls+weight*x, ss+weight*x*x
	}
	return level, slope, ll, ls, ss
}
