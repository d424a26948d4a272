package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestABackupIsRestoredOnAnyEngine(t *testing.T) {
	t.Parallel()
	for from, fromDSN := range engines() {
		for to, toDSN := range engines() {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				source, target := openBackup(t, fromDSN(t)), openBackup(t, toDSN(t))
				fillBackup(t, source, 2500)
				raw, taken := takeBackup(t, source)
				kept := bytes.Clone(raw)
				restored, err := target.Restore(t.Context(), bytes.NewReader(raw), backupNow.Add(-300*time.Microsecond))
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
	if letWait(want.Hosts) == 0 {
		t.Error("no host has to wait, so that nothing is tried")
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

// letWait changes hosts as a restore does: each may have been asked after the backup, the last time a moment ago. It tells how many
// would have been ready sooner.
func letWait(hosts []Host) (waiting int) {
	for i := range hosts {
		h := &hosts[i]
		h.OpenAt = max(h.OpenAt, At(backupNow)+delayOf(h))
		if h.ReadyAt > 0 && h.ReadyAt < h.OpenAt {
			h.ReadyAt = h.OpenAt
			waiting++
		}
	}
	return waiting
}

// TestABackupOfAnEarlierSchemaIsRestored: what it lacks gets the defaults of the columns.
func TestABackupOfAnEarlierSchemaIsRestored(t *testing.T) {
	t.Parallel()
	steps, err := sqliteDialect.steps()
	if err != nil {
		t.Fatal(err)
	}
	for from, dsn := range empties() {
		for step := 1; step < len(steps); step++ {
			t.Run(fmt.Sprintf("%s from step %d", from, step), func(t *testing.T) {
				t.Parallel()
				restoresEarlier(t, atStep(t, dsn(t), step), step)
			})
		}
	}
}

// restoresEarlier restores a backup of a source at an earlier step on both engines.
func restoresEarlier(t *testing.T, source *Store, step int) {
	t.Helper()
	raw, taken := takeBackup(t, source)
	if taken.Schema != step {
		t.Fatalf("backup of step %d, want %d", taken.Schema, step)
	}
	if err := source.Migrate(t.Context(), backupNow); err != nil {
		t.Fatal(err)
	}
	want, err := source.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	letWait(want.Hosts)
	for to, dsn := range engines() {
		target := openBackup(t, dsn(t))
		if _, err := target.Restore(t.Context(), bytes.NewReader(raw), backupNow); err != nil {
			t.Fatalf("Restore to %s: %v", to, err)
		}
		got, err := target.Dump(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" || len(got.Pages)+len(got.Versions)+len(got.Events) != 3 {
			t.Errorf("rows restored to %s differ from migrated ones (-migrated +restored):\n%s", to, d)
		}
		if d := cmp.Diff(fixtureLinks(), got.Links); d != "" {
			t.Errorf("links restored to %s (-want +got):\n%s", to, d)
		}
		if !got.Hosts[0].Trials.IsZero() || len(got.Memories) > 0 {
			t.Errorf("on %s trials %+v and %d memories come from nowhere", to, got.Hosts[0].Trials, len(got.Memories))
		}
	}
}

// atStep is a database with a row of each noun that later steps added to, as the first release left them, brought up to a
// step of the migrations.
func atStep(t testing.TB, dsn string, n int) *Store {
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
	migrate := func(x *tx, n int) error {
		_, err := x.migrateOnce(t.Context(), steps[:n], backupNow)
		return err
	}
	err = s.inTx(t.Context(), func(x *tx) error {
		return errors.Join(migrate(x, 1), x.script(t.Context(), `INSERT INTO hosts VALUES (7, 5, 'h.example', 9, 0, 0, 0, 0, 0, 0, '', 1);
			INSERT INTO pages VALUES (7, 6, 5, 1, 'https://h.example/', 2, 0, '', 9, 4, 2, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0,
			'', '', 1, '', '', NULL, NULL, '', 0, '', false, 0, 0, 0, 0);
			`+linksFixture+`;
			INSERT INTO versions VALUES (7, 6, 1, 9, 200, NULL, NULL, 3, 'text/html', '', '', true, 'f', 0, 9);
			INSERT INTO events VALUES (7, 1, 9, 1, 1, 6, 'https://h.example/', 1, 0, 0, 9, 200, 'text/html', '', NULL, 3, '', 'f', 0, 9)`))
	})
	for step := 2; step <= n && err == nil; step++ {
		err = s.inTx(t.Context(), func(x *tx) error { return migrate(x, step) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestABackupIsOfOneMoment takes backups while transactions that each write one page, one visit, one link and one event
// go on: in every backup there are as many of each.
func TestABackupIsOfOneMoment(t *testing.T) {
	t.Parallel()
	for engine, dsn := range engines() {
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
							linksTable.insert(t.Context(), tx, []linksRow{{0, i, packChildren([]rowKey{{}})}}),
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

// Of the pages that a backup of before migration 19 counts as found or lost it is not known how long before they were looked at: what the
// migration makes of them, so does a restore.
func TestRestoreKnowsHowLongLooksStandFor(t *testing.T) {
	t.Parallel()
	for engine, dsn := range engines() {
		source, target := openBackup(t, dsn(t)), openBackup(t, dsn(t))
		if err := source.inTx(t.Context(), func(x *tx) error {
			for _, d := range []Daily{{SiteID: 1, Day: 20_000, Found: 30, Lost: 2}, {SiteID: 1, Day: 20_001, Found: 3, FoundDays: 5}, {SiteID: 1, Day: 20_002, Asked: 1}} {
				if err := dailyTable.upsert(t.Context(), x, []Daily{d}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		raw, _ := takeBackup(t, source)
		if _, err := target.Restore(t.Context(), bytes.NewReader(raw), backupNow); err != nil {
			t.Fatal(err)
		}
		days, err := target.DailySums(t.Context(), 1, 0, 30_000)
		if err != nil || len(days) != 3 {
			t.Fatalf("%v, %v", days, err)
		}
		var got [][2]int64
		for _, d := range days {
			got = append(got, [2]int64{d.FoundDays, d.LostDays})
		}
		if d := cmp.Diff([][2]int64{{0, 0}, {5, 0}, {420, 28}}, got); d != "" {
			t.Errorf("%s: days found and lost (-want +got):\n%s", engine, d)
		}
	}
}
