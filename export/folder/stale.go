package folder

import (
	"errors"
	"os"
	"path/filepath"

	"recrawld/internal/leftover"
)

// draftName is in a folder that is not whole, or not wanted any more. Who writes or removes it holds its lock, which ends with the process:
// where nobody does, it was left behind.
const draftName = ours + "/draft"

// claim marks a folder as a draft and holds it until the file is closed.
func claim(path string) (*os.File, error) {
	dir := filepath.Join(path, ours)
	if err := os.Mkdir(dir, 0o750); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(filepath.FromSlash(draftName+".new"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return nil, err
	}
	_ = leftover.Hold(file) // where there are no locks nothing is taken for left behind
	if err := root.Rename(filepath.FromSlash(draftName+".new"), filepath.FromSlash(draftName)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// abandoned tells whether a folder is a draft that nobody holds.
func abandoned(path string) bool {
	root, err := os.OpenRoot(path)
	if err != nil {
		return false
	}
	defer root.Close()
	there, err := root.Lstat(filepath.FromSlash(draftName))
	if err != nil || !there.Mode().IsRegular() {
		return false
	}
	file, err := root.Open(filepath.FromSlash(draftName))
	if err != nil {
		return false
	}
	defer file.Close() // and with it the lock
	return leftover.Hold(file)
}

// sweep removes what exports to a path left beside it when they were killed.
func sweep(path string) error {
	return leftover.Sweep(path, func(entry os.DirEntry, path string) bool { return entry.IsDir() && abandoned(path) })
}

// discard removes a folder that is not wanted any more, what marks it as such last.
func discard(path string) error {
	if held, err := claim(path); err == nil {
		defer held.Close() // nothing was written to it
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == ours {
			continue
		}
		if err := os.RemoveAll(filepath.Join(path, entry.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(path)
}
