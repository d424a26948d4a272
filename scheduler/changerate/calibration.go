package changerate

import "math"

// deciles of the predicted probability.
const deciles = 10

// Calibration compares predicted probabilities of a change with what visits found. It is sums alone: Merge adds up
// those of several workers. The zero value is empty.
type Calibration struct {
	Deciles [deciles]Decile // by predicted probability: [0, 0.1), [0.1, 0.2) … [0.9, 1]
	Squares float64         // Σ (predicted − found)²
	Logs    float64         // Σ −log of the probability given to what was found, in nats
}

// Decile sums the visits whose predicted probability lies in one tenth.
type Decile struct {
	Visits    int64
	Predicted float64 // Σ of the predicted probabilities
	Changed   int64
}

// surest bounds what a single wrong prediction adds to the logarithmic loss: 13.8 nats.
const surest = 1e-6

// Add takes in one visit. A prediction outside of [0, 1] counts as the nearer end, one that is not a number as 0.
func (c *Calibration) Add(predicted float64, changed bool) {
	p := bounded(predicted, 0, 1)
	d := &c.Deciles[min(int(p*deciles), deciles-1)]
	d.Visits++
	d.Predicted += p
	found, given := 0.0, 1-p
	if changed {
		d.Changed++
		found, given = 1, p
	}
	c.Squares += (p - found) * (p - found)
	c.Logs -= math.Log(max(surest, given))
}

// Merge adds the visits of another one.
func (c *Calibration) Merge(other *Calibration) {
	for i, d := range other.Deciles {
		c.Deciles[i].Visits += d.Visits
		c.Deciles[i].Predicted += d.Predicted
		c.Deciles[i].Changed += d.Changed
	}
	c.Squares += other.Squares
	c.Logs += other.Logs
}

// Visits is how many there are.
func (c *Calibration) Visits() (visits int64) {
	for _, d := range c.Deciles {
		visits += d.Visits
	}
	return visits
}

// Brier is the mean squared error of the predictions (Brier, Monthly Weather Review 78, 1950), in [0, 1]; 0 without
// any.
func (c *Calibration) Brier() float64 { return c.Squares / float64(max(1, c.Visits())) }

// LogLoss is the mean logarithmic loss in nats, ≥ 0; 0 without any.
func (c *Calibration) LogLoss() float64 { return c.Logs / float64(max(1, c.Visits())) }

// Off is by how much more changes were predicted than found in a decile, as a probability; 0 without visits.
func (d Decile) Off() float64 {
	return (d.Predicted - float64(d.Changed)) / float64(max(1, d.Visits))
}

// enough visits in a decile for its difference to be more than chance: a standard deviation of a probability is below
// half a point per cent then.
const enough = 10_000

// Worst is the largest difference between predicted and found share in any decile, as a probability. Deciles with
// fewer than 10,000 visits count less, by the square root of the visits they have: their differences are mostly chance.
func (c *Calibration) Worst() (worst float64) {
	for _, d := range c.Deciles {
		weight := math.Sqrt(min(1, float64(d.Visits)/enough))
		worst = max(worst, weight*math.Abs(d.Off()))
	}
	return worst
}
