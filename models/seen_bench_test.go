package models

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSeenChanges reads RECRAWLD_EVENTS events (default 30,000) of a third as many pages, two of three of them changes; and what
// came last of them, a 72nd, as an hour is of three days. µs-cpu is the processor time of this process for an event.
func BenchmarkSeenChanges(b *testing.B) {
	n := sized(b, "RECRAWLD_EVENTS", 30_000)
	for name, dsn := range engines() {
		s := openBackup(b, dsn(b))
		hour := n / 72
		fillEvents(b, s, n/3, n-hour)
		at, err := s.Newest(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		fillEvents(b, s, 0, hour)
		for part, read := range map[string]struct {
			after  FeedCursor
			events int
		}{"anew": {FeedCursor{}, n}, "hour": {at, hour}} {
			b.Run(name+"/"+part, func(b *testing.B) {
				before := processorTime(b)
				for b.Loop() {
					if _, err := s.SeenChanges(b.Context(), read.after, 0, nil, func(SeenChange) {}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N)/float64(read.events), "µs-cpu/event")
				b.ReportMetric((processorTime(b)-before).Seconds()*1000/float64(b.N), "ms-cpu")
			})
		}
	}
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// fillEvents writes pages, and events as long as those of pages are, of each page one after the other.
func fillEvents(b *testing.B, s *Store, pages, n int) {
	bucketOf := func(page int) int16 { return int16(page % Buckets) }
	for from := 0; from < max(pages, n); from += sliceRows {
		var rows []Page
		byBucket := make(map[int16][]Event)
		for i := from; i < min(from+sliceRows, pages); i++ {
			p := examplePage(i, 1000)
			p.Bucket, p.ID = bucketOf(i), int64(i)*7919
			rows = append(rows, p)
		}
		for i := from; i < min(from+sliceRows, n); i++ {
			page := i % max(n/3, 1)
			bucket, at := bucketOf(page), At(planStart.Add(time.Duration(i)*time.Second))
			byBucket[bucket] = append(byBucket[bucket], Event{Bucket: bucket, At: at, Kind: []EventKind{EventChanged, EventRefreshed, EventChanged}[i%3],
				SiteID: int32(i % 100), PageID: int64(page) * 7919, URL: fmt.Sprintf("https://www%d.example.org/a/folder/of/pages/page-%d.html", i%1000, i),
				Version: 3, Previous: 2, NotBefore: at - 3600_000, NotAfter: at, Status: 200, ContentType: "text/html",
				LastModified: "Mon, 05 Jan 2026 12:00:00 GMT", Digest: DigestOf([]byte{byte(i)}), Bytes: 20_000,
				Record: Record{File: "recrawld-20260105-0001.warc.gz", Offset: int64(i) * 9000, Length: 8000}})
		}
		err := s.inTx(b.Context(), func(t *tx) error {
			events, err := t.number(b.Context(), byBucket)
			if err != nil {
				return err
			}
			return errors.Join(pageTable.insert(b.Context(), t, rows), eventTable.insert(b.Context(), t, events))
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
