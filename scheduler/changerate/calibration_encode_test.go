package changerate

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func judged(visits int) *Calibration {
	c := new(Calibration)
	for i := range visits {
		c.Add(float64(i%97)/97, i%3 == 0)
	}
	return c
}

func TestCalibrationIsStored(t *testing.T) {
	t.Parallel()
	for _, visits := range []int{0, 1, 1000} {
		want := judged(visits)
		body, err := want.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var got Calibration
		if err := got.UnmarshalBinary(body); err != nil || got != *want {
			t.Errorf("%d visits read back as %+v, %v, want %+v", visits, got, err, *want)
		}
		kept := got
		for cut := range body {
			if err := got.UnmarshalBinary(body[:cut]); err == nil || got != kept {
				t.Fatalf("the first %d of %d bytes read as %+v, %v, want an error", cut, len(body), got, err)
			}
		}
	}
	weights, _ := Defaults().MarshalBinary()
	if err := new(Calibration).UnmarshalBinary(weights); !errors.Is(err, ErrOtherModel) {
		t.Errorf("weights read as a calibration: %v, want ErrOtherModel", err)
	}
}

// Sums that nobody can have made are refused, so that none is added to them.
func TestCalibrationOfTooMuch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Calibration{
		"more changes than visits": {Deciles: [deciles]Decile{3: {Visits: 5, Predicted: 2, Changed: 6}}},
		"more foreseen":            {Deciles: [deciles]Decile{3: {Visits: 5, Predicted: 7, Changed: 1}}},
		"too many visits":          {Deciles: [deciles]Decile{3: {Visits: math.MaxInt64 - 5, Predicted: 7, Changed: 1}}},
	} {
		body, err := c.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := new(Calibration).UnmarshalBinary(body); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}

// What a worker adds to what it read is what it saw since.
func TestCalibrationSince(t *testing.T) {
	t.Parallel()
	earlier, now := judged(300), judged(1000)
	added := now.Since(earlier)
	if added.Visits() != 700 || !now.Has(earlier) || earlier.Has(now) {
		t.Errorf("%d visits were added, want 700", added.Visits())
	}
	sum := *earlier
	sum.Merge(&added)
	if diff := cmp.Diff(*now, sum, cmpopts.EquateApprox(1e-12, 1e-9)); diff != "" {
		t.Errorf("the earlier one and what was added differ from the later one (-want +got):\n%s", diff)
	}
}

// Where the sums that were added to are lost, nothing is left of them, and nothing is less than that.
func TestCalibrationSinceMore(t *testing.T) {
	t.Parallel()
	less := judged(300).Since(judged(1000))
	if less != (Calibration{}) {
		t.Errorf("of 300 visits, 1000 were there before: %+v, want nothing", less)
	}
}
