package models

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"time"
)

// backupName is the name of a backup's file, and of one that is being written.
var backupName = regexp.MustCompile(`^recrawld-(\d{8}T\d{6}Z)\.backup(\.partial)?$`)

// BackupTo takes a backup into a directory, which it makes where there is none, and returns the file's name in it:
// recrawld-<UTC time>.backup. The file has that name only when it is whole and on disk.
func (s *Store) BackupTo(ctx context.Context, dir string, now time.Time) (string, BackupSummary, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", BackupSummary{}, fmt.Errorf("back up database: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", BackupSummary{}, fmt.Errorf("back up database: %w", err)
	}
	defer root.Close()
	name := "recrawld-" + now.UTC().Format("20060102T150405Z") + ".backup"
	partial := name + ".partial"
	f, err := root.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", BackupSummary{}, fmt.Errorf("back up database: %w", err)
	}
	out := bufio.NewWriterSize(f, 1<<20)
	sum, err := s.Backup(ctx, out, now)
	if err == nil {
		err = errors.Join(out.Flush(), f.Sync())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", sum, errors.Join(err, root.Remove(partial))
	}
	if err := errors.Join(root.Rename(partial, name), syncRoot(root)); err != nil {
		return "", sum, fmt.Errorf("back up database: %w", err)
	}
	return name, sum, nil
}

func syncRoot(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Backups lists the names of the backups in a directory, the newest first. No directory holds none.
func Backups(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if m := backupName.FindStringSubmatch(entry.Name()); m != nil && m[2] == "" && entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names, nil
}

// RotateBackups removes all but the newest backups of a directory, and what backups that did not end left there a day
// ago or longer. Backups dated after now count as the oldest. It returns the names it removed. Files of other names are left alone.
func RotateBackups(dir string, keep int, now time.Time) ([]string, error) {
	names, err := Backups(dir)
	if err != nil {
		return nil, err
	}
	ahead := func(name string) int { // of a clock that was set right since: the others are newer
		at, err := time.Parse("20060102T150405Z", backupName.FindStringSubmatch(name)[1])
		if err == nil && at.After(now) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(names, func(a, b string) int { return ahead(a) - ahead(b) })
	old := names[min(max(keep, 1), len(names)):]
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("rotate backups: %w", err)
	}
	for _, entry := range entries {
		m := backupName.FindStringSubmatch(entry.Name())
		if m == nil || m[2] == "" {
			continue
		}
		if at, err := time.Parse("20060102T150405Z", m[1]); err == nil && now.Sub(at) >= 24*time.Hour {
			old = append(old, entry.Name())
		}
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("rotate backups: %w", err)
	}
	defer root.Close()
	for i, name := range old {
		if err := root.Remove(name); err != nil {
			return old[:i], fmt.Errorf("rotate backups: %w", err)
		}
	}
	return old, nil
}
