package models

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recrawld/internal/pgtest"
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

// engines are where backups come from and go to: an address of a fresh database on each.
func engines(t testing.TB) map[string]func(testing.TB) string {
	t.Helper()
	return map[string]func(testing.TB) string{
		"sqlite":   func(t testing.TB) string { return filepath.Join(t.TempDir(), "recrawld.db") },
		"postgres": func(t testing.TB) string { return pgtest.DSN(t) },
	}
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
	var links []Link
	var events []Event
	var daily []Daily
	var knowledge []Knowledge
	for i := range n {
		bucket, digest := int16(i%7), DigestOf([]byte(fmt.Sprint(i)))
		h := Host{Bucket: bucket, ID: int64(i), Name: fmt.Sprintf("h%d.example", i), ReadyAt: 5, Delay: time.Second, Pages: 1,
			Ahead: i%2 == 0, Learned: int32(i % 5)}
		if i%3 == 0 {
			h.LeaseToken, h.LeaseUntil, h.LeaseOwner, h.ReadyAt = 7, At(backupNow.Add(time.Minute)), "w0", At(backupNow.Add(2*time.Minute))
		}
		hosts = append(hosts, h)
		robots = append(robots, Robots{Bucket: bucket, HostID: int64(i), Origin: "https://" + h.Name, Status: 200,
			Body: [][]byte{nil, {}, []byte("User-agent: *\r\n\xff\x00")}[i%3]})
		p := Page{Bucket: bucket, ID: math.MaxInt64 - int64(i), HostID: int64(i), SiteID: 1, URL: fmt.Sprintf("https://%s/ü?%d", h.Name, i),
			State: StateLive, DueAt: At(backupNow.Add(time.Duration(i) * time.Minute)), FRMax: 4, Rule: RulePolicy, Visits: 1,
			Version: 1, NoArchive: i%2 == 0, Wanted: -time.Second}
		p.Evidence, p.Importance = Evidence{Changes: -1.0 / float32(i+3), Days: float32(i) * 0.1}, 1/float32(i+1)
		p.Stats.Bits = math.MaxUint64 - uint64(i)
		p.Chain = [][]int64{nil, {1, math.MaxInt64}}[i%2]
		if i%4 != 0 {
			p.Digest = digest
		}
		pages = append(pages, p)
		visits = append(visits, Visit{Bucket: bucket, PageID: p.ID, Number: 1, At: At(backupNow), Kind: First, Status: 200, Rule: RulePolicy})
		record := Record{File: "recrawld-w0-20260301120000-00001.warc.gz", Offset: int64(i) << 33, Length: 99}
		versions = append(versions, Version{Bucket: bucket, PageID: p.ID, Number: 1, At: At(backupNow), Digest: digest, Significant: i%2 == 1, Record: record})
		contents = append(contents, contentRow{Content: Content{Digest: digest, Record: record, URL: p.URL}, bucket: int16(digest[0])})
		links = append(links, Link{Bucket: bucket, ParentID: p.ID, ChildBucket: 3, ChildID: int64(i)})
		events = append(events, Event{Bucket: bucket, Seq: int64(i/7 + 1), Kind: EventNew, URL: p.URL, Digest: p.Digest, Record: record})
		knowledge = append(knowledge, Knowledge{Bucket: bucket, HostID: int64(i), Body: []byte{0, 0xff, byte(i)}})
		daily = append(daily, Daily{Bucket: bucket, SiteID: 9, Day: int32(i), Asked: 1})
	}
	insert(func(t *tx) error {
		_, err := t.sql.ExecContext(ctx, `UPDATE buckets SET next_seq = $1`, n)
		return errors.Join(err, hostTable.insert(ctx, t, hosts), robotsTable.insert(ctx, t, robots), pageTable.insert(ctx, t, pages),
			visitTable.insert(ctx, t, visits), versionTable.insert(ctx, t, versions), contentTable.insert(ctx, t, contents),
			linkTable.insert(ctx, t, links), eventTable.insert(ctx, t, events), dailyTable.insert(ctx, t, daily),
			knowledgeTable.insert(ctx, t, knowledge), noteTable.insert(ctx, t, []Note{{Name: "price", Body: []byte{0, 1}}}))
	})
	if _, err := s.AddSite(ctx, backupNow, Site{Name: "one", URL: "https://h0.example/"}); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"clock": "x", "sink-lease:mirror": "9999999999999 w0"} {
		if _, err := s.SetMeta(ctx, key, "", value); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(s.SetCursors(ctx, "mirror", map[int16]int64{3: 4, 250: 1}), s.Beat(ctx, Worker{Name: "w0"}))
	if err != nil {
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

func TestABackupIsRestoredOnAnyEngine(t *testing.T) {
	t.Parallel()
	for from, fromDSN := range engines(t) {
		for to, toDSN := range engines(t) {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				source, target := openBackup(t, fromDSN(t)), openBackup(t, toDSN(t))
				fillBackup(t, source, 2500)
				raw, taken := takeBackup(t, source)
				kept := bytes.Clone(raw)
				restored, err := target.Restore(t.Context(), bytes.NewReader(raw), backupNow)
				if err != nil {
					t.Fatalf("Restore: %v", err)
				}
				if d := cmp.Diff(taken, restored, cmpopts.IgnoreUnexported(BackupTable{})); d != "" || taken.Rows["pages"] != 2500 {
					t.Errorf("summaries differ (-taken +restored), %d pages:\n%s", taken.Rows["pages"], d)
				}
				if !bytes.Equal(raw, kept) {
					t.Error("restoring changed the backup")
				}
				checkRestored(t, source, target)
			})
		}
	}
}

// checkRestored compares two databases, and looks at what a restore must not take over.
func checkRestored(t *testing.T, source, target *Store) {
	t.Helper()
	ctx := t.Context()
	if _, err := source.Recover(ctx, backupNow, ""); err != nil { // what a restore does to leases
		t.Fatal(err)
	}
	want, err := source.Dump(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got, err := target.Dump(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("databases differ (-source +restored):\n%.3000s", d)
	}
	for _, h := range got.Hosts {
		if h.LeaseUntil != 0 || h.LeaseOwner != "" {
			t.Fatalf("host %s is leased after a restore", h.Name)
		}
	}
	clock, err := target.Meta(ctx, "clock")
	if err != nil || clock != "x" {
		t.Errorf("meta clock = %q, %v, want x", clock, err)
	}
	if lease, err := target.Meta(ctx, "sink-lease:mirror"); err != nil || lease != "" {
		t.Errorf("sink lease = %q, %v, want none", lease, err)
	}
	if seq, err := target.Cursor(ctx, "mirror", 3); err != nil || seq != 4 {
		t.Errorf("cursor = %d, %v, want 4", seq, err)
	}
	if workers, err := target.Workers(ctx); err != nil || len(workers) > 0 {
		t.Errorf("workers = %v, %v, want none", workers, err)
	}
	site, err := target.AddSite(ctx, backupNow, Site{Name: "new", URL: "https://new.example/"})
	if err != nil || site.ID <= 9 { // 9 was a site once: its days are still counted
		t.Errorf("a new site has the number %d (%v), want one of its own", site.ID, err)
	}
}

// TestABackupOfAnEarlierSchemaIsRestored: what it lacks gets the defaults of the columns.
func TestABackupOfAnEarlierSchemaIsRestored(t *testing.T) {
	t.Parallel()
	for from, fromDSN := range engines(t) {
		for to, toDSN := range engines(t) {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				source, target := atFirstStep(t, fromDSN(t)), openBackup(t, toDSN(t))
				raw, taken := takeBackup(t, source)
				if taken.Schema != 1 {
					t.Fatalf("backup of step %d, want 1", taken.Schema)
				}
				if _, err := target.Restore(t.Context(), bytes.NewReader(raw), backupNow); err != nil {
					t.Fatalf("Restore: %v", err)
				}
				if err := source.Migrate(t.Context(), backupNow); err != nil {
					t.Fatal(err)
				}
				want, err := source.Dump(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got, err := target.Dump(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got); d != "" || len(got.Pages) != 1 {
					t.Errorf("restored rows differ from migrated ones (-migrated +restored):\n%s", d)
				}
			})
		}
	}
}

// atFirstStep is a database with a host and a page as the first release left it.
func atFirstStep(t testing.TB, dsn string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	steps, err := s.dialect.steps()
	if err != nil {
		t.Fatal(err)
	}
	err = s.inTx(t.Context(), func(x *tx) error {
		_, err := x.migrateOnce(t.Context(), steps[:1], backupNow)
		return errors.Join(err, x.script(t.Context(), `INSERT INTO hosts VALUES (7, 5, 'h.example', 9, 0, 0, 0, 0, 0, 0, '', 1);
			INSERT INTO pages VALUES (7, 6, 5, 1, 'https://h.example/', 2, 0, '', 9, 4, 2, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0,
			'', '', 1, '', '', NULL, NULL, '', 0, '', false, 0, 0, 0, 0)`))
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRestoreRefusesADatabaseWithRows(t *testing.T) {
	t.Parallel()
	source := openBackup(t, filepath.Join(t.TempDir(), "a.db"))
	fillBackup(t, source, 10)
	raw, _ := takeBackup(t, source)
	before, err := source.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Restore(t.Context(), bytes.NewReader(raw), backupNow); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("Restore over rows: error = %v, want ErrNotEmpty", err)
	}
	after, err := source.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("a refused restore changed the database:\n%s", d)
	}
}

func TestADamagedBackupRestoresNothing(t *testing.T) {
	t.Parallel()
	source := openBackup(t, filepath.Join(t.TempDir(), "a.db"))
	fillBackup(t, source, 300)
	good, _ := takeBackup(t, source)
	plain := unzip(t, good)
	damaged := map[string][]byte{
		"empty": nil, "no gzip": []byte("hello"), "other text": zipped(t, []byte("hello\n")),
		"no trailer": zipped(t, plain[:bytes.LastIndex(plain[:len(plain)-1], []byte("\n"))+1]),
		"more":       zipped(t, append(bytes.Clone(plain), 'x')),
		"other sum":  zipped(t, bytes.Replace(plain, []byte(`"sha256":"`), []byte(`"sha256":"0`), 1)),
		"schema":     zipped(t, bytes.Replace(plain, []byte(`"schema":`), []byte(`"schema":9`), 1)),
		"table":      zipped(t, bytes.Replace(plain, []byte(`"name":"pages"`), []byte(`"name":"pagez"`), 1)),
		"column":     zipped(t, bytes.Replace(plain, []byte(`"fr_max"`), []byte(`"fr_nax"`), 1)),
	}
	for i := range 20 {
		cut := len(good) * i / 20
		damaged[fmt.Sprint("cut at ", cut)] = good[:cut]
		flipped := bytes.Clone(plain)
		at := len(plain)/3 + i*97
		flipped[at] ^= 1 << (i % 8)
		damaged[fmt.Sprint("flipped at ", at)] = zipped(t, flipped)
	}
	target := openBackup(t, filepath.Join(t.TempDir(), "b.db"))
	for name, raw := range damaged {
		if _, err := target.Restore(t.Context(), bytes.NewReader(raw), backupNow); err == nil || errors.Is(err, ErrNotEmpty) {
			t.Fatalf("%s: Restore: error = %v, want it refused and nothing written", name, err)
		}
	}
	if _, err := target.Restore(t.Context(), bytes.NewReader(good), backupNow); err != nil {
		t.Errorf("Restore of the good backup after %d damaged ones: %v", len(damaged), err)
	}
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

// TestABackupIsOfOneMoment takes backups while transactions that each write one page, one visit, one link and one event
// go on: in every backup there are as many of each.
func TestABackupIsOfOneMoment(t *testing.T) {
	t.Parallel()
	for engine, dsn := range engines(t) {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := openBackup(t, dsn(t))
			ctx, stop := context.WithCancel(t.Context())
			var writer sync.WaitGroup
			wrote := make(chan struct{}, 1)
			writer.Go(func() {
				for i := int64(1); ctx.Err() == nil; i++ {
					err := s.inTx(t.Context(), func(tx *tx) error {
						return errors.Join(
							linkTable.insert(t.Context(), tx, []Link{{ParentID: i}}),
							visitTable.insert(t.Context(), tx, []Visit{{PageID: i, Number: 1}}),
							pageTable.insert(t.Context(), tx, []Page{{ID: i, URL: "u", State: StateLive, FRMax: 1}}),
							eventTable.insert(t.Context(), tx, []Event{{Seq: i}}))
					})
					if err != nil {
						t.Errorf("write: %v", err)
						return
					}
					select {
					case wrote <- struct{}{}:
					default:
					}
				}
			})
			for range 10 {
				<-wrote
				<-wrote
				_, sum := takeBackup(t, s)
				if n := sum.Rows["pages"]; n == 0 || sum.Rows["visits"] != n || sum.Rows["links"] != n || sum.Rows["events"] != n {
					t.Errorf("a backup holds %v, want as many pages, visits, links and events", sum.Rows)
				}
			}
			stop()
			writer.Wait()
		})
	}
}

func TestBackupFilesAreWholeAndRotated(t *testing.T) {
	t.Parallel()
	s := openBackup(t, filepath.Join(t.TempDir(), "a.db"))
	fillBackup(t, s, 10)
	dir := filepath.Join(t.TempDir(), "backups")
	if names, err := Backups(dir); err != nil || len(names) > 0 {
		t.Errorf("Backups of no directory = %v, %v", names, err)
	}
	var want []string
	for i := range 5 {
		name, _, err := s.BackupTo(t.Context(), dir, backupNow.Add(time.Duration(i)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		want = append([]string{name}, want...)
	}
	for _, name := range []string{"mine.backup", "recrawld-20200101T000000Z.backup.partial", "recrawld-20260301T115900Z.backup.partial"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := RotateBackups(dir, 3, backupNow)
	if err != nil || !cmp.Equal(removed, append(want[3:5:5], "recrawld-20200101T000000Z.backup.partial")) {
		t.Errorf("RotateBackups removed %v, %v", removed, err)
	}
	names, err := Backups(dir)
	if err != nil || !cmp.Equal(names, want[:3]) || names[0] != "recrawld-20260301T160000Z.backup" {
		t.Errorf("Backups = %v, %v, want %v", names, err, want[:3])
	}
	if _, err := os.Stat(filepath.Join(dir, "mine.backup")); err != nil {
		t.Errorf("a file of another name: %v", err)
	}
	f, err := os.Open(filepath.Join(dir, names[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	target := openBackup(t, filepath.Join(t.TempDir(), "b.db"))
	if _, err := target.Restore(t.Context(), f, backupNow); err != nil {
		t.Errorf("Restore of the newest file: %v", err)
	}
}

func TestBackupToLeavesNothingHalfWritten(t *testing.T) {
	t.Parallel()
	s := openBackup(t, filepath.Join(t.TempDir(), "a.db"))
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if name, _, err := s.BackupTo(ctx, dir, backupNow); err == nil {
		t.Errorf("BackupTo with an ended context = %q", name)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("it left %v, %v", entries, err)
	}
}

func FuzzBackupRead(f *testing.F) {
	var out bytes.Buffer
	w := newBackupWriter(&out)
	w.null()
	w.int(-5)
	w.text("text")
	err := errors.Join(w.begin(BackupHead{Schema: 1, Tables: []BackupTable{{Name: "t", Columns: []string{"a", "b", "c"}}}}), w.endRow())
	if _, err2 := w.endTable(); errors.Join(err, err2, w.end(map[string]int64{"t": 1})) != nil {
		f.Fatal(err, err2)
	}
	zr, err := gzip.NewReader(&out)
	if err != nil {
		f.Fatal(err)
	}
	plain, err := io.ReadAll(zr)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plain)
	f.Add([]byte(backupMagic + "{}\n\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		src, head, err := newBackupReader(bytes.NewReader(zipped(t, raw)))
		if err != nil {
			if !errors.Is(err, ErrBadBackup) {
				t.Errorf("newBackupReader: %v", err)
			}
			return
		}
		rows := map[string]int64{}
		for _, table := range head.Tables {
			n := len(table.Columns)
			if n == 0 || n > 100 {
				return
			}
			r := &backupRows{src: src, kinds: make([]kind, n), values: make([]any, n)}
			for i := range r.kinds {
				r.kinds[i] = kindInt
			}
			for r.Next() {
				rows[table.Name]++
			}
			if r.err != nil {
				return
			}
		}
		if err := src.end(rows); err == nil && !strings.Contains(string(raw), `"sha256"`) {
			t.Error("a backup without a checksum was taken")
		}
	})
}

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
	for engine, dsn := range engines(b) {
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
	for engine, dsn := range engines(b) {
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
