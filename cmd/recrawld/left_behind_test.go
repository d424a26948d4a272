package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/internal/pgtest"
)

// A daemon that was moved to PostgreSQL without what it had learned says so before it crawls anew, and no more once that was brought over.
func TestADaemonSaysWhichPagesItLeavesBehind(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "sites: [{url: \"http://127.0.0.1:9/\"}]\n")
	list := strings.Repeat("http://127.0.0.1:9/a%d\n", 3)
	if code, _, stderr := commandWith(t, fmt.Sprintf(list, 1, 2, 3), "import", "-c", path); code != exitDone {
		t.Fatal(stderr)
	}
	file := filepath.Join(t.TempDir(), "all.backup")
	must(t, "backup", file, "-c", path)
	begin := func(dsn string) string {
		t.Helper()
		code, _, stderr := command(t, "run", "-c", path, "--store", dsn, "--for", "100ms")
		if code != exitDone {
			t.Fatalf("run: exit code %d: %s", code, stderr)
		}
		return stderr
	}
	said := begin(pgtest.DSN(t))
	for _, want := range []string{"WARN", filepath.Join(data, databaseFile), "3 pages", "recrawld restore", "move the file away"} {
		if !strings.Contains(said, want) {
			t.Errorf("on an empty PostgreSQL database the daemon says\n%s\nwant %q", said, want)
		}
	}
	restored := pgtest.DSN(t)
	must(t, "restore", "--yes", file, "-c", path, "--store", restored)
	if said := begin(restored); strings.Contains(said, databaseFile) {
		t.Errorf("after the restore the daemon says\n%s\nwant nothing of the SQLite database", said)
	}
	_, empty := configure(t, "")
	if code, _, said := command(t, "run", "--data", empty, "--listen", "off", "--store", pgtest.DSN(t), "--for", "100ms"); code != exitDone || strings.Contains(said, databaseFile) {
		t.Errorf("beside a SQLite database without pages: exit code %d, said\n%s\nwant nothing of it", code, said)
	}
}
