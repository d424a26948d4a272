package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
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
