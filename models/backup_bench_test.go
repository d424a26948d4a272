package models

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

func benchBackup(b *testing.B, dsn string) (*Store, []byte, int64) {
	b.Helper()
	s := openBackup(b, dsn)
	err := s.inTx(b.Context(), func(t *tx) error {
		var visits []Visit
		var pages []Page
		for i := range int64(100_000) {
			visits = append(visits, Visit{Bucket: int16(i % 256), PageID: i * 7919, Number: 1, At: At(backupNow), Kind: First, Status: 200, Took: 1e6, Bytes: 5000})
			if i%5 == 0 {
				pages = append(pages, Page{Bucket: int16(i % 256), ID: i * 7919, HostID: i, URL: fmt.Sprintf("https://example.org/docs/%d.html", i),
					State: StateLive, FRMax: 4, Digest: DigestOf([]byte{byte(i)}), ETag: `"abcdef"`, ContentType: "text/html"})
			}
		}
		return errors.Join(visitTable.insert(b.Context(), t, visits), pageTable.insert(b.Context(), t, pages))
	})
	if err != nil {
		b.Fatal(err)
	}
	raw, sum := takeBackup(b, s)
	return s, raw, sum.Total()
}

func BenchmarkBackup(b *testing.B) {
	for engine, dsn := range engines() {
		b.Run(engine, func(b *testing.B) {
			s, _, rows := benchBackup(b, dsn(b))
			for b.Loop() {
				if _, err := s.Backup(b.Context(), io.Discard, backupNow); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkRestore(b *testing.B) {
	for engine, dsn := range engines() {
		b.Run(engine, func(b *testing.B) {
			_, raw, rows := benchBackup(b, dsn(b))
			for b.Loop() {
				b.StopTimer()
				target := openBackup(b, dsn(b))
				b.StartTimer()
				if _, err := target.Restore(b.Context(), bytes.NewReader(raw), backupNow); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
