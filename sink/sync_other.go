//go:build !linux

package sink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// syncFileSystem syncs every file and directory below an open one: slow, but there is no single call for it here.
func syncFileSystem(f *os.File) error {
	return filepath.WalkDir(f.Name(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !(entry.IsDir() || entry.Type().IsRegular()) {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}
