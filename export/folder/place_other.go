//go:build !linux

package folder

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// exchange is not possible here.
func exchange(_, _ string) error { return errors.ErrUnsupported }

// syncAll syncs each file and directory of a folder.
func syncAll(path string) error {
	return filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !(entry.IsDir() || entry.Type().IsRegular()) {
			return err
		}
		return syncDirectory(path)
	})
}

// reuse is not possible here without a chance to be led elsewhere.
func (f *former) reuse(_, _ string, _ []byte, _ time.Time) bool { return false }
