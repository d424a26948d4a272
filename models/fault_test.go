package models

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"recrawld/clock"
)

// TestFault_085_OthersHoldTheFile: another process reads for long, and another one writes for a while. Who writes here does not see
// the one and waits for the other.
func TestFault_085_OthersHoldTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shared.db")
	s := planStore(t, path)
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	others, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer others.Close()
	begin := func(statement string) *sql.Conn {
		t.Helper()
		conn, err := others.Conn(t.Context())
		if err == nil {
			_, err = conn.ExecContext(t.Context(), statement)
		}
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	count := func(conn *sql.Conn) (n int) {
		t.Helper()
		if err := conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pages").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	add := func(n int) error {
		_, err := s.AddPages(t.Context(), planStart, []Discovery{{Host: "a.example", Page: Page{URL: fmt.Sprint("https://a.example/", n)}}}, 0)
		return err
	}
	reader := begin("BEGIN")
	defer reader.Close()
	was := count(reader)
	for n := range 50 {
		if err := add(n); err != nil {
			t.Fatalf("page %d beside a reader: %v", n, err)
		}
	}
	if now := count(reader); now != was {
		t.Errorf("the reader sees %d pages and saw %d", now, was)
	}

	writer := begin("BEGIN IMMEDIATE")
	defer writer.Close()
	added := make(chan error, 1)
	go func() { added <- add(50) }()
	var machine clock.System
	if err := machine.SleepUntil(t.Context(), machine.Now().Add(100*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-added:
		t.Fatalf("a page was added beside another writer: %v", err)
	default:
	}
	if _, err := writer.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-added; err != nil {
		t.Errorf("a page behind another writer: %v", err)
	}
	if now := count(writer); now != was+51 {
		t.Errorf("%d pages, want %d", now, was+51)
	}
}

// TestFault_063_TimesAfter2038: a page is due on the leap day of 2040, and no millisecond sooner.
func TestFault_063_TimesAfter2038(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := planStore(t, dsn)
		if err := s.Migrate(t.Context(), planStart); err != nil {
			t.Fatal(err)
		}
		due := time.Date(2040, 2, 29, 12, 0, 0, int(time.Millisecond), time.UTC)
		found := Discovery{Host: "a.example", Page: Page{URL: "https://a.example/", DueAt: At(due)}}
		if _, err := s.AddPages(t.Context(), due.AddDate(-1, 0, 0), []Discovery{found}, 0); err != nil {
			t.Fatal(err)
		}
		c := ClaimRequest{Buckets: []int16{BucketOf("a.example")}, Now: due.Add(-time.Millisecond), Lease: time.Minute, Owner: "w", Hosts: 1, Pages: 1}
		if leases, err := s.Claim(t.Context(), c); err != nil || len(leases) != 0 {
			t.Errorf("Claim a millisecond before = %+v, %v, want none", leases, err)
		}
		c.Now = due
		if leases, err := s.Claim(t.Context(), c); err != nil || len(leases) != 1 || !leases[0].Pages[0].Page.DueAt.Time().Equal(due) {
			t.Errorf("Claim = %+v, %v, want the page that is due %v", leases, err, due)
		}
	})
}

// TestFault_120_WhatAnEarlierReleaseLeft: what its sinks had still to deliver is delivered by the next one, and what it was to
// visit is visited.
func TestFault_120_WhatAnEarlierReleaseLeft(t *testing.T) {
	t.Parallel()
	onEmpties(t, func(t *testing.T, dsn string) {
		s := atStep(t, dsn, lastStep(t)-1)
		if step, err := s.Behind(t.Context()); err != nil || step != lastStep(t)-1 {
			t.Fatalf("Behind = %d, %v, want the last step but one", step, err)
		}
		if err := s.Migrate(t.Context(), backupNow); err != nil {
			t.Fatal(err)
		}
		events, err := s.Events(t.Context(), 7, 0, 10)
		if err != nil || len(events) != 1 || events[0].URL != "https://h.example/" {
			t.Errorf("events to deliver = %+v, %v, want the one that was there", events, err)
		}
		leases, err := s.Claim(t.Context(), ClaimRequest{Buckets: []int16{7}, Now: backupNow, Lease: time.Minute, Owner: "next", Hosts: 10, Pages: 10})
		if err != nil || len(leases) != 1 || leases[0].Pages[0].Page.URL != "https://h.example/" {
			t.Errorf("Claim = %+v, %v, want the page that was due", leases, err)
		}
	})
}

// lastStep is the newest step of the migrations.
func lastStep(t *testing.T) int {
	t.Helper()
	steps, err := sqliteDialect.steps()
	if err != nil {
		t.Fatal(err)
	}
	return len(steps)
}
