package models

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"recrawld/internal/pgtest"
	"recrawld/internal/prefilled"
)

// migrated and migratedLite have the tables and no rows, so that each test does not have to make them anew.
var (
	migrated     = pgtest.Template{Fill: makeTables}
	migratedLite = prefilled.Folder{Fill: func(t testing.TB, dir string) { makeTables(t, filepath.Join(dir, oddName)) }}
)

func makeTables(t testing.TB, dsn string) {
	t.Helper()
	s, err := Open(t.Context(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// sized is how many rows a benchmark has: those that a variable of the environment says, or else so many.
func sized(b *testing.B, variable string, rows int) int {
	b.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return rows
	}
	rows, err := strconv.Atoi(text)
	if err != nil {
		b.Fatal(err)
	}
	return rows
}

// engines are an address of a fresh database on each engine, which has its tables.
func engines() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{"sqlite": liteFile, "postgres": migrated.DSN}
}

// empties are engines without tables.
func empties() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{"sqlite": oddFile, "postgres": pgtest.DSN}
}

// oddName is a file's name that has to be quoted in an address.
const oddName = "odd name?#%20.db"

func oddFile(t testing.TB) string { return filepath.Join(t.TempDir(), oddName) }

// liteFile is oddFile with the tables.
func liteFile(t testing.TB) string {
	t.Helper()
	path := oddFile(t)
	migratedLite.CopyTo(t, filepath.Dir(path))
	return path
}

// onEngines runs a test on each of engines, onEmpties on each of empties.
func onEngines(t *testing.T, f func(t *testing.T, dsn string)) { onEach(t, engines(), f) }

func onEmpties(t *testing.T, f func(t *testing.T, dsn string)) { onEach(t, empties(), f) }

func onEach(t *testing.T, engines map[string]func(testing.TB) string, f func(t *testing.T, dsn string)) {
	for engine, dsn := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			f(t, dsn(t))
		})
	}
}
