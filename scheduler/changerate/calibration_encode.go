package changerate

import "fmt"

// calibrationForm is the first byte of a stored Calibration.
const calibrationForm = 0x31

// MarshalBinary writes the sums, some 250 bytes. The error is always nil.
func (c *Calibration) MarshalBinary() ([]byte, error) {
	out := make(writer, 0, 1+8*(3*deciles+2))
	out.byte(calibrationForm)
	for _, d := range c.Deciles {
		out.uint64(uint64(d.Visits))
		out.number(d.Predicted)
		out.uint64(uint64(d.Changed))
	}
	out.number(c.Squares)
	out.number(c.Logs)
	return out, nil
}

// mostJudged is more than the visits that can be judged, and so few that their sums are exact.
const mostJudged = 1 << 52

// UnmarshalBinary reads what MarshalBinary wrote. After an error the calibration is as it was.
func (c *Calibration) UnmarshalBinary(stored []byte) error {
	r := &reader{rest: stored}
	r.form(calibrationForm)
	var read Calibration
	for i := range read.Deciles {
		d := &read.Deciles[i]
		d.Visits = int64(r.uint64())
		d.Predicted = r.sum()
		d.Changed = int64(r.uint64())
		if d.Changed < 0 || d.Changed > d.Visits || d.Visits > mostJudged || d.Predicted > float64(d.Visits)+1 {
			r.fail("more changes than visits, or too many of them")
		}
	}
	read.Squares, read.Logs = r.sum(), r.sum()
	if err := r.end(); err != nil {
		return fmt.Errorf("read a calibration: %w", err)
	}
	*c = read
	return nil
}

// Since is what was added to an earlier state of the same calibration; nothing in a decile that has fewer visits now, as where
// the earlier sums were lost.
func (c *Calibration) Since(earlier *Calibration) Calibration {
	added := *c
	for i, d := range earlier.Deciles {
		added.Deciles[i] = added.Deciles[i].since(d)
	}
	added.Squares = max(0, added.Squares-earlier.Squares)
	added.Logs = max(0, added.Logs-earlier.Logs)
	return added
}

// Has tells whether the visits of a part may be among these: no decile has fewer.
func (c *Calibration) Has(part *Calibration) bool {
	for i, d := range part.Deciles {
		if c.Deciles[i].Visits < d.Visits || c.Deciles[i].Changed < d.Changed {
			return false
		}
	}
	return true
}

func (d Decile) since(earlier Decile) Decile {
	visits := max(0, d.Visits-earlier.Visits)
	return Decile{
		Visits:    visits,
		Predicted: bounded(d.Predicted-earlier.Predicted, 0, float64(visits)),
		Changed:   min(max(0, d.Changed-earlier.Changed), visits),
	}
}
