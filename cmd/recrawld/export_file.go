package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"recrawld/internal/leftover"
)

// newFile writes a file that has its name only once it is whole and on disk, after it has removed what those left that were killed before.
// One that is there already is replaced by force alone.
func newFile(path string, force bool, write func(io.Writer) error) error {
	if err := vacant(path, force); err != nil {
		return err
	}
	if err := leftover.Sweep(path, leftover.File); err != nil {
		return err // it names the file
	}
	draft, name, err := leftover.Create(path)
	if err != nil {
		return err
	}
	err = buffered(draft, write)
	if err == nil {
		err = errors.Join(draft.Chmod(0o640), draft.Sync())
	}
	if err = errors.Join(err, draft.Close()); err == nil {
		err = vacant(path, force)
	}
	if err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(name)) // half a file is none
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// vacant is an error where there is no folder for a file, and one that ends the program with exitUsage where something is there already
// and must not be replaced: a file without force, and what is no regular file in any case.
func vacant(path string, force bool) error {
	file, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return named(fmt.Errorf("write %s: %w", path, err)) // it names the folder
		}
		return nil
	case err == nil && !file.Mode().IsRegular(): // a folder, a device, a link to one
		return usagef("%s is there already and no regular file; without -o the export goes to standard output", path)
	case err == nil && force:
		return nil
	case err == nil:
		return usagef("%s is there already: --force replaces it", path)
	}
	return fmt.Errorf("look at %s: %w", path, err)
}

// buffered writes through a buffer.
func buffered(to io.Writer, write func(io.Writer) error) error {
	out := bufio.NewWriterSize(to, 1<<20)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}
