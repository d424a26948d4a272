package sink

import (
	"os"

	"golang.org/x/sys/unix"
)

// enoughRoom is how many bytes must be free for what could not be written not to have failed for want of them.
const enoughRoom = 64 << 20

// hasRoom tells whether the file system of a directory certainly has room for a further name: bytes, and files where it counts them.
func hasRoom(base *os.File) bool {
	var system unix.Statfs_t
	if err := control(base, func(fd int) error { return unix.Fstatfs(fd, &system) }); err != nil {
		return false
	}
	return int64(system.Bavail)*int64(system.Bsize) >= enoughRoom && (system.Files == 0 || system.Ffree > 0)
}
