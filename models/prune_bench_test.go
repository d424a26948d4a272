package models

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
)

// BenchmarkPruneVisits removes half of a history of RECRAWLD_HISTORY rows (default 50,000), two a page, while somebody else
// writes again and again: rows/s, and how long the slowest of those writes took.
func BenchmarkPruneVisits(b *testing.B) {
	n := sized(b, "RECRAWLD_HISTORY", 50_000)
	for name, dsn := range engines() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := openBackup(b, dsn(b))
				fillHistory(b, s, n)
				b.StartTimer()
				pruneBeside(b, s, n/2)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// pruneBeside prunes to so many rows, with a writer beside.
func pruneBeside(b *testing.B, s *Store, want int) {
	var removed int64
	var err error
	slowest := besideWrites(b, s, func() { removed, err = s.PruneVisits(b.Context(), planStart, sliceRows) })
	if err != nil || removed != int64(want) {
		b.Errorf("PruneVisits removed %d, %v, want %d", removed, err, want)
	}
	b.ReportMetric(slowest.Seconds()*1000, "ms-slowest")
}

// besideWrites does something while somebody else writes again and again, and returns how long the slowest of those writes took.
func besideWrites(b *testing.B, s *Store, do func()) (slowest time.Duration) {
	var machine clock.System
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			began := machine.Now()
			if _, err := s.SetMeta(b.Context(), "beside"+strconv.Itoa(i%100), "", "x"); err != nil {
				b.Error(err)
				return
			}
			slowest = max(slowest, machine.Now().Sub(began))
		}
	})
	do()
	close(done)
	group.Wait()
	return slowest
}

// fillHistory writes a history of n rows: of each page an old visit and a later one.
func fillHistory(b *testing.B, s *Store, n int) {
	for from := 0; from < n/2; from += sliceRows {
		var visits []Visit
		for page := from; page < min(from+sliceRows, n/2); page++ {
			bucket := int16(page * Buckets / (n/2 + 1))
			for number := range int32(2) {
				at := planStart.Add(time.Duration(2*number-1) * time.Hour)
				visits = append(visits, Visit{Bucket: bucket, PageID: HostID(strconv.Itoa(page)), Number: number + 1, At: At(at), Kind: NotModified, Status: 304})
			}
		}
		if err := s.inTx(b.Context(), func(t *tx) error { return visitTable.insert(b.Context(), t, visits) }); err != nil {
			b.Fatal(err)
		}
	}
}
