package models

import "testing"

// A host's pages come and go where as many were found and then lost as are there, and others came for them; not while all that are looked at are
// lost, nor where none come.
func TestLossesTurned(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		losses Losses
		want   float64
	}{
		"twice":                        {Losses{Lost: 70, Found: 90, Later: 60, New: 60}, 2},
		"not yet once":                 {Losses{Lost: 30, Found: 60, Later: 20, New: 30}, 0},
		"few":                          {Losses{Lost: 9, Found: 12, Later: 9, New: 9}, 0},
		"none come":                    {Losses{Lost: 40, Found: 60, Later: 40, New: 19}, 0},
		"and now all of them are lost": {Losses{Lost: 100, Found: 90, Later: 90, New: 60, InARow: 30}, 0},
		"all were lost at once":        {Losses{Lost: 40}, 0},
	} {
		if got := test.losses.Turned(); got != test.want {
			t.Errorf("%s: Turned = %v, want %v", name, got, test.want)
		}
	}
}

// However much is lost as a rule, all that is looked at is too much; and half as much again as is lost at once now and then.
func TestLossLimitIsNeverAll(t *testing.T) {
	t.Parallel()
	if got := LossLimit(0.25, 1, 14); got != vanishMost {
		t.Errorf("limit of all in a day as a rule = %v, want %v", got, vanishMost)
	}
	if got := LossLimit(0.25, UsualAtOnce(0.4, 2), 2); got < 0.599 || got > 0.601 {
		t.Errorf("limit where 0.4 goes in two days now and then = %v, want 0.6", got)
	}
}
