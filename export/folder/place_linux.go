package folder

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// exchange gives two folders each other's name, at once.
func exchange(one, other string) error {
	if err := unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE); err != nil {
		return &os.LinkError{Op: "exchange", Old: one, New: other, Err: err}
	}
	return nil
}

// syncAll makes all that lies in a folder durable: one call for any number of files.
func syncAll(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close() // nothing was written to it
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		return fmt.Errorf("sync file system of %s: %w", path, err)
	}
	return nil
}

// reuse gives a file of a former folder a second name, where it is a file with that text and time. It opens it without following any symbolic
// link, and links what it has opened, so that nothing else can be put in its place meanwhile. false: it could not.
func (f *former) reuse(name, as string, text []byte, at time.Time) bool {
	if f == nil {
		return false
	}
	fd, err := unix.Openat2(int(f.dir.Fd()), name, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return false
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close() // it is only read
	there, err := file.Stat()
	if err != nil || !there.Mode().IsRegular() || there.Size() != int64(len(text)) || !there.ModTime().Equal(at) {
		return false
	}
	f.buffer.Reset()
	if _, err := io.Copy(&f.buffer, file); err != nil || !bytes.Equal(f.buffer.Bytes(), text) {
		return false
	}
	return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, as, unix.AT_SYMLINK_FOLLOW) == nil
}
