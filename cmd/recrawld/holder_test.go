package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/internal/pgtest"
)

// A command without -c is given to the daemon that runs on the data directory, and not to the database that it was moved away from.
func TestCommandsFollowADaemonThatWasMovedToPostgreSQL(t *testing.T) {
	t.Parallel()
	const site = "sites: [{url: \"http://127.0.0.1:9/\", name: docs}]\n"
	path, data := configure(t, site)
	must(t, "run", "-c", path, "--for", "100ms")
	dsn := pgtest.DSN(t)
	writeConfig(t, path, data, "store: \""+dsn+"\"\n"+site)
	d := built(t, path)
	code, stdout, stderr := command(t, "pause", "docs", "--data", data)
	rows, err := d.store.Sites(t.Context())
	if code != exitDone || err != nil || len(rows) != 1 || !rows[0].Paused || !strings.Contains(stderr, "by "+path) {
		t.Errorf("pause: exit code %d, said %q and %q, of the daemon's sites %+v, %v; want docs paused and the name of the file", code, stdout, stderr, rows, err)
	}
	if code, stdout, _ := command(t, "status", "--data", data); code != exitDone || strings.Contains(stdout, "none is running") {
		t.Errorf("status: exit code %d, it shows\n%s\nwant the daemon that runs", code, stdout)
	}
	must(t, "resume", "docs", "--data", data, "--store", "sqlite") // says itself which one it means
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = command(t, "pause", "docs", "--data", data)
	if code != exitUsage || strings.Contains(stdout, "paused") || !strings.Contains(stderr, path) || !strings.Contains(stderr, "--store") {
		t.Errorf("pause without the daemon's file: exit code %d, said %q and %q; want a refusal that names it and the way out", code, stdout, stderr)
	}
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	must(t, "pause", "docs", "--data", data) // nobody has the directory: what lies in it is meant
}

// The other way round: the file beside the data still names PostgreSQL, and the daemon was moved back by another file.
func TestCommandsFollowADaemonThatWasMovedToSQLite(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "sites: [{url: \"http://127.0.0.1:9/\", name: docs}]\n")
	writeConfig(t, filepath.Join(data, "recrawld.yaml"), data, "store: \""+pgtest.DSN(t)+"\"\n")
	d := built(t, path)
	must(t, "pause", "docs", "--data", data)
	if rows, err := d.store.Sites(t.Context()); err != nil || len(rows) != 1 || !rows[0].Paused {
		t.Errorf("the daemon's sites after pause: %+v, %v, want docs paused", rows, err)
	}
}
