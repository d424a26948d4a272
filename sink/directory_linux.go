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
	fd int

	// Held where a file is made: the kernel makes one at a time in a directory, and whoever waits for it there burns his time.
	making sync.Mutex
}

// openDirectory opens a directory of a tree, whose own one is base, by way of real directories alone.
func openDirectory(root *os.Root, base *os.File, name string) (*directory, error) {
	fd := -1
	err := control(base, func(top int) error {
		return retry(func() (err error) {
			fd, err = unix.Openat2(top, name, &unix.OpenHow{Flags: unix.O_DIRECTORY | unix.O_PATH | unix.O_CLOEXEC,
				Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
			return err
		})
	})
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.EAGAIN):
		return openSlowly(root, name)
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &directory{fd: fd}, nil
}

// openSlowly is openDirectory where the kernel, or a filter of system calls, does not let it.
func openSlowly(root *os.Root, name string) (d *directory, err error) {
	f, err := root.OpenFile(name, unix.O_DIRECTORY|unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = control(f, func(fd int) error {
		again, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		d = &directory{fd: again}
		return err
	})
	return d, err
}

// fewFiles is a sixteenth of the files that this process may have open: most of them are to be connections.
func fewFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur/16, 1<<16))
}

// control calls f with the descriptor of an open file.
func control(file *os.File, f func(fd int) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}

func (d *directory) close() error {
	fd := d.fd
	d.fd = -1
	return unix.Close(fd)
}

// mkdir makes a directory in this one.
func (d *directory) mkdir(name string) error {
	if err := unix.Mkdirat(d.fd, name, 0o755); err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return nil
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
