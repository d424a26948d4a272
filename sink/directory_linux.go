package sink

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// directory is an open directory of a tree. What is done to the names in it takes one system call each, where a path
// within an os.Root takes three for each of its parts.
type directory struct {
	file *os.File
	fd   int // of file, -1 when it is closed: asking the file for it is a system call

	// Held where a file is made: the kernel makes one at a time in a directory, and whoever waits for it there burns his time.
	making sync.Mutex
}

// openDirectory opens a directory that is known to be one.
func openDirectory(root *os.Root, name string) (*directory, error) {
	f, err := root.OpenFile(name, unix.O_DIRECTORY|unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return &directory{file: f, fd: int(f.Fd())}, nil
}

func (d *directory) close() error {
	d.fd = -1
	return d.file.Close()
}

// create makes a file that is not there yet, with its content and modification time.
func (d *directory) create(name string, content []byte, modified time.Time) error {
	var fd int
	d.making.Lock()
	err := retry(func() (err error) {
		fd, err = unix.Openat(d.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
		return err
	})
	d.making.Unlock()
	if err != nil {
		return &fs.PathError{Op: "create", Path: name, Err: err}
	}
	if err := errors.Join(writeWhole(fd, content), unix.Close(fd)); err != nil {
		return errors.Join(&fs.PathError{Op: "write", Path: name, Err: err}, unix.Unlinkat(d.fd, name, 0))
	}
	if modified.IsZero() {
		return nil
	}
	stamp, err := unix.TimeToTimespec(modified)
	if err == nil {
		err = unix.UtimesNanoAt(d.fd, name, []unix.Timespec{stamp, stamp}, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return &fs.PathError{Op: "set time of", Path: name, Err: err}
	}
	return nil
}

func writeWhole(fd int, content []byte) error {
	for len(content) > 0 {
		var n int
		err := retry(func() (err error) {
			n, err = unix.Write(fd, content)
			return err
		})
		if err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}

// receive moves a file of another directory here, over the one that has its new name.
func (d *directory) receive(from *directory, old, name string) error {
	if err := unix.Renameat(from.fd, old, d.fd, name); err != nil {
		return &fs.PathError{Op: "rename to", Path: name, Err: err}
	}
	return nil
}

// retry calls f again as long as a signal cuts it short.
func retry(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
