package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/internal/pgtest"
)

// TestExitCodesOfFiles: a file that a command line names and that is not there, or must not be there and is, makes the command line wrong,
// whichever command it is.
func TestExitCodesOfFiles(t *testing.T) {
	t.Parallel()
	config, _ := configure(t, "")
	must(t, "run", "-c", config, "--for", "100ms", "http://127.0.0.1:1/")
	dir := t.TempDir()
	none, taken := filepath.Join(dir, "none"), filepath.Join(dir, "taken")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"status -c " + none, "config check " + none, "config diff " + none + " " + config, "import " + none, "restore --yes " + none,
		"simulate --trace " + none, "backup " + taken, "backup " + none + "/deep", "config init " + taken, "export --format warc --output " + taken,
		"export --format warc --output " + none + "/deep",
	} {
		args := strings.Fields(line)
		if args[1] != "-c" {
			args = append(args, "-c", config)
		}
		if code, stdout, stderr := command(t, args...); code != exitUsage || !strings.Contains(stderr, dir) {
			t.Errorf("recrawld %s: exit code %d, want %d and the file's name:\n%s%s", line, code, exitUsage, stdout, stderr)
		}
	}
}

// TestRestoreIntoAFullDatabase is as wrong a command line.
func TestRestoreIntoAFullDatabase(t *testing.T) {
	t.Parallel()
	config, _ := configure(t, "store: "+pgtest.DSN(t)+"\n")
	must(t, "run", "-c", config, "--for", "100ms", "http://127.0.0.1:1/")
	checkpoint := filepath.Join(t.TempDir(), "all.backup")
	must(t, "backup", "-c", config, checkpoint)
	if code, _, stderr := command(t, "restore", "--yes", "-c", config, checkpoint); code != exitUsage || !strings.Contains(stderr, "not empty") {
		t.Errorf("exit code %d, %q; want %d", code, stderr, exitUsage)
	}
}

// Whoever presses Ctrl-C reads no more than that it was heard, whatever the command was doing.
func TestInterruptedInAWord(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filledData(t)
	for _, args := range [][]string{
		{"add", "--yes", "http://127.0.0.1:9/", "--data", t.TempDir()}, {"backup", "-", "--data", dir}, {"plan", "docs", "--budget", "9/day", "--data", dir},
		{"simulate", "--history", "--data", dir},
	} {
		var complaint bytes.Buffer
		code := runContext(ctx, args, strings.NewReader(""), io.Discard, &complaint)
		if want := "recrawld: interrupted\n"; code != exitFailed || complaint.String() != want {
			t.Errorf("%s: exit code %d, %q, want %d and %q", args[0], code, complaint.String(), exitFailed, want)
		}
	}
}
