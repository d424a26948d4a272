package simulate

import (
	"testing"
	"time"
)

// BenchmarkRun is how many visits a second the worker simulates: a world of ten thousand pages, each visited every day.
func BenchmarkRun(b *testing.B) {
	for _, policy := range []string{"uniform", "classic", "nutch", Oracle, "adaptive"} {
		b.Run(policy, func(b *testing.B) {
			made, err := Make(Plan{World: "poisson", Pages: 10_000, Hosts: 100, Days: 20, Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			visits := 0
			for b.Loop() {
				course, err := Run(b.Context(), Setup{Trace: made.Trace, Policy: policy, PerDay: 10_000, Cycle: 15 * time.Minute})
				if err != nil {
					b.Fatal(err)
				}
				visits += len(course.Log)
			}
			b.ReportMetric(float64(visits)/b.Elapsed().Seconds(), "visits/s")
		})
	}
}
