package models

import (
	"path/filepath"
	"testing"

	"recrawld/internal/pgtest"
)

// migrated has the tables and no rows, so that each test does not have to make them anew.
var migrated = pgtest.Template{Fill: func(t testing.TB, dsn string) {
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
}}

// engines are an address of a fresh database on each engine, which has its tables or gets them when it is migrated.
func engines() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{"sqlite": oddFile, "postgres": migrated.DSN}
}

// empties are engines without tables.
func empties() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{"sqlite": oddFile, "postgres": pgtest.DSN}
}

func oddFile(t testing.TB) string { return filepath.Join(t.TempDir(), "odd name?#%20.db") }

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
