package main

import (
	"fmt"
	"log/slog"
	"sync"

	"golang.org/x/sys/unix"

	"recrawld/config"
)

// disk pauses claiming while the disk of the data directory is nearly full: before a write fails, not after.
type disk struct {
	dir string
	log *slog.Logger

	mu   sync.Mutex
	min  int64 // guarded by mu; bytes free below which claiming pauses
	full bool  // guarded by mu
	lost bool  // guarded by mu; the disk could not be looked at
}

// setMin changes the low-water mark.
func (d *disk) setMin(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.min = bytes
}

// hold tells why nothing may be claimed, "" where there is room. It says once in the log when the answer changes.
func (d *disk) hold() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	free, err := freeBytes(d.dir)
	if err != nil {
		if !d.lost {
			d.log.Error("crawling pauses: the disk cannot be looked at", "err", err)
		}
		d.lost = true
		return err.Error()
	}
	if d.lost {
		d.lost = false
		d.log.Info("crawling resumes: the disk can be looked at again", "dir", d.dir)
	}
	full := free < d.min
	if full != d.full {
		d.full = full
		if full {
			d.log.Warn("crawling pauses: the disk is nearly full", "dir", d.dir, "free", config.FormatSize(free),
				"wanted", config.FormatSize(d.min))
		} else {
			d.log.Info("crawling resumes: the disk has room again", "dir", d.dir, "free", config.FormatSize(free))
		}
	}
	return fullWords(d.dir, free, d.min)
}

// fullWords say that the disk of a directory has less room than is wanted; "": it has enough.
func fullWords(dir string, free, wanted int64) string {
	if free >= wanted {
		return ""
	}
	return fmt.Sprintf("the disk of %s is nearly full: %s free, %s wanted", dir, config.FormatSize(free), config.FormatSize(wanted))
}

// freeBytes is what an unprivileged process may still write to the disk of a directory.
func freeBytes(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	return int64(stat.Bavail) * int64(stat.Bsize), nil // their types differ from system to system
}
