package models

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestFault_092_TransactionsThatMetOthersAreRunAgain(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := planStore(t, dsn)
		if err := s.Migrate(t.Context(), planStart); err != nil {
			t.Fatal(err)
		}
		deadlock := &pgconn.PgError{Code: "40P01"}
		runs := 0
		err := s.inTx(t.Context(), func(x *tx) error {
			runs++
			if _, err := x.exec(t.Context(), `INSERT INTO meta (key, value) VALUES ($1, $2)`, "k", "v"); err != nil {
				return err
			}
			if runs < 3 {
				return deadlock
			}
			return nil
		})
		if runs != 3 || err != nil {
			t.Errorf("transaction ended after %d runs with %v, want 3, nil", runs, err)
		}
		runs = 0
		err = s.inTx(t.Context(), func(*tx) error { runs++; return deadlock })
		if runs != attempts || !errors.Is(err, deadlock) {
			t.Errorf("hopeless transaction ended after %d runs with %v, want %d, %v", runs, err, attempts, deadlock)
		}
		runs = 0
		err = s.inTx(t.Context(), func(*tx) error { runs++; return ErrNotFound })
		if runs != 1 || !errors.Is(err, ErrNotFound) {
			t.Errorf("failed transaction ended after %d runs with %v, want 1, %v", runs, err, ErrNotFound)
		}
	})
}

// TestTwoProcessesWriteOneSQLiteFile: the second store stands for another process, which has locks of its own.
func TestTwoProcessesWriteOneSQLiteFile(t *testing.T) {
	t.Parallel()
	path := liteFile(t)
	a, b := planStore(t, path), planStore(t, path)
	if err := a.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	const rounds = 20
	errs := make(chan error, 2)
	for _, s := range []*Store{a, b} {
		go func() {
			for range rounds {
				if _, err := s.AddPages(t.Context(), planStart, []Discovery{{Host: "a.example",
					Page: Page{URL: "https://a.example/"}}}, 0); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestStatementForSQLite(t *testing.T) {
	t.Parallel()
	got := sqliteDialect.statement("SELECT 1 FROM hosts WHERE bucket = $1 AND id = ANY($2) FOR UPDATE SKIP LOCKED")
	want := "SELECT 1 FROM hosts WHERE bucket = $1 AND id IN (SELECT value FROM json_each($2)) "
	if got != want {
		t.Errorf("statement = %q, want %q", got, want)
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "plain ü": "plain ü", "a\x00b": "a\uFFFDb", "\xff\xfe": "\uFFFD"} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDayOf(t *testing.T) {
	t.Parallel()
	for at, want := range map[Instant]int32{0: 0, millisADay - 1: 0, millisADay: 1, -1: -1, -millisADay: -1,
		-millisADay - 1: -2} {
		if got := DayOf(at); got != want {
			t.Errorf("DayOf(%d) = %d, want %d", at, got, want)
		}
	}
}

func TestHostTimes(t *testing.T) {
	t.Parallel()
	h := Host{OpenAt: 100, BackoffUntil: 50, Delay: 1500*1e6 + 1}
	for due, want := range map[Instant]Instant{0: 0, 20: 100, 200: 200} {
		if got := h.ReadyFrom(due); got != want {
			t.Errorf("ReadyFrom(%d) = %d, want %d", due, got, want)
		}
	}
	h.Take(&ClaimRequest{Now: Instant(400).Time(), Lease: 600 * time.Millisecond, Delay: time.Second, Owner: "w"})
	if want := Instant(1000 + 1501); h.ReadyAt != want || h.LeaseToken != 1 {
		t.Errorf("leased host is ready at %d with token %d, want %d, 1", h.ReadyAt, h.LeaseToken, want)
	}
	if h.Hasten(1); h.ReadyAt != 2501 {
		t.Errorf("Hasten made a leased host ready at %d", h.ReadyAt)
	}
	h.Void(600, 10)
	if h.OpenAt != 2101 || h.ReadyAt != 2101 || h.LeaseToken != 2 || h.LeaseUntil != 0 {
		t.Errorf("voided host = %+v, want closed until 600 and the delay, token 2", h)
	}
	if h.Hasten(math.MaxInt32); h.ReadyAt != 2101 {
		t.Errorf("a later page made the host ready at %d, want 2101 as before", h.ReadyAt)
	}
}
