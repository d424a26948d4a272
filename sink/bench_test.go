package sink

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"recrawld/archive"
	"recrawld/models"
)

// inMemory is an archive whose every body is the same.
type inMemory struct{ archive.Answer }

func (m inMemory) Read(models.Record) (archive.Answer, error) { return m.Answer, nil }

// BenchmarkDeliver mirrors pages of 8 KiB that were not there before, in 2,000 directories as a first crawl finds them, and
// then again as they have changed. cpu-us/file is the processor time of a file.
func BenchmarkDeliver(b *testing.B) {
	const batch, pages = MirrorBatch, 8 * MirrorBatch
	a := inMemory{archive.Answer{Status: 200, Proto: "HTTP/1.1", Body: []byte(strings.Repeat("text. ", 8192/6))}}
	m := openMirror(b, b.TempDir(), a)
	began, files := processorTime(b), 0
	for b.Loop() {
		at := files % pages
		events := make([]models.Event, batch)
		for i := range events {
			page := at + i
			events[i] = models.Event{At: models.At(noon), Kind: models.EventChanged, URL: fmt.Sprintf("https://h%d.org/section/%d/page-%d.html",
				page%20, page/20%100, page), Version: 1, Status: 200, ContentType: "text/html", Record: models.Record{File: "x", Length: 1}}
		}
		deliver(b, m, events...)
		files += batch
	}
	b.ReportMetric((processorTime(b)-began)/float64(files), "cpu-us/file")
}

// processorTime is what this process has used, in microseconds.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec)*1e6 + float64(u.Utime.Usec+u.Stime.Usec)
}
