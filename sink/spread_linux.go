package sink

import (
	"os"

	"golang.org/x/sys/unix"
)

// topDirectory is FS_TOPDIR_FL of the kernel (linux/fs.h), which chattr calls T.
const topDirectory = 0x00020000

// spread tells ext4 that what is in the mirror's directory is one site each, unrelated to the others, as it takes it for the
// directories of the root: it looks for room for each in a place of its own, and keeps the files of a site together there.
// Without that all files lie where the first one does. Where there is no journal the kernel also passes by every file that
// was removed in that place in the last minutes, each time it makes one, which took ten times as long as the rest. It is a hint,
// and other file systems have none like it.
func spread(base *os.File) {
	_ = control(base, func(fd int) error { // a mirror works as well without
		var system unix.Statfs_t
		if err := unix.Fstatfs(fd, &system); err != nil || system.Type != unix.EXT4_SUPER_MAGIC {
			return err
		}
		flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
		if err != nil || flags&topDirectory != 0 {
			return err
		}
		return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags|topDirectory))
	})
}
