package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBackupThatFailsIsNotTriedAgainAtOnce(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "")
	d := built(t, path)
	dir := filepath.Join(data, "backups")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "recrawld-20200101T000000Z.backup"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	chore, now := d.backupJob(), d.clock.Now()
	if got := chore.Next(now).Sub(now); got != backupPause {
		t.Errorf("with an old checkpoint the next comes in %v, want %v", got, backupPause)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := chore.Run(cancelled, now); err == nil {
		t.Fatal("a backup with a cancelled context succeeded")
	}
	if got := chore.Next(now).Sub(now); got < time.Minute {
		t.Errorf("after a failure the next try comes in %v, want not before a minute has passed", got)
	}
}

// TestRestoreOfADamagedCheckpointSaysSo, in words that say what is wrong and what is not, wherever a byte of it is wrong.
func TestRestoreOfADamagedCheckpointSaysSo(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "")
	must(t, "run", "-c", config, "--for", "100ms", "http://127.0.0.1:1/")
	path := filepath.Join(t.TempDir(), "all.backup")
	must(t, "backup", "-c", config, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before := dumpOf(t, data)
	for _, at := range []int{0, 20, len(whole) / 3, len(whole) / 2, len(whole) - 6} {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 16
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := command(t, "restore", "--yes", "-c", config, path)
		if code != exitFailed || !strings.Contains(stderr, path+" is damaged") || !strings.Contains(stderr, "nothing was restored") {
			t.Errorf("byte %d: exit code %d, %q", at, code, stderr)
		}
	}
	if diff := cmp.Diff(before, dumpOf(t, data)); diff != "" {
		t.Errorf("a refused restore changed the database:\n%s", diff)
	}
}
