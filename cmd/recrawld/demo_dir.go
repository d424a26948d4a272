package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// demoMark is the file that says that a directory belongs to the demo and may be emptied by the next one.
const demoMark = ".recrawld-demo"

// emptyDemoDir makes an empty directory for a demo. It empties one that an earlier demo left and refuses any other that
// is not empty, or that a daemon still works in.
func emptyDemoDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look into the demo's directory: %w", err)
	}
	if len(entries) > 0 {
		if err := forgetDemo(dir, entries); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the demo's directory: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, demoMark), []byte("made by recrawld demo; the next demo empties it\n"), 0o644); err != nil {
		return fmt.Errorf("mark the demo's directory: %w", err)
	}
	return nil
}

// forgetDemo removes what an earlier demo left in a directory, its mark last.
func forgetDemo(dir string, entries []os.DirEntry) error {
	if _, err := os.Lstat(filepath.Join(dir, demoMark)); err != nil {
		return usagef("%s holds something that no demo made: name an empty or a new directory with --data", dir)
	}
	held, err := takeLock(dir, "")
	if err != nil {
		return err
	}
	defer held.release()
	for _, entry := range entries {
		if entry.Name() == demoMark || entry.Name() == "lock" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("empty the demo's directory: %w", err)
		}
	}
	return nil
}
