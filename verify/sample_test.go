package verify

import (
	"math"
	"testing"
)

func TestSampleAsItIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Sample{
		"1000": {Number: 1000}, "5%": {Share: 0.05}, "0.1 %": {Share: 0.001}, "100%": {Share: 1},
		"": {}, "0": {}, "-3": {}, "0%": {}, "101%": {}, "NaN%": {}, "many": {}, "5.5": {}, "100001": {},
	} {
		var s Sample
		if err := s.UnmarshalText([]byte(text)); s != want || (err == nil) != (want != Sample{}) {
			t.Errorf("%q is read as %+v, %v; want %+v", text, s, err, want)
		}
	}
}

// TestDrawsAreFair: each of what is shown is drawn as often as any other, within six standard deviations, and as many as were asked for.
func TestDrawsAreFair(t *testing.T) {
	t.Parallel()
	const shown, rounds = 20, 20_000
	for _, s := range []Sample{{Number: 5}, {Share: 0.25}} {
		var counts [shown]float64
		for range rounds {
			d := NewDraw[int](s)
			for i := range shown {
				if d.Take(i) {
					counts[i]++
				}
			}
			for _, i := range d.Held() {
				counts[i]++
			}
			if n := len(d.Held()); n != s.Number {
				t.Fatalf("%d are drawn, want %d", n, s.Number)
			}
		}
		for i, n := range counts {
			if wide := 6 * math.Sqrt(rounds*0.25*0.75); math.Abs(n-rounds*0.25) > wide {
				t.Errorf("%+v draws number %d %v times of %d, want a quarter", s, i, n, rounds)
			}
		}
	}
	d := NewDraw[int](Sample{Number: 5})
	for i := range 3 {
		d.Take(i)
	}
	if len(d.Held()) != 3 {
		t.Errorf("of 3 are drawn %v, want all", d.Held())
	}
}
