package slo

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Pages with log-normal rates, seen for 20 days: of the pages seen alike the mean estimate is the mean of their rates,
// and so is that of all.
func TestRates(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(7, 1))
	const visits = 20
	var seen []Seen
	var truth []float64
	for range 20000 {
		rate := 0.05 * math.Exp(1.5*draw.NormFloat64())
		s := Seen{Compared: visits, Gap: 24 * time.Hour}
		for range visits {
			if draw.Float64() < -math.Expm1(-rate) {
				s.Changed++
			}
		}
		seen, truth = append(seen, s), append(truth, rate)
	}
	got, known := Rates(seen)
	if !known {
		t.Fatal("nothing is known")
	}
	var sums, wants [visits + 1]float64
	total, want := 0.0, 0.0
	for i, s := range seen {
		sums[s.Changed] += got[i]
		wants[s.Changed] += truth[i]
		total += got[i]
		want += truth[i]
	}
	if !near(total, want, 0.05) {
		t.Errorf("%v changes a day in all, want %v", total, want)
	}
	for changed := range 10 {
		if !near(sums[changed], wants[changed], 0.2) {
			t.Errorf("pages with %d changes: %v changes a day, want %v", changed, sums[changed], wants[changed])
		}
	}
}

func TestRatesOfLittle(t *testing.T) {
	t.Parallel()
	if got, known := Rates([]Seen{{}, {Gap: time.Hour}}); known || len(got) != 2 || got[0] != 0 {
		t.Errorf("Rates of pages that were not compared = %v, %v", got, known)
	}
	if got, known := Rates(nil); known || len(got) != 0 {
		t.Errorf("Rates of none = %v, %v", got, known)
	}
	got, known := Rates([]Seen{
		{Compared: 10, Changed: 10, Gap: 24 * time.Hour}, {Compared: 10, Gap: 24 * time.Hour}, {}, {Compared: 100000, Changed: 50000, Gap: time.Hour},
		{Compared: 1, Changed: 5, Gap: time.Nanosecond},
	})
	for i, rate := range got {
		if !known || !(rate > 0) || rate > fastest {
			t.Errorf("Rates()[%d] = %v", i, rate)
		}
	}
	if !(got[0] > got[2] && got[2] > got[1]) {
		t.Errorf("always, never, unknown: %v, %v, %v changes a day", got[0], got[1], got[2])
	}
}
