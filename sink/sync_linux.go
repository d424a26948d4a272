package sink

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// syncFileSystem makes everything on the file system of an open file durable: one call for a batch of any size, where
// an fsync a file and directory would cost a disk flush each.
func syncFileSystem(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var synced error
	if err := conn.Control(func(fd uintptr) { synced = unix.Syncfs(int(fd)) }); err != nil {
		return err
	}
	if synced != nil {
		return fmt.Errorf("sync file system: %w", synced)
	}
	return nil
}
