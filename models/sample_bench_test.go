package models

import (
	"testing"
)

// BenchmarkSample draws 1024 pages of each bucket out of 600,000. µs-cpu is the processor time of this process for one that is drawn.
func BenchmarkSample(b *testing.B) {
	const n, perBucket = 600_000, 1024
	for name, dsn := range engines() {
		s := openBackup(b, dsn(b))
		for from := 0; from < n; from += sliceRows {
			var rows []Page
			for i := from; i < min(from+sliceRows, n); i++ {
				p := examplePage(i, 1000)
				p.Bucket = int16(i % Buckets)
				rows = append(rows, p)
			}
			if err := s.inTx(b.Context(), func(t *tx) error { return pageTable.insert(b.Context(), t, rows) }); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(name, func(b *testing.B) {
			before, drawn := processorTime(b), 0
			for b.Loop() {
				for bucket := range int16(Buckets) {
					pages, err := s.Sample(b.Context(), bucket, perBucket)
					if err != nil {
						b.Fatal(err)
					}
					drawn += len(pages)
				}
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(drawn), "µs-cpu/page")
		})
	}
}
