package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"time"
)

const openSuffix = ".open"

// segmentName takes a segment's file name apart: worker, time, serial, suffix.
var segmentName = regexp.MustCompile(`^recrawld-([A-Za-z0-9._-]+)-(\d{14})-(\d{5,})\.warc\.gz(\.open)?$`)

// workerName is what a worker may be called: its name is part of file names.
var workerName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// WorkerOf is the worker that wrote a segment, by its name with or without the suffix of one that grows; "" for what is no segment.
func WorkerOf(name string) string {
	m := segmentName.FindStringSubmatch(name)
	if m == nil {
		return ""
	}
	return m[1]
}

// file is what a segment needs of its file; *os.File is one.
type file interface {
	WriteAt(p []byte, offset int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// segment is the file that grows.
type segment struct {
	name     string // without the suffix
	file     file
	size     int64 // end of the last whole record
	openedAt time.Time
	infoID   string // the warcinfo record's ID
	torn     bool   // bytes of a failed write may lie behind size
	unsynced bool
}

// write appends b whole or not at all: what a failed write left behind is cut off, at the latest before the next one.
func (s *segment) write(b []byte) error {
	if s.torn {
		if err := s.file.Truncate(s.size); err != nil {
			return fmt.Errorf("cut segment %s: %w", s.name, err)
		}
		s.torn = false
	}
	if _, err := s.file.WriteAt(b, s.size); err != nil {
		s.torn = s.file.Truncate(s.size) != nil
		return fmt.Errorf("append to segment %s: %w", s.name, err)
	}
	s.size += int64(len(b))
	s.unsynced = true
	return nil
}

// create opens a new file for a segment, whose name nobody has, and makes its directory entry durable.
func (a *Archive) create(now time.Time) (string, file, error) {
	for {
		a.serial++
		name := fmt.Sprintf("recrawld-%s-%s-%05d.warc.gz", a.opts.Worker, now.UTC().Format("20060102150405"), a.serial)
		if _, err := a.root.Lstat(name); err == nil {
			continue
		}
		f, err := a.openFile(a.root, name+openSuffix)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", nil, fmt.Errorf("create segment: %w", err)
		}
		if err := syncDir(a.root); err != nil {
			return "", nil, errors.Join(err, f.Close(), a.root.Remove(name+openSuffix))
		}
		return name, f, nil
	}
}

func openFile(root *os.Root, name string) (file, error) {
	return root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
}

// settle takes the suffix off a segment that is whole and synced.
func settle(root *os.Root, name string) error {
	if err := root.Rename(name+openSuffix, name); err != nil {
		return fmt.Errorf("close segment: %w", err)
	}
	return syncDir(root)
}

func syncDir(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("sync archive directory: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("sync archive directory: %w", err)
	}
	return nil
}
