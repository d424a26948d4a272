package report

import (
	"testing"

	"recrawld/scheduler/changerate"
)

func TestCalibration(t *testing.T) {
	t.Parallel()
	var c changerate.Calibration
	goldenDocument(t, "calibration-none", calibrationDocument(c, testOptions))
	for i := range 1000 {
		c.Add(0.12, i%8 == 0)
		c.Add(0.55, i%4 > 0) // 20 points off
	}
	for i := range 9 {
		c.Add(0.97, i > 0) // 8 points off, as may be by chance
	}
	goldenDocument(t, "calibration", calibrationDocument(c, testOptions))
}
