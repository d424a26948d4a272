package main

import (
	"bytes"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/config"
)

// A reload that does not find the file that was found at the start must not put the defaults in force: an editor may just be
// about to write it.
func TestAFileThatIsGoneIsNotReplacedByTheDefaults(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	path := filepath.Join(data, "recrawld.yaml")
	writeConfig(t, path, data, "cycle: 3h\n")
	var g globals
	g.connect(strings.NewReader(""), io.Discard, &bytes.Buffer{})
	g.Data = data
	d, err := newDaemon(t.Context(), &g, &runCmd{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := d.reload(t.Context()); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("reload without the file = %v, want an error that names it", err)
	}
	if got := d.force.Load().config.Cycle; got != "3h" {
		t.Errorf("the cycle in force is %s after the file is gone, want 3h as before", got)
	}
}

// What is wrong with a database is said with its name, and what to do with one of a later release.
func TestADatabaseThatCannotBeUsedIsNamed(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "")
	must(t, "run", "-c", path, "--for", "100ms")
	file := filepath.Join(data, databaseFile)
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (9999, 'later', '', 1)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"status"}, {"run"}, {"backup"}} {
		code, _, stderr := command(t, append(args, "-c", path)...)
		if code != exitFailed || !strings.Contains(stderr, file) || !strings.Contains(stderr, "later release") {
			t.Errorf("%s: exit code %d, said %q; want %d, the file and the way out", args[0], code, stderr, exitFailed)
		}
	}
	if err := os.WriteFile(file, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, "status", "-c", path); code != exitFailed || !strings.Contains(stderr, file) {
		t.Errorf("status of another file: exit code %d, said %q; want %d and the file", code, stderr, exitFailed)
	}
}

// The name of a directory is no pattern.
func TestSizeOfADirectoryWithBracketsInItsName(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data[1]")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{databaseFile: "12345", databaseFile + "-wal": "67", "lock": "890"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := sizeOf(dir, databaseFile); got != 7 {
		t.Errorf("sizeOf the database = %d, want 7", got)
	}
}

// The file that commands read without --config is the one that is checked without one.
func TestConfigCheckFindsTheFileBesideTheData(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	path := filepath.Join(data, "recrawld.yaml")
	writeConfig(t, path, data, "cycle: 3\n")
	code, stdout, stderr := command(t, "config", "check", "--data", data)
	if code != exitUsage || !strings.Contains(stdout, path) {
		t.Errorf("config check: exit code %d, said %q and %q; want %d and what is wrong with %s", code, stdout, stderr, exitUsage, path)
	}
}

// A second site at the start URL of another would have none of its pages, and its settings would hold for none.
func TestAddRefusesAnotherNameForAStartURL(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	must(t, "run", "-c", path, "--for", "100ms", "http://127.0.0.1:1/")
	d := built(t, path)
	site, err := config.NewSite("", "http://127.0.0.1:1/", d.base.Defaults)
	if err != nil {
		t.Fatal(err)
	}
	_, err = addCmd{Name: "other"}.row(t.Context(), d.store, site, d.clock.Now())
	if exitCode(err) != exitUsage || err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("a second site at the start URL of 127.0.0.1:1: %v, want to be told of the first", err)
	}
	for _, name := range []string{"", "127.0.0.1:1"} {
		if row, err := (addCmd{Name: name}).row(t.Context(), d.store, site, d.clock.Now()); err != nil || row.Name != "127.0.0.1:1" {
			t.Errorf("the same site again under the name %q = %q, %v, want 127.0.0.1:1", name, row.Name, err)
		}
	}
}
