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
		if d.Changed < 0 || d.Changed > d.Visits {
			r.fail("more changes than visits")
		}
	}
	read.Squares, read.Logs = r.sum(), r.sum()
	if err := r.end(); err != nil {
		return fmt.Errorf("read a calibration: %w", err)
	}
	*c = read
	return nil
}

// Since is what was added to an earlier state of the same calibration.
func (c *Calibration) Since(earlier *Calibration) Calibration {
	added := *c
	for i, d := range earlier.Deciles {
		added.Deciles[i].Visits -= d.Visits
		added.Deciles[i].Predicted = max(0, added.Deciles[i].Predicted-d.Predicted)
		added.Deciles[i].Changed -= d.Changed
	}
	added.Squares = max(0, added.Squares-earlier.Squares)
	added.Logs = max(0, added.Logs-earlier.Logs)
	return added
}
