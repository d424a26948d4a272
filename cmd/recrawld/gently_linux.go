package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// gently runs f on a thread of its own that reads from disks when nobody else does, and gets a processor after the others. Where the
// machine does not allow that it runs like any other.
func gently(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()           // and never unlocked: the thread ends with us
		const process, idle = 1, 3 << 13 // IOPRIO_WHO_PROCESS and IOPRIO_CLASS_IDLE, for the calling thread
		_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, process, 0, idle)
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 19)
		done <- f()
	}()
	return <-done
}
