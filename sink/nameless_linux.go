package sink

import (
	"errors"
	"io/fs"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// nameless is an open file without a name.
type nameless struct{ fd int }

// nameless makes a file that belongs into the directory and has no name there yet.
func (d *directory) nameless() (*nameless, error) {
	fd := -1
	err := retry(func() (err error) {
		fd, err = unix.Openat(d.fd, ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "create in", Path: ".", Err: err}
	}
	return &nameless{fd}, nil
}

// fill writes the file's content and sets its modification time.
func (n *nameless) fill(content []byte, modified time.Time) error {
	if err := writeWhole(n.fd, content); err != nil || modified.IsZero() {
		return err
	}
	stamp, err := unix.TimeToTimespec(modified)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(n.fd, "", []unix.Timespec{stamp, stamp}, unix.AT_EMPTY_PATH)
}

// adopt gives a file a name in the directory; fs.ErrExist where something has it.
func (d *directory) adopt(n *nameless, name string) error {
	err := unix.Linkat(n.fd, "", d.fd, name, unix.AT_EMPTY_PATH)
	if errors.Is(err, unix.ENOENT) { // a kernel before 6.10 grants that to the superuser alone
		err = unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(n.fd), d.fd, name, unix.AT_SYMLINK_FOLLOW)
	}
	if err != nil {
		return &fs.PathError{Op: "name", Path: name, Err: err}
	}
	return nil
}

// close closes the file, once; it tells whether it was open.
func (n *nameless) close() bool {
	if n.fd < 0 {
		return false
	}
	unix.Close(n.fd) // it was synced, or is not wanted
	n.fd = -1
	return true
}
