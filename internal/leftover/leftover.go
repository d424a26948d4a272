// Package leftover finds what a process that was killed has left of a file or folder that it was writing beside the place that it was for. Who
// writes one holds a lock, which ends with the process: what nobody holds was left behind.
package leftover

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Create makes a file that is a draft of a path, and holds it until it is closed. It has its name, which is not that of file.Name, only once
// it is held: before, somebody else would take it for left behind.
func Create(path string) (file *os.File, name string, err error) {
	const begun = ".new"
	if file, err = os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+begun); err != nil {
		return nil, "", err
	}
	_ = Hold(file) // where there are no locks nothing is taken for left behind
	name = strings.TrimSuffix(file.Name(), begun) + ".tmp"
	if err := os.Rename(file.Name(), name); err != nil {
		return nil, "", errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return file, name, nil
}

// Pattern is what os.MkdirTemp is given for a draft of a path, in its directory.
func Pattern(path string) string { return filepath.Base(path) + ".*.tmp" }

// Hold takes the lock of a file until it is closed. false: another process has it, or there are no locks here.
func Hold(file *os.File) bool {
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// Sweep removes the drafts of a path that abandoned says nobody writes any more, by their entries and paths. Where the directory cannot be
// listed there is nothing that it could do.
func Sweep(path string, abandoned func(entry os.DirEntry, path string) bool) error {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if errors.Is(err, os.ErrPermission) {
		return nil // a file can be made where nothing can be listed
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		number, is := strings.CutPrefix(entry.Name(), base+".")
		number, ends := strings.CutSuffix(number, ".tmp")
		if !is || !ends || strings.Trim(number, "0123456789") != "" {
			continue
		}
		if left := filepath.Join(dir, entry.Name()); abandoned(entry, left) {
			if err := os.RemoveAll(left); err != nil {
				return err
			}
		}
	}
	return nil
}

// File tells whether a draft is a file that nobody holds.
func File(entry os.DirEntry, path string) bool {
	if !entry.Type().IsRegular() {
		return false
	}
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer file.Close() // and with it the lock
	return Hold(file)
}
