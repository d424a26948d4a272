package storetest_test

import (
	"flag"
	"path/filepath"
	"testing"
	"time"

	"recrawld/internal/pgtest"
	"recrawld/internal/prefilled"
	"recrawld/models"
	"recrawld/scheduler/storetest"
	"recrawld/simulate"
)

func TestMain(m *testing.M) {
	// Each check has a fresh database, which takes its time; -rapid.checks on the command line wins.
	if err := flag.Set("rapid.checks", "12"); err != nil {
		panic(err)
	}
	pgtest.Main(m)
}

// migrated and migratedLite have the tables and no rows, so that each test does not have to make them anew.
var (
	migrated     = pgtest.Template{Fill: makeTables}
	migratedLite = prefilled.Folder{Fill: func(t testing.TB, dir string) { makeTables(t, filepath.Join(dir, "test.db")) }}
)

func makeTables(t testing.TB, dsn string) {
	t.Helper()
	s := openTables(t, dsn, models.Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// liteFile is the path of a file with the tables.
func liteFile(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	migratedLite.CopyTo(t, dir)
	return filepath.Join(dir, "test.db")
}

func openSQL(t *testing.T, dsn string, o models.Options) storetest.Store {
	t.Helper()
	s := openTables(t, dsn, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// openTables opens a store that has its tables then.
func openTables(t testing.TB, dsn string, o models.Options) *models.Store {
	t.Helper()
	s, err := models.Open(t.Context(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	return s
}

func openSQLite(t *testing.T) storetest.Store {
	t.Helper()
	return openSQL(t, liteFile(t), models.Options{})
}

func openPostgres(t *testing.T) storetest.Store {
	t.Helper()
	return openSQL(t, migrated.DSN(t), models.Options{Conns: 10})
}

// brief is a store whose database is dropped when it is closed: a test that fails tries hundreds of them.
type brief struct {
	*models.Store
	drop func()
}

// Close implements io.Closer.
func (b brief) Close() error {
	defer b.drop()
	return b.Store.Close()
}

// openBriefly opens a store on PostgreSQL that is closed before the test ends.
func openBriefly(t *testing.T, o models.Options) storetest.Store {
	t.Helper()
	dsn, drop := migrated.Database(t)
	return brief{openSQL(t, dsn, o).(*models.Store), drop}
}

func openMemory(*testing.T) storetest.Store { return simulate.NewMemory(simulate.MemoryOptions{}) }

func openModel(_ *testing.T, perHost int) storetest.Store {
	return simulate.NewMemory(simulate.MemoryOptions{PagesPerHost: perHost})
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, openSQLite)
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Run(t, openPostgres)
}

func TestMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, openMemory)
}

func TestSQLiteEqualsMemory(t *testing.T) {
	t.Parallel()
	storetest.Compare(t, func(t *testing.T, perHost int) storetest.Store {
		return openSQL(t, liteFile(t), models.Options{PagesPerHost: perHost})
	}, openModel)
}

func TestPostgresEqualsMemory(t *testing.T) {
	t.Parallel()
	storetest.Compare(t, func(t *testing.T, perHost int) storetest.Store {
		return openBriefly(t, models.Options{Conns: 10, PagesPerHost: perHost})
	}, openModel)
}

// TestCitus holds a store on several servers to the same, where RECRAWLD_TEST_CITUS names a cluster.
func TestCitus(t *testing.T) {
	t.Parallel()
	pgtest.Citus(t) // says why there is none, once
	storetest.Run(t, func(t *testing.T) storetest.Store {
		s := openSQL(t, pgtest.Citus(t), models.Options{Conns: 10})
		if _, err := s.(*models.Store).Distribute(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// One bucket at a time, as several nodes want it.
func TestShardedPostgresEqualsMemory(t *testing.T) {
	t.Parallel()
	storetest.Compare(t, func(t *testing.T, perHost int) storetest.Store {
		return openBriefly(t, models.Options{Conns: 10, Sharded: true, PagesPerHost: perHost})
	}, openModel)
}

func TestRequisitesOfASite(t *testing.T) {
	t.Parallel()
	const limit = 3
	for name, open := range map[string]func(t *testing.T) storetest.Store{
		"sqlite": func(t *testing.T) storetest.Store {
			return openSQL(t, liteFile(t), models.Options{Requisites: limit})
		},
		"postgres": func(t *testing.T) storetest.Store {
			return openSQL(t, migrated.DSN(t), models.Options{Requisites: limit})
		},
		"sharded": func(t *testing.T) storetest.Store {
			return openSQL(t, migrated.DSN(t), models.Options{Requisites: limit, Sharded: true})
		},
		"memory": func(*testing.T) storetest.Store {
			return simulate.NewMemory(simulate.MemoryOptions{Requisites: limit})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Requisites(t, open)
		})
	}
}

func TestPagesPerHostInACommit(t *testing.T) {
	t.Parallel()
	const limit = 3
	for name, open := range map[string]func(t *testing.T) storetest.Store{
		"sqlite": func(t *testing.T) storetest.Store {
			return openSQL(t, liteFile(t), models.Options{PagesPerHost: limit})
		},
		"postgres": func(t *testing.T) storetest.Store {
			return openSQL(t, migrated.DSN(t), models.Options{PagesPerHost: limit})
		},
		"memory": func(*testing.T) storetest.Store {
			return simulate.NewMemory(simulate.MemoryOptions{PagesPerHost: limit})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Limit(t, open)
		})
	}
}
