package models

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBackupFilesAreWholeAndRotated(t *testing.T) {
	t.Parallel()
	s := openBackup(t, liteFile(t))
	fillBackup(t, s, 10)
	dir := filepath.Join(t.TempDir(), "backups")
	if names, err := Backups(dir); err != nil || len(names) > 0 {
		t.Errorf("Backups of no directory = %v, %v", names, err)
	}
	var want []string
	for i := range 5 {
		name, _, err := s.BackupTo(t.Context(), dir, backupNow.Add(time.Duration(i)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		want = append([]string{name}, want...)
	}
	for _, name := range []string{"mine.backup", "recrawld-20200101T000000Z.backup.partial", "recrawld-20260301T115900Z.backup.partial"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := RotateBackups(dir, 3, backupNow.Add(5*time.Hour))
	if err != nil || !cmp.Equal(removed, append(want[3:5:5], "recrawld-20200101T000000Z.backup.partial")) {
		t.Errorf("RotateBackups removed %v, %v", removed, err)
	}
	names, err := Backups(dir)
	if err != nil || !cmp.Equal(names, want[:3]) || names[0] != "recrawld-20260301T160000Z.backup" {
		t.Errorf("Backups = %v, %v, want %v", names, err, want[:3])
	}
	if _, err := os.Stat(filepath.Join(dir, "mine.backup")); err != nil {
		t.Errorf("a file of another name: %v", err)
	}
	f, err := os.Open(filepath.Join(dir, names[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	target := openBackup(t, liteFile(t))
	if _, err := target.Restore(t.Context(), f, backupNow); err != nil {
		t.Errorf("Restore of the newest file: %v", err)
	}
}

func TestBackupToLeavesNothingHalfWritten(t *testing.T) {
	t.Parallel()
	s := openBackup(t, liteFile(t))
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if name, _, err := s.BackupTo(ctx, dir, backupNow); err == nil {
		t.Errorf("BackupTo with an ended context = %q", name)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("it left %v, %v", entries, err)
	}
}

// Checkpoints that were taken while the clock was ahead must not be the newest for good: each that is taken after the clock
// was set right would be removed at once.
func TestRotateBackupsKeepsTheNewestBesideThoseOfAClockAhead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"recrawld-20360301T120000Z.backup", "recrawld-20360301T130000Z.backup",
		"recrawld-20260301T110000Z.backup", "recrawld-20260301T120000Z.backup"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := RotateBackups(dir, 2, backupNow)
	slices.Sort(removed)
	if want := []string{"recrawld-20360301T120000Z.backup", "recrawld-20360301T130000Z.backup"}; err != nil || !cmp.Equal(removed, want) {
		t.Errorf("RotateBackups at %s removed %v, %v, want %v", backupNow, removed, err, want)
	}
}
