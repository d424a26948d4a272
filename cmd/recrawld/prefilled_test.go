package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/internal/prefilled"
	"recrawld/models"
)

// withTables is a data directory whose database has its tables and no rows: to make them takes most of the time of a short test.
var withTables = prefilled.Folder{Fill: func(t testing.TB, dir string) {
	t.Helper()
	store, err := models.Open(t.Context(), filepath.Join(dir, databaseFile), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Migrate(t.Context(), filledNow.Add(-60*day)); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}}

// liteFile is the path of a database with its tables.
func liteFile(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	withTables.CopyTo(t, dir)
	return filepath.Join(dir, databaseFile)
}

// configure writes a configuration for tests, with further lines, and returns its path and the data directory, whose database, if it
// is to be there, has its tables.
func configure(t *testing.T, lines string) (path, data string) {
	t.Helper()
	path, data = configureAnew(t, lines)
	if strings.Contains(lines, "store:") {
		return path, data
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	withTables.CopyTo(t, data)
	return path, data
}

// configureAnew is configure before there is a data directory.
func configureAnew(t *testing.T, lines string) (path, data string) {
	t.Helper()
	dir := t.TempDir()
	path, data = filepath.Join(dir, "recrawld.yaml"), filepath.Join(dir, "data")
	writeConfig(t, path, data, lines)
	return path, data
}
