package models_test

import (
	"testing"
	"time"

	"recrawld/internal/pgtest"
	"recrawld/models"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var start = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// open returns an empty, migrated store.
func open(t *testing.T, dsn string) *models.Store {
	t.Helper()
	s, err := models.Open(t.Context(), dsn, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if err := s.Migrate(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	return s
}

// onBoth runs a test on both engines.
func onBoth(t *testing.T, f func(t *testing.T, dsn string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, "sqlite:"+t.TempDir()+"/a b?#.db")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, pgtest.DSN(t))
	})
}

func TestMigrateTwiceIsHarmless(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dsn string) {
		s := open(t, dsn)
		if err := s.Migrate(t.Context(), start); err != nil {
			t.Errorf("second Migrate: %v", err)
		}
		again, err := models.Open(t.Context(), dsn, models.Options{ReadOnly: true})
		if err != nil {
			t.Fatalf("Open read-only: %v", err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	})
}
