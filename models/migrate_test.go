package models

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"recrawld/internal/pgtest"
)

func TestMigrateRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change string
		check  func(error) bool
	}{
		"a newer schema": {
			`INSERT INTO schema_migrations VALUES (1000, 'future', 'x', 0)`,
			func(err error) bool { return errors.Is(err, ErrNewerSchema) },
		},
		"a changed step": {
			`UPDATE schema_migrations SET checksum = 'x' WHERE version = 1`,
			func(err error) bool { return err != nil && strings.Contains(err.Error(), "step 1 (first) differs") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEmpties(t, func(t *testing.T, dsn string) {
				s := planStore(t, dsn)
				if err := s.Migrate(t.Context(), planStart); err != nil {
					t.Fatal(err)
				}
				if _, err := s.writer.ExecContext(t.Context(), test.change); err != nil {
					t.Fatal(err)
				}
				if err := s.Migrate(t.Context(), planStart); !test.check(err) {
					t.Errorf("Migrate of %s: %v", name, err)
				}
				if _, err := Open(t.Context(), dsn, Options{ReadOnly: true}); !test.check(err) {
					t.Errorf("Open read-only of %s: %v", name, err)
				}
			})
		})
	}
}

// Who only looks is told that there is nothing yet, and not what the engine says of a table.
func TestOpenForReadingOfAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	onEmpties(t, func(t *testing.T, dsn string) {
		planStore(t, dsn) // which makes the file of SQLite
		if _, err := Open(t.Context(), dsn, Options{ReadOnly: true}); !errors.Is(err, ErrNoSchema) {
			t.Errorf("Open read-only of an empty database: %v, want ErrNoSchema", err)
		}
	})
}

func TestMigrateBySeveralAtOnce(t *testing.T) {
	t.Parallel()
	onEmpties(t, func(t *testing.T, dsn string) {
		var group sync.WaitGroup
		for range 4 {
			s := planStore(t, dsn)
			group.Go(func() {
				if err := s.Migrate(context.WithoutCancel(t.Context()), planStart); err != nil {
					t.Errorf("Migrate beside others: %v", err)
				}
			})
		}
		group.Wait()
	})
}

// Who waits for others to bring tables up to date looks who is at work meanwhile: that a table has further columns stops nobody.
func TestBeatsAreReadWhileTablesAreBroughtUpToDate(t *testing.T) {
	t.Parallel()
	onEmpties(t, func(t *testing.T, dsn string) {
		waiting := atStep(t, dsn, 4)
		if _, err := waiting.writer.ExecContext(t.Context(), `INSERT INTO workers VALUES ('w', 'm', 7, 'old', 1, 2, 3, 0, 0, 0)`); err != nil {
			t.Fatal(err)
		}
		look := func() {
			t.Helper()
			want := Worker{Name: "w", Machine: "m", PID: 7, RealBeatAt: 3}
			if got, err := waiting.Beats(t.Context()); err != nil || len(got) != 1 || got[0] != want {
				t.Errorf("Beats = %+v, %v, want %+v", got, err, want)
			}
		}
		look()
		if err := planStore(t, dsn).Migrate(t.Context(), planStart); err != nil {
			t.Fatal(err)
		}
		look()
	})
}

func TestMigrationIsAllOrNothing(t *testing.T) {
	t.Parallel()
	onEmpties(t, func(t *testing.T, dsn string) {
		s := planStore(t, dsn)
		good, err := s.dialect.steps()
		if err != nil {
			t.Fatal(err)
		}
		broken := append(good, step{version: len(good) + 1, name: "broken", sql: "CREATE TABLE half (n integer); CREATE TABLE half (n integer)"})
		var done bool
		for range broken {
			err = s.inTx(t.Context(), func(x *tx) (err error) {
				done, err = x.migrateOnce(t.Context(), broken, planStart)
				return err
			})
		}
		if err == nil || done {
			t.Fatalf("broken step: done %v, %v, want an error", done, err)
		}
		if _, err := s.writer.ExecContext(t.Context(), "SELECT * FROM half"); err == nil {
			t.Error("half of the broken step was kept")
		}
		if err := s.Migrate(t.Context(), planStart); err != nil {
			t.Errorf("Migrate after the broken step: %v", err)
		}
	})
}

func TestStepsAreTheSameForBothEngines(t *testing.T) {
	t.Parallel()
	lite, err := sqliteDialect.steps()
	if err != nil {
		t.Fatal(err)
	}
	pg, err := postgresDialect.steps()
	if err != nil {
		t.Fatal(err)
	}
	if len(lite) != len(pg) {
		t.Fatalf("%d steps for SQLite, %d for PostgreSQL", len(lite), len(pg))
	}
	for i := range lite {
		if lite[i].name != pg[i].name {
			t.Errorf("step %d is %q for SQLite, %q for PostgreSQL", i+1, lite[i].name, pg[i].name)
		}
	}
}

// Steps 20 and 21 write no large table of PostgreSQL anew, which gives it another file then. SQLite adds such columns in the schema alone.
func TestRequisitesWriteNoTableAnew(t *testing.T) {
	t.Parallel()
	s := atStep(t, pgtest.DSN(t), 19)
	files := func() (names string) {
		t.Helper()
		const query = `SELECT string_agg(pg_relation_filepath(c), ' ') FROM (VALUES ('pages'::regclass), ('events'), ('hosts'), ('page_counts')) v (c)`
		if err := s.writer.QueryRowContext(t.Context(), query).Scan(&names); err != nil {
			t.Fatal(err)
		}
		return names
	}
	before := files()
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	if after := files(); after != before {
		t.Errorf("the tables were in the files %s and are in %s", before, after)
	}
	old, err := s.Events(t.Context(), 7, 0, 10)
	if err != nil || len(old) != 1 || old[0].Requisite {
		t.Errorf("events after the step: %+v, %v, want the one of before, of no requisite", old, err)
	}
}

func TestOpenReadOnly(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing.db")
	if _, err := Open(t.Context(), missing, Options{ReadOnly: true}); err == nil {
		t.Error("Open read-only of a missing file: no error")
	}
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open read-only made a file: %v", err)
	}
	onEmpties(t, func(t *testing.T, dsn string) {
		empty := planStore(t, dsn)
		if _, err := Open(t.Context(), dsn, Options{ReadOnly: true}); err == nil {
			t.Error("Open read-only of an empty database: no error")
		}
		if err := empty.Migrate(t.Context(), planStart); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), dsn, Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if ready, err := s.Ready(t.Context()); len(ready) != 0 || err != nil {
			t.Errorf("Ready = %v, %v, want none", ready, err)
		}
		if err := s.Beat(t.Context(), Worker{Name: "w"}); !errors.Is(err, errReadOnly) {
			t.Errorf("Beat on a read-only store: %v, want %v", err, errReadOnly)
		}
	})
}

func TestSQLiteFileIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "private.db")
	s := planStore(t, path)
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		f, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Mode().Perm(); got != 0o600 {
			t.Errorf("mode of %s%s = %v, want 0600", path, suffix, got)
		}
	}
}

func TestSQLiteSettings(t *testing.T) {
	t.Parallel()
	s := planStore(t, filepath.Join(t.TempDir(), "settings.db"))
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1",
		"busy_timeout": "30000"} {
		var got string
		if err := s.writer.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("PRAGMA %s = %q, %v, want %q", pragma, got, err, want)
		}
	}
	if _, err := s.reader.ExecContext(t.Context(), "CREATE TABLE t (n)"); err == nil {
		t.Error("a reading connection wrote")
	}
}
