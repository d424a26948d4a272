package models

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"
	"time"
)

var backupNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func openBackup(t testing.TB, dsn string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Migrate(t.Context(), backupNow); err != nil {
		t.Fatal(err)
	}
	return s
}

// fillBackup writes rows of all tables with telling values.
func fillBackup(t testing.TB, s *Store, n int) {
	t.Helper()
	ctx := t.Context()
	insert := func(f func(*tx) error) {
		t.Helper()
		if err := s.inTx(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	var hosts []Host
	var robots []Robots
	var pages []Page
	var visits []Visit
	var versions []Version
	var contents []contentRow
	var links []linksRow
	var events []Event
	var daily []Daily
	var knowledge []Knowledge
	var memories []Memory
	var filings []filingRow
	for i := range n {
		bucket, digest := int16(i%7), DigestOf([]byte(fmt.Sprint(i)))
		h := Host{Bucket: bucket, ID: int64(i), Name: fmt.Sprintf("h%d.example", i), ReadyAt: 5, Delay: time.Second, Pages: 1,
			Ahead: i%2 == 0, Learned: int32(i % 5), Requisites: int32(i % 3 % 2)}
		if i%4 == 0 {
			h.Trials.Note(Finding{Hint(i % int(hints)), HintMiss}, backupNow)
		}
		if i%3 == 0 {
			h.LeaseToken, h.LeaseUntil, h.LeaseOwner, h.ReadyAt = 7, At(backupNow.Add(time.Minute)), "w0", At(backupNow.Add(2*time.Minute))
		}
		hosts = append(hosts, h)
		robots = append(robots, Robots{Bucket: bucket, HostID: int64(i), Origin: "https://" + h.Name, Status: 200,
			Body: [][]byte{nil, {}, []byte("User-agent: *\r\n\xff\x00")}[i%3]})
		p := Page{Bucket: bucket, ID: math.MaxInt64 - int64(i), HostID: int64(i), SiteID: 1, URL: fmt.Sprintf("https://%s/ü?%d", h.Name, i),
			State: StateLive, DueAt: At(backupNow.Add(time.Duration(i) * time.Minute)), FRMax: 4, Rule: RulePolicy, Visits: 1,
			Version: 1, NoArchive: i%2 == 0, Wanted: -time.Second, Requisite: i%3 == 1, UnnamedAt: Instant(i % 3 % 2 * i), NamedAt: Instant(i % 2 * i)}
		p.Evidence, p.Importance = Evidence{Changes: -1.0 / float32(i+3), Days: float32(i) * 0.1}, 1/float32(i+1)
		p.Stats.Bits = math.MaxUint64 - uint64(i)
		p.ByteChanges, p.BytesAt, p.LinkPrint = int32(i), At(backupNow), math.MinInt64+int64(i)
		p.Chain = [][]int64{nil, {1, math.MaxInt64}}[i%2]
		if i%4 != 0 {
			p.Digest, p.Print, p.Canonical = digest, Print(digest[:16]), "https://ü.example/"
		}
		pages = append(pages, p)
		visits = append(visits, Visit{Bucket: bucket, PageID: p.ID, Number: 1, At: At(backupNow), Kind: First, Status: 200, Rule: RulePolicy})
		record := Record{File: "recrawld-w0-20260301120000-00001.warc.gz", Offset: int64(i) << 33, Length: 99}
		versions = append(versions, Version{Bucket: bucket, PageID: p.ID, Number: 1, At: At(backupNow), Digest: digest, Significant: i%2 == 1, Record: record,
			Significance: 1 / float32(i+1), Reasons: Reasons(i % 1024)})
		contents = append(contents, contentRow{Content: Content{Digest: digest, Record: record, URL: p.URL}, bucket: int16(digest[0])})
		f := Filing{Key: math.MinInt64 + int64(i), PageBucket: bucket, PageID: p.ID}
		filings = append(filings, filingRow{f, f.Bucket()})
		links = append(links, linksRow{bucket, p.ID, packChildren([]rowKey{{3, int64(i)}, {255, math.MaxInt64}})})
		events = append(events, Event{Bucket: bucket, Seq: int64(i/7 + 1), Kind: EventNew, URL: p.URL, Requisite: p.Requisite, Digest: p.Digest,
			Record: record, Significance: 1 / float32(i+1), Reasons: ReasonText | ReasonBytes, Note: "ü"})
		knowledge = append(knowledge, Knowledge{Bucket: bucket, HostID: int64(i), Body: []byte{0, 0xff, byte(i)}})
		memories = append(memories, Memory{Bucket: bucket, HostID: int64(i), PageID: []int64{p.ID, HostMemoryID, OrdersID}[i%3],
			Body: []byte{byte(i), 0, 0xff}})
		daily = append(daily, Daily{Bucket: bucket, SiteID: 9, Day: int32(i), Asked: 1})
	}
	insert(func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE buckets SET next_seq = $1`, n)
		return errors.Join(err, hostTable.insert(ctx, t, hosts), robotsTable.insert(ctx, t, robots), pageTable.insert(ctx, t, pages),
			visitTable.insert(ctx, t, visits), versionTable.insert(ctx, t, versions), contentTable.insert(ctx, t, contents),
			linksTable.insert(ctx, t, links), eventTable.insert(ctx, t, events), dailyTable.insert(ctx, t, daily),
			filingTable.insert(ctx, t, filings), knowledgeTable.insert(ctx, t, knowledge), memoryTable.insert(ctx, t, memories), noteTable.insert(ctx, t, []Note{{Name: "price", Body: []byte{0, 1}}}))
	})
	fillRest(t, s)
}

// fillRest writes what is no row of a page or host.
func fillRest(t testing.TB, s *Store) {
	t.Helper()
	ctx := t.Context()
	if _, err := s.AddSite(ctx, backupNow, Site{Name: "one", URL: "https://h0.example/"}); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"clock": "x", "sink-lease:mirror": "9999999999999 w0"} {
		if _, err := s.SetMeta(ctx, key, "", value); err != nil {
			t.Fatal(err)
		}
	}
	cursors := s.inTx(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `INSERT INTO sink_cursors (sink, bucket, seq) VALUES ('mirror', 3, 4), ('mirror', 250, 1)`)
		return err
	})
	if err := errors.Join(cursors, s.Beat(ctx, Worker{Name: "w0"})); err != nil {
		t.Fatal(err)
	}
}

func takeBackup(t testing.TB, s *Store) ([]byte, BackupSummary) {
	t.Helper()
	var out bytes.Buffer
	sum, err := s.Backup(t.Context(), &out, backupNow)
	if err != nil {
		t.Fatalf("Backup: %v", err)
	}
	return out.Bytes(), sum
}

func unzip(t testing.TB, raw []byte) []byte {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func zipped(t testing.TB, plain []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	_, err := zw.Write(plain)
	if err := errors.Join(err, zw.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
